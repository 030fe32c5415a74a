import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { residentOf, Workshop } from "./child.ts";
import { ms, percentile, times, type Figure } from "./figure.ts";
import { load, type Load, type Repeated } from "./load.ts";

/** V8 has compiled what is hot after some ten thousand calls. A server runs for weeks. */
const WARM_UP = 12_000;
const ROUNDS = 5;
const CALLS = 4_000;
const GOAL = 1.3;
/** What another server with the same tools did on the development machine. */
const OTHER = { "tools/list": 465, "tools/call": 644 } as const;
const OTHER_GOAL = 3;
const MEMORY_GOAL_MB = 120;

/** MCP over HTTP, 34 tools, 8 connections: our stack against the SDK's plain handler, and the cloud server as it is installed. */
export async function httpFigures(): Promise<Figure[]> {
  const shop = new Workshop();
  try {
    const tool = { method: "tools/call", params: { name: "tool_17", arguments: { deviceId: "dev_17" } } } as const;
    const expect = '"deviceId":"dev_17"';
    const floor = { ...tool, expect, port: await started(shop, "http-server.ts", "floor") };
    const whole = { ...tool, expect, port: await started(shop, "http-server.ts", "whole") };
    const cloud = await cloudServer(shop);
    const list = { method: "tools/list", params: {}, expect: '"get_device"', port: cloud.port } as const;
    const get = {
      method: "tools/call",
      params: { name: "get_device", arguments: { deviceId: "dev_17" } },
      expect: '"name":"bench"',
      port: cloud.port,
    } as const;
    const [floors, wholes, lists, gets] = await inTurns([floor, whole, list, get]);
    const [a, b] = [median(floors, "perSecond"), median(wholes, "perSecond")];
    return [
      {
        name: "MCP tools/call over HTTP, 34 tools, whole stack",
        floor: `the SDK's plain handler: ${a.toFixed(0)}/s`,
        value: `${b.toFixed(0)}/s`,
        ratio: times(b / a),
        goal: `≥ ${GOAL}×`,
        met: b / a >= GOAL,
      },
      againstOther("tools/list", "all 34", lists),
      againstOther("tools/call", "with its call upstream", gets),
      memoryFigure(cloud.peak()),
    ];
  } finally {
    await shop.close();
  }
}

/** Round after round of each, so that a machine that slows down slows all. */
async function inTurns<const T extends readonly Repeated[]>(all: T): Promise<{ [K in keyof T]: Load[] }> {
  for (const repeated of all) await load(repeated, WARM_UP);
  const loads = all.map((): Load[] => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [at, repeated] of all.entries()) loads[at]?.push(await load(repeated, CALLS));
  }
  return loads as { [K in keyof T]: Load[] };
}

const median = (loads: readonly Load[] | undefined, of: keyof Load): number =>
  percentile(loads?.map((one) => one[of]) ?? [], 0.5);

function againstOther(method: keyof typeof OTHER, what: string, loads: readonly Load[]): Figure {
  const perSecond = median(loads, "perSecond");
  const ratio = perSecond / OTHER[method];
  return {
    name: `mobilerun-mcp --http, ${method}, ${what}`,
    floor: `another server: ${OTHER[method]}/s`,
    value: `${perSecond.toFixed(0)}/s, p50 ${ms(median(loads, "p50"))}, p99 ${ms(median(loads, "p99"))}`,
    ratio: times(ratio),
    goal: `≥ ${OTHER_GOAL}×`,
    met: ratio >= OTHER_GOAL,
  };
}

function memoryFigure(bytes: number): Figure {
  const megabytes = bytes / 1_000_000;
  return {
    name: "mobilerun-mcp --http, memory under that load",
    floor: "–",
    value: `${megabytes.toFixed(0)} MB resident at most`,
    ratio: "–",
    goal: `< ${MEMORY_GOAL_MB} MB`,
    met: megabytes < MEMORY_GOAL_MB,
  };
}

async function started(shop: Workshop, script: string, ...args: string[]): Promise<number> {
  const port = await freePort();
  await shop.start(script, ...args, String(port));
  return port;
}

/** The built command as a process, over a platform that costs nothing, with its audit lines in a file. */
async function cloudServer(shop: Workshop): Promise<{ readonly port: number; readonly peak: () => number }> {
  const upstream = await started(shop, "upstream.ts");
  const port = await freePort();
  const unlimited = "100000000";
  const log = join(shop.folder, "log");
  const { pid = 0 } = shop.run(log, [join(import.meta.dirname, "..", "bin", "mobilerun-mcp.js"), "--http"], {
    MOBILERUN_BASE_URL: `http://127.0.0.1:${upstream}/v1`,
    MCP_POLICY_PROFILE: "full",
    MCP_RATE_LIMIT_PER_KEY_PER_MIN: unlimited,
    MCP_RATE_LIMIT_PER_IP_PER_MIN: unlimited,
    PORT: String(port),
  });
  while (!readFileSync(log, "utf8").includes("server_listening")) await pause(20);
  let most = 0;
  setInterval(() => (most = Math.max(most, residentOf(pid))), 50).unref();
  return { port, peak: () => most };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
