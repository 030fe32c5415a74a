import { once } from "node:events";
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { Workshop } from "./child.ts";
import { percentile, times, type Figure } from "./figure.ts";

const CONNECTIONS = 8;
const WARM_UP = 2_000;
const ROUNDS = 5;
const CALLS = 4_000;
const GOAL = 1.3;

const BODY = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: {
    name: "tool_17",
    arguments: { deviceId: "dev_17" },
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  },
});

/** Requests a second of `tools/call` over HTTP, 34 tools, 8 connections: our whole stack against the SDK's plain handler. */
export async function httpFigures(): Promise<Figure[]> {
  const shop = new Workshop();
  try {
    const floor = await started(shop, "floor");
    const whole = await started(shop, "whole");
    await perSecond(floor, WARM_UP);
    await perSecond(whole, WARM_UP);
    const floors: number[] = [];
    const wholes: number[] = [];
    // In turns, so that a machine that slows down slows both.
    for (let round = 0; round < ROUNDS; round += 1) {
      floors.push(await perSecond(floor, CALLS));
      wholes.push(await perSecond(whole, CALLS));
    }
    const [a, b] = [percentile(floors, 0.5), percentile(wholes, 0.5)];
    return [
      {
        name: "MCP tools/call over HTTP, 34 tools, whole stack",
        floor: `the SDK's plain handler: ${a.toFixed(0)}/s`,
        value: `${b.toFixed(0)}/s`,
        ratio: times(b / a),
        goal: `≥ ${GOAL}×`,
        met: b / a >= GOAL,
      },
    ];
  } finally {
    await shop.close();
  }
}

async function started(shop: Workshop, which: string): Promise<number> {
  const port = await freePort();
  await shop.start("http-server.ts", which, String(port));
  return port;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function perSecond(port: number, calls: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let left = calls;
  const started = performance.now();
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (left > 0) {
        left -= 1;
        await call(port, agent);
      }
    }),
  );
  const took = performance.now() - started;
  agent.destroy();
  return (calls / took) * 1000;
}

function call(port: number, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        agent,
        port,
        host: "127.0.0.1",
        path: "/mcp",
        method: "POST",
        headers: {
          "content-type": "application/json",
          "content-length": Buffer.byteLength(BODY),
          accept: "application/json, text/event-stream",
          authorization: "Bearer dr_sk_bench",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": "tool_17",
        },
      },
      (incoming) => {
        let text = "";
        incoming.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        incoming.on("end", () => {
          if (incoming.statusCode === 200 && text.includes('"deviceId":"dev_17"')) resolve();
          else reject(new Error(`${incoming.statusCode}: ${text}`));
        });
      },
    );
    outgoing.on("error", reject).end(BODY);
  });
}
