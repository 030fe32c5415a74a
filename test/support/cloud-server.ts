import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Heard } from "../../src/mcp/peer.fixture.ts";

/** The drop-in command for cloud phones as a process, and official clients of it. */

export const CLOUD_COMMAND = join(import.meta.dirname, "..", "..", "bin", "mobilerun-mcp.js");

export type Era = "2026-07-28" | "2025-11-25";
export type Env = Readonly<Record<string, string>>;
/** What the user says when they are asked. It may change while the client lives. */
export interface User {
  says: "accept" | "decline" | "cancel";
}

export interface AuditLine {
  readonly type: "mcp.tool_call";
  readonly toolName: string;
  readonly operation?: string;
  readonly outcome: "ok" | "error" | "denied";
  readonly code?: string;
  readonly durationMs: number;
  readonly requestId: string;
  readonly auth: { readonly kind: string; readonly subject: string };
}

/** A server that runs, and what it says on standard error. */
export interface CloudServer {
  readonly child: ChildProcess;
  readonly url: string;
  readonly errors: Heard;
  /** Ends it as an operator would; answers its exit code. */
  stop(): Promise<number | null>;
}

/** A home of its own for what a test starts. */
export class CloudTest {
  readonly home = mkdtempSync(join(tmpdir(), "sl-cloud-"));
  readonly #closers: (() => Promise<unknown>)[] = [];

  /** What a process is given: nothing of ours but what the test says. */
  env(more: Env): Record<string, string> {
    return { PATH: process.env["PATH"] ?? "", HOME: this.home, SIMLOCK_HOME: join(this.home, "h"), ...more };
  }

  /** Starts `mobilerun-mcp` with these arguments, whatever becomes of it. */
  start(args: readonly string[], env: Env): ChildProcess {
    const child = spawn(process.execPath, [CLOUD_COMMAND, ...args], { env: this.env(env), cwd: this.home });
    this.#closers.push(() => ended(child, "SIGKILL"));
    return child;
  }

  /** Runs it to its end. */
  async run(args: readonly string[], env: Env): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const child = this.start(args, env);
    child.stdin?.end();
    let stdout = "";
    let stderr = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const [code] = (await once(child, "close")) as [number | null];
    return { code, stdout, stderr };
  }

  async http(env: Env = {}): Promise<CloudServer> {
    const child = this.start(["--http"], { PORT: "0", ...env });
    if (child.stderr === null) throw new Error("no standard error");
    const errors = new Heard(child.stderr);
    const line = await errors.line((said) => said.includes('"server_listening"'));
    const { port } = JSON.parse(line) as { port: number };
    return { child, errors, url: `http://127.0.0.1:${port}/mcp`, stop: () => ended(child, "SIGTERM") };
  }

  /** An official client of a server over HTTP. */
  async httpClient(era: Era, url: string, key: string, user?: User) {
    const { client, asked } = clientOf(era, user);
    const requestInit = { headers: { authorization: `Bearer ${key}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
    this.#closers.push(() => client.close());
    return { client, asked };
  }

  /** An official client of a server of its own on standard input and output. */
  async stdioClient(era: Era, env: Env, user?: User) {
    const { client, asked } = clientOf(era, user);
    const command = { command: process.execPath, args: [CLOUD_COMMAND], stderr: "pipe" as const, cwd: this.home };
    const transport = new StdioClientTransport({ ...command, env: this.env(env) });
    const { stderr } = transport;
    if (stderr === null) throw new Error("no standard error");
    const errors = new Heard(stderr as Readable);
    /** A line on standard output that is not of the protocol. */
    const noise: unknown[] = [];
    client.onerror = (error) => void noise.push(error);
    await client.connect(transport);
    this.#closers.push(() => client.close());
    return { client, asked, errors, noise };
  }

  /** Closes with the test. */
  also(close: () => Promise<unknown>): void {
    this.#closers.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
    rmSync(this.home, { recursive: true, force: true });
  }
}

export const auditOf = (errors: Heard): readonly AuditLine[] =>
  errors.lines.filter((line) => line.includes('"mcp.tool_call"')).map((line) => JSON.parse(line) as AuditLine);

function clientOf(era: Era, user: User | undefined) {
  const client = new Client(
    { name: "test", version: "1" },
    {
      capabilities: user === undefined ? {} : { elicitation: { form: {} } },
      versionNegotiation: { mode: era === "2026-07-28" ? { pin: era } : "legacy" },
    },
  );
  const asked: string[] = [];
  if (user !== undefined) {
    client.setRequestHandler("elicitation/create", ({ params }) => {
      asked.push(params.message);
      return { action: user.says, ...(user.says === "accept" ? { content: {} } : {}) };
    });
  }
  return { client, asked };
}

async function ended(child: ChildProcess, signal: "SIGTERM" | "SIGKILL"): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
  }
  return child.exitCode;
}
