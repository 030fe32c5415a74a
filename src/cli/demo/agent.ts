import { Client } from "@modelcontextprotocol/client";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { z } from "zod";
import { VERSION } from "../version.ts";

/** A tool's answer that is an error: its code and message, as the agent sees them. */
export class Refused extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const CALL_LIMIT_MS = 60_000;

/** An agent as any is: an MCP client that started `simlock mcp` as its server and speaks with it over the two pipes. */
export class Agent {
  readonly name: string;
  readonly pid: number;
  readonly protocol: string;
  readonly #client: Client;

  private constructor(name: string, pid: number, client: Client) {
    this.name = name;
    this.pid = pid;
    this.protocol = client.getNegotiatedProtocolVersion() ?? "unknown";
    this.#client = client;
  }

  static async start(
    name: string,
    server: { readonly file: string; readonly args: readonly string[]; readonly cwd: string },
    protocol: "2025-11-25" | "2026-07-28",
  ): Promise<Agent> {
    const client = new Client(
      { name: `demo-${name}`, version: VERSION },
      protocol === "2026-07-28" ? { versionNegotiation: { mode: { pin: protocol } } } : {},
    );
    const transport = new StdioClientTransport({
      command: server.file,
      args: [...server.args],
      cwd: server.cwd,
      env: { ...getDefaultEnvironment(), SIMLOCK_AGENT_ID: name },
      stderr: "ignore",
    });
    await client.connect(transport, { timeout: CALL_LIMIT_MS });
    const { pid } = transport;
    if (pid === null) throw new Error(`the MCP server of ${name} has no process`);
    return new Agent(name, pid, client);
  }

  /** Calls a tool. Throws `Refused` where its answer is an error. */
  async call(
    tool: string,
    input: Record<string, unknown>,
    told?: (message: string) => void,
  ): Promise<Record<string, unknown>> {
    const answer = await this.#client.callTool(
      { name: tool, arguments: input },
      {
        timeout: CALL_LIMIT_MS,
        ...(told === undefined
          ? {}
          : { onprogress: ({ message }) => told(message ?? ""), resetTimeoutOnProgress: true }),
      },
    );
    if (answer.isError === true) {
      const [first] = answer.content;
      const said: unknown = first?.type === "text" ? JSON.parse(first.text) : undefined;
      const { code, message } = { code: "UNKNOWN", message: "", ...(typeof said === "object" ? said : {}) };
      throw new Refused(code, message);
    }
    return z.record(z.string(), z.unknown()).parse(answer.structuredContent);
  }

  /** One device command. Throws where it did not exit with 0. */
  async run(tool: string, ...args: string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await this.call("run_on_device", { tool, args });
    if (exitCode !== 0) throw new Error(`${tool} ${args.join(" ")} exited with ${String(exitCode)}: ${String(stderr)}`);
    return String(stdout);
  }

  /** Ends the server as any client does: by closing its input. It gives the lease back then. */
  close(): Promise<void> {
    return this.#client.close();
  }
}
