import type { Readable, Writable } from "node:stream";

/** Cuts a stream into lines and lets a test wait for the one it means. */
export class Heard {
  readonly lines: string[] = [];
  #rest = "";
  #ended = false;
  #waiting: (() => void)[] = [];

  constructor(stream: Readable) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      const parts = (this.#rest + text).split("\n");
      this.#rest = parts.pop() ?? "";
      this.lines.push(...parts);
      this.#look();
    });
    stream.on("close", () => {
      this.#ended = true;
      this.#look();
    });
  }

  async line(matches: (line: string) => boolean): Promise<string> {
    for (let next = 0; ;) {
      for (; next < this.lines.length; next += 1) {
        const line = this.lines[next];
        if (line !== undefined && matches(line)) return line;
      }
      if (this.#ended) throw new Error(`ended without it:\n${this.lines.join("\n")}`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #look(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

export interface Message {
  readonly jsonrpc?: string;
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export const MODERN_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** A client that knows nothing but JSON lines: for what the official one would never send. */
export function rawPeer(toServer: Writable, fromServer: Readable) {
  const out = new Heard(fromServer);
  const send = (message: object) => toServer.write(`${JSON.stringify(message)}\n`);
  const messages = () => out.lines.map((line) => JSON.parse(line) as Message);
  const answer = async (id: unknown): Promise<Message> =>
    JSON.parse(await out.line((line) => (JSON.parse(line) as Message).id === id)) as Message;
  const ask = (id: number | string, method: string, params?: object) => {
    send({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) });
    return answer(id);
  };
  const initialize = async (protocolVersion = "2025-11-25") => {
    const clientInfo = { name: "raw", version: "1" };
    const answered = await ask("init", "initialize", { protocolVersion, capabilities: {}, clientInfo });
    send({ jsonrpc: "2.0", method: "notifications/initialized" });
    return answered;
  };
  const call = (id: number | string, name: string, args: object = {}, meta?: object) =>
    ask(id, "tools/call", { name, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) });
  /** Starts a command that does not end by itself. */
  const hang = (id: number | string) => {
    const run = { name: "run_on_device", arguments: { tool: "adb", args: ["hang"] } };
    send({ jsonrpc: "2.0", id, method: "tools/call", params: run });
  };
  return { out, messages, send, ask, answer, initialize, call, hang };
}
