import { Agent, request } from "node:http";
import { percentile } from "./figure.ts";

const CONNECTIONS = 8;

/** An MCP request of the revision 2026-07-28, sent again and again. */
export interface Repeated {
  readonly port: number;
  readonly method: "tools/call" | "tools/list";
  readonly params: Readonly<Record<string, unknown>>;
  /** What every good answer has in it. */
  readonly expect: string;
}

export interface Load {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

/** Sends so many over kept connections, the next on each as soon as the last is answered. */
export async function load(repeated: Repeated, calls: number): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const send = sender(repeated, agent);
  const took: number[] = [];
  let left = calls;
  const started = performance.now();
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (left > 0) {
        left -= 1;
        const sent = performance.now();
        await send();
        took.push(performance.now() - sent);
      }
    }),
  );
  const whole = performance.now() - started;
  agent.destroy();
  return { perSecond: (calls / whole) * 1000, p50: percentile(took, 0.5), p99: percentile(took, 0.99) };
}

function sender({ port, method, params, expect }: Repeated, agent: Agent): () => Promise<void> {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } });
  const headers = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    accept: "application/json, text/event-stream",
    authorization: "Bearer dr_sk_bench",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    ...(typeof params["name"] === "string" ? { "mcp-name": params["name"] } : {}),
  };
  /** Only the first answer is read: the others are as long as it. Whoever reads all of them measures itself. */
  let length: number | undefined;
  return () =>
    new Promise((resolve, reject) => {
      const outgoing = request(
        { agent, port, host: "127.0.0.1", path: "/mcp", method: "POST", headers },
        (incoming) => {
          const read: Buffer[] = [];
          let bytes = 0;
          incoming.on("data", (chunk: Buffer) => {
            bytes += chunk.length;
            if (length === undefined) read.push(chunk);
          });
          incoming.on("end", () => {
            const good = incoming.statusCode === 200 && bytes === (length ?? bytes);
            if (good && (length !== undefined || Buffer.concat(read).includes(expect))) {
              length = bytes;
              resolve();
            } else reject(new Error(`${incoming.statusCode}: ${bytes} bytes: ${Buffer.concat(read)}`));
          });
        },
      );
      outgoing.on("error", reject).end(body);
    });
}
