import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const root = join(import.meta.dirname, "..", "..");
export const SIMLOCK = join(root, "bin", "simlock.js");
/** The commands that stand in for others, beside our own. */
export type Command = "simlock" | "ios-sim-state" | "ios-sim-state-mcp";
export const fileOf = (command: Command): string => join(root, "bin", `${command}.js`);

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export type Protocol = "2026-07-28" | "2025-11-25";

/** A home of its own in a temporary folder, used through the built command as a user would. Whatever it started ends with `close`. */
export class TestHome {
  readonly path: string;
  /** Where its commands run: a home itself is closed to them. */
  readonly work: string;
  readonly env: Record<string, string>;
  readonly #clients: Client[] = [];

  constructor(options: { virtual?: boolean; config?: object; env?: Readonly<Record<string, string>> } = {}) {
    this.path = mkdtempSync(join(tmpdir(), "sl-"));
    this.work = mkdtempSync(join(tmpdir(), "sl-work-"));
    // A home is made by the daemon, owner-only; mkdtemp's is that already.
    if (options.config !== undefined) {
      writeFileSync(join(this.path, "config.json"), JSON.stringify(options.config), { mode: 0o600 });
    }
    const { PATH = "", HOME = "" } = process.env;
    this.env = { PATH, HOME, SIMLOCK_HOME: this.path, ...options.env };
    if (options.virtual !== false) this.env["SIMLOCK_VIRTUAL"] = "1";
  }

  /** Runs `simlock`, or another of the commands, with these arguments to its end. */
  run(
    args: readonly string[],
    options: {
      env?: Readonly<Record<string, string>>;
      input?: string;
      timeoutMs?: number;
      cwd?: string;
      command?: Command;
    } = {},
  ): Promise<Ran> {
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [fileOf(options.command ?? "simlock"), ...args], {
        env: { ...this.env, ...options.env },
        cwd: options.cwd ?? this.work,
        stdio: ["pipe", "pipe", "pipe"],
      });
      let stdout = "";
      let stderr = "";
      const limit = setTimeout(() => child.kill("SIGKILL"), options.timeoutMs ?? 60_000);
      child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
      child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
      child.on("error", reject);
      child.on("close", (code, signal) => {
        clearTimeout(limit);
        if (code === null) reject(new Error(`simlock ${args.join(" ")} was ended by ${signal}: ${stderr}`));
        else resolve({ code, stdout, stderr });
      });
      child.stdin.on("error", () => {});
      child.stdin.end(options.input ?? "");
    });
  }

  /** Runs a command that must succeed, and reads the JSON that it prints. */
  async json(
    args: readonly string[],
    options: { env?: Readonly<Record<string, string>>; input?: string; command?: Command } = {},
  ): Promise<Record<string, unknown>> {
    const { code, stdout, stderr } = await this.run(args, options);
    if (code !== 0) throw new Error(`simlock ${args.join(" ")} exited with ${code}: ${stderr}`);
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  /** An official MCP client on a spawned `simlock mcp`, or on another server of ours. */
  async agent(
    name: string,
    protocol: Protocol = "2025-11-25",
    setUp?: (client: Client) => void,
    server: readonly string[] = [SIMLOCK, "mcp"],
  ): Promise<McpAgent> {
    const client = new Client(
      { name: `test-${name}`, version: "1" },
      protocol === "2026-07-28" ? { versionNegotiation: { mode: { pin: protocol } } } : {},
    );
    setUp?.(client);
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [...server],
      env: { ...getDefaultEnvironment(), ...this.env, SIMLOCK_AGENT_ID: name },
      stderr: "ignore",
      cwd: this.work,
    });
    await client.connect(transport);
    this.#clients.push(client);
    return new McpAgent(client, transport.pid ?? -1);
  }

  async daemonPid(): Promise<number> {
    const status = await this.json(["status", "--json"]);
    const { pid } = status["daemon"] as { pid: number };
    return pid;
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.splice(0).map((client) => client.close().catch(() => {})));
    if (existsSync(join(this.path, "home.json"))) await this.run(["daemon", "stop"]).catch(() => {});
    rmSync(this.path, { recursive: true, force: true });
    rmSync(this.work, { recursive: true, force: true });
  }
}

export interface ToolAnswer {
  readonly isError: boolean;
  /** What a success says. */
  readonly facts: Record<string, unknown>;
  /** What a failure says. */
  readonly code: string | undefined;
  readonly message: string | undefined;
}

export class McpAgent {
  readonly client: Client;
  readonly pid: number;

  constructor(client: Client, pid: number) {
    this.client = client;
    this.pid = pid;
  }

  async call(
    tool: string,
    input: Record<string, unknown> = {},
    options: { onprogress?: (message: string) => void; signal?: AbortSignal; timeoutMs?: number } = {},
  ): Promise<ToolAnswer> {
    const answer = await this.client.callTool(
      { name: tool, arguments: input },
      {
        timeout: options.timeoutMs ?? 60_000,
        ...(options.signal === undefined ? {} : { signal: options.signal }),
        ...(options.onprogress === undefined
          ? {}
          : { onprogress: ({ message }: { message?: string | undefined }) => options.onprogress?.(message ?? "") }),
      },
    );
    const [first] = answer.content;
    const text = first?.type === "text" ? first.text : "";
    const isError = answer.isError === true;
    const read = parse(text);
    return {
      isError,
      facts: isError ? {} : ((answer.structuredContent ?? {}) as Record<string, unknown>),
      code: isError ? (read?.["code"] as string | undefined) : undefined,
      message: isError ? ((read?.["message"] as string | undefined) ?? text) : undefined,
    };
  }

  /** A call that must succeed. */
  async must(tool: string, input: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const answer = await this.call(tool, input);
    if (answer.isError) throw new Error(`${tool} failed: ${answer.code} ${answer.message}`);
    return answer.facts;
  }

  close(): Promise<void> {
    return this.client.close();
  }
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === "object" && read !== null ? (read as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
