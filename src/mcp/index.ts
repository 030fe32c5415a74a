/**
 * mcp: toolsets into an MCP server. The five lease tools and the session behind them, the strict gate before both protocol eras, and stdio.
 * This door loads nothing but itself: what an MCP server needs is loaded once standard output is guarded.
 */
import { identityOf } from "../contract/index.ts";
import type { Readable, Writable } from "node:stream";
import type { SimlockClient } from "../client/index.ts";
import type { HttpEnvironment } from "./http/environment.ts";
import type { McpHttpOptions } from "./http/serve-toolset.ts";
import type { HttpService } from "./http/serve.ts";
import { guardStdout, type Write } from "./stdout-guard.ts";
import type { ToolCallSink } from "../tool/index.ts";
import type { GatedToolset, Toolset } from "./toolset.ts";

export { instructionsText } from "./instructions.ts";
export type { Credential } from "./http/credential.ts";
export type { HttpEnvironment } from "./http/environment.ts";
export type { McpHttpOptions } from "./http/serve-toolset.ts";
export type { HttpService, Log } from "./http/serve.ts";
export type { CallContext } from "./http/toolset-server.ts";
export type { Trace } from "./http/trace.ts";
export { combined, type GatedToolset, type TextResource, type Toolset } from "./toolset.ts";

export interface McpStdioOptions {
  /** Made once standard output is guarded. Closed when the client is gone. */
  readonly toolset: () => Promise<GatedToolset>;
  readonly version: string;
  readonly stdin?: Readable;
  readonly stdout?: Writable;
  readonly stderr?: Writable;
}

/**
 * Serves MCP on standard input and output until the client is gone, and returns the exit code: 0, or 128+n after signal n. The first thing
 * it does is to keep everybody else from standard output.
 */
export async function runMcpStdio(options: McpStdioOptions): Promise<number> {
  const stdout = options.stdout ?? process.stdout;
  const stderr = options.stderr ?? process.stderr;
  const write: Write = guardStdout({ stdout, stderr });
  const [{ serveOverStdio }, toolset] = await Promise.all([import("./stdio.ts"), options.toolset()]);
  return serveOverStdio({
    toolset,
    version: options.version,
    stdin: options.stdin ?? process.stdin,
    stdout,
    write,
    report: (line) => void stderr.write(`${line}\n`),
    process,
  });
}

/**
 * Reads what an HTTP server is told by its environment; docs/http.md lists it.
 * @throws {SimlockError} `CONFIG_INVALID`, with all that is wrong
 */
export async function readMcpHttpEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Promise<HttpEnvironment> {
  const { readHttpEnvironment } = await import("./http/environment.ts");
  return readHttpEnvironment(env);
}

/** Variables that are called like those of an HTTP server and are none of them. */
export async function unknownMcpVariables(
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly string[]> {
  const { unknownVariables } = await import("./http/environment.ts");
  return unknownVariables(env);
}

/** Serves a toolset over MCP's Streamable HTTP until it is closed. What is under way then may finish, within a bound. */
export async function serveMcpOverHttp(
  options: Omit<McpHttpOptions, "credentials"> & {
    /** `cloud`: each request brings an API key of the platform. Otherwise nobody needs a credential. */
    readonly credentials?: "cloud";
  },
): Promise<HttpService> {
  const { credentials, ...rest } = options;
  const [{ serveMcpOverHttp: serve }, { CLOUD_CREDENTIALS }] = await Promise.all([
    import("./http/serve-toolset.ts"),
    import("./http/credential.ts"),
  ]);
  return serve({ ...rest, ...(credentials === "cloud" ? { credentials: CLOUD_CREDENTIALS } : {}) });
}

/** A toolset of which all is open to the one caller: whoever starts a server on this machine may do what its tools do. Each call is told to the sink. */
export async function openTo(caller: string, toolset: Toolset, onToolCall?: ToolCallSink): Promise<GatedToolset> {
  const { machineGate } = await import("./machine-gate.ts");
  return { ...toolset, gate: machineGate(caller, toolset.tools, onToolCall) };
}

export interface LeaseToolsetOptions {
  /**
   * Opens a connection to the daemon as `principal`; with `launch` it starts the daemon when nothing listens, and only then. Called when a
   * tool first needs it.
   */
  readonly connect: (options: { readonly launch: boolean; readonly principal: string }) => Promise<SimlockClient>;
  /** Where the agent's identity is read from. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** An identity given on the command line, which goes before what the environment says. */
  readonly agentId?: string | undefined;
  /** The working directory of the agent's commands. */
  readonly cwd: string;
}

/** One agent's five lease tools. */
export async function leaseToolset({ connect, env, agentId, cwd }: LeaseToolsetOptions): Promise<Toolset> {
  const [{ leasesOf }, { McpSession }, { systemClock }] = await Promise.all([
    import("./leases.ts"),
    import("./session.ts"),
    import("./clock.ts"),
  ]);
  const ownPrincipal = `mcp:${process.pid}`;
  const session = new McpSession({
    connect: ({ launch }) =>
      connect({ launch, principal: identityOf(env, { explicit: agentId, fallback: ownPrincipal }) }),
    clock: systemClock,
    ownPrincipal,
    cwd,
  });
  return leasesOf(session, systemClock);
}
