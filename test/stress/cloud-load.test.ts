import { afterAll, beforeAll, expect, test } from "vitest";
import { percentile } from "../../bench/figure.ts";
import { HEADERS, legacy, modern } from "../../src/mcp/http/server.fixture.ts";
import { createManualClock } from "../../src/virtual/mobilerun/clock.ts";
import { startVirtualMobilerun, type VirtualMobilerun } from "../../src/virtual/index.ts";
import { CloudMemory, WATCHED } from "../support/cloud-memory.ts";
import { CloudTest } from "../support/cloud-server.ts";

/** Two hundred clients of one server over HTTP, each with a key and a phone of its own. */

const CLIENTS = 200;
/** Of them so many are official clients of each era; the others send what those send. */
const OFFICIAL = 10;
const FULL = process.env["SIMLOCK_STRESS"] === "full";
const LOAD_MS = FULL ? 60_000 : 5_000;
const HAMMER_MS = FULL ? 10_000 : 2_000;
const MB = 1_000_000;
/** What a server may keep more of after a third of the load than after the third before: less than a request leaves if it leaves anything. */
const KEPT_BYTES = 2 * MB;
const RESIDENT_GROWTH = 1.5;
/** Keys, and addresses, that are asked for more than their limit, each by so many at once. */
const HAMMERED = 10;
const WORKERS = 4;
const PER_KEY = 60;
const PER_ADDRESS = 90;

const cloud = new CloudTest();
const clock = createManualClock();
let platform: VirtualMobilerun;
beforeAll(async () => {
  platform = await startVirtualMobilerun({ clock });
  cloud.also(() => platform.close());
});
afterAll(() => cloud.close());

interface Answer {
  readonly isError?: boolean;
  readonly structuredContent?: Record<string, unknown>;
  readonly tools?: readonly unknown[];
}
type Ask = (method: "tools/list" | "tools/call", params: Record<string, unknown>) => Promise<Answer>;

const keyOf = (at: number) => `dr_sk_load_${at}`;
const nameOf = (at: number) => `phone-of-${at}-`;

function rawClient(url: string, at: number): Ask {
  const era =
    at % 2 === 0 ? modern : (method: string, params: object) => ({ body: legacy(method, params), headers: {} });
  let asked = 0;
  return async (method, params) => {
    const { body, headers } = era(method, params);
    const sent = { ...HEADERS, ...headers, authorization: `Bearer ${keyOf(at)}` };
    asked += 1;
    // Now and then somebody loses patience.
    if (asked % 20 === 0) {
      const gone = AbortSignal.timeout(1);
      await fetch(url, { method: "POST", headers: sent, body: JSON.stringify(body), signal: gone }).then(
        (response) => response.body?.cancel(),
        () => {},
      );
    }
    const response = await fetch(url, { method: "POST", headers: sent, body: JSON.stringify(body) });
    if (response.status !== 200) throw new Error(`${keyOf(at)}: ${response.status} ${await response.text()}`);
    return ((await response.json()) as { result: Answer }).result;
  };
}

async function officialClient(url: string, at: number): Promise<Ask> {
  const { client } = await cloud.httpClient(at % 2 === 0 ? "2026-07-28" : "2025-11-25", url, keyOf(at));
  return (method, params) =>
    method === "tools/list"
      ? client.listTools()
      : (client.callTool(params as { name: string; arguments: Record<string, unknown> }) as Promise<Answer>);
}

test(`${CLIENTS} clients for ${LOAD_MS / 1000} s: each sees its own and no more, and nothing of it is kept`, async () => {
  const server = await cloud.http({
    ...WATCHED,
    MOBILERUN_BASE_URL: platform.url,
    MCP_POLICY_PROFILE: "full",
    MCP_CONFIRM: "false",
    MCP_RATE_LIMIT_PER_KEY_PER_MIN: "1000000",
    MCP_RATE_LIMIT_PER_IP_PER_MIN: "1000000",
  });
  const memory = await CloudMemory.of(server);
  const asks = await Promise.all(
    Array.from({ length: CLIENTS }, (_, at) =>
      at < 2 * OFFICIAL ? officialClient(server.url, at) : rawClient(server.url, at),
    ),
  );
  const call = (ask: Ask, name: string, input: object) => ask("tools/call", { name, arguments: input });
  const devices = await Promise.all(
    asks.map(async (ask, at) =>
      String((await call(ask, "create_device", { name: nameOf(at) })).structuredContent?.["id"]),
    ),
  );
  clock.advance(10_000);
  expect(new Set(devices).size).toBe(CLIENTS);

  const wrong: string[] = [];
  const times: number[] = [];
  const names = asks.map((_, at) => nameOf(at));
  let until = 0;
  const live = async (ask: Ask, at: number) => {
    const deviceId = devices[at] ?? "";
    const foreign = devices[(at + 1) % CLIENTS] ?? "";
    const steps: readonly (() => Promise<boolean>)[] = [
      async () => (await ask("tools/list", {})).tools?.length === 34,
      async () => {
        const items = (await call(ask, "list_devices", {})).structuredContent?.["items"];
        return Array.isArray(items) && items.length === 1 && items[0].id === deviceId && items[0].name === names[at];
      },
      async () => {
        const renamed = `${nameOf(at)}${times.length}`;
        const { structuredContent } = await call(ask, "manage_device", {
          operation: "rename",
          deviceId,
          name: renamed,
        });
        names[at] = renamed;
        return structuredContent?.["name"] === renamed;
      },
      async () => (await call(ask, "get_device", { deviceId })).structuredContent?.["name"] === names[at],
      async () => {
        const answer = await call(ask, "get_device", { deviceId: foreign });
        return answer.isError === true && !JSON.stringify(answer).includes("phone-of");
      },
      async () => {
        const { structuredContent } = await call(ask, "get_device_ui_state", { deviceId });
        return JSON.stringify(structuredContent).includes("Notes");
      },
    ];
    for (let step = at; performance.now() < until && wrong.length === 0; step += 1) {
      const started = performance.now();
      if (!(await steps[step % steps.length]?.())) wrong.push(`client ${at}, step ${step % steps.length}`);
      times.push(performance.now() - started);
    }
  };
  /** All of them for a while, with the server's memory looked at meanwhile. */
  const load = async (ms: number) => {
    const samples: number[] = [];
    until = performance.now() + ms;
    const watch = async () => {
      for (; performance.now() < until; await new Promise((resolve) => setTimeout(resolve, 50))) {
        samples.push((await memory.now()).rss);
      }
    };
    await Promise.all([watch(), ...asks.map(live)]);
    return { median: percentile(samples, 0.5), peak: Math.max(...samples), kept: await memory.kept() };
  };

  const warm = await load(LOAD_MS / 3);
  const started = performance.now();
  const before = times.length;
  const middle = await load(LOAD_MS / 3);
  const last = await load(LOAD_MS / 3);
  const perSecond = ((times.length - before) / (performance.now() - started)) * 1000;
  const mb = (bytes: number) => (bytes / MB).toFixed(1);
  console.log(
    `${CLIENTS} clients: ${perSecond.toFixed(0)} requests/s, p99 ${percentile(times.slice(before), 0.99).toFixed(0)} ms, ` +
      `RSS ${[warm, middle, last].map(({ median }) => mb(median)).join(" → ")} MB, at most ${mb(Math.max(warm.peak, middle.peak, last.peak))} MB, ` +
      `kept ${[warm, middle, last].map(({ kept }) => mb(kept.live)).join(" → ")} MB`,
  );
  memory.close();
  expect(wrong).toEqual([]);
  expect(last.kept.live - middle.kept.live).toBeLessThan(KEPT_BYTES);
  expect(last.median).toBeLessThan(middle.median * RESIDENT_GROWTH);
});

interface Tally {
  granted: number;
  firstSent: number;
  firstAnswered: number;
}

/**
 * Asks for one token after another, `WORKERS` at a time, until the time is over and there is none left. Whatever the machine's speed, a bucket
 * has given what it began with, and what came back between the first request and the last, when it was empty: no more, and no less.
 */
async function expectExact(perMinute: number, ask: () => Promise<number>): Promise<void> {
  const tally: Tally = { granted: 0, firstSent: performance.now(), firstAnswered: Infinity };
  const once = async () => {
    const status = await ask();
    tally.firstAnswered = Math.min(tally.firstAnswered, performance.now());
    if (status === 200) tally.granted += 1;
    else if (status !== 429) throw new Error(`answered with ${status}`);
    return status;
  };
  const end = tally.firstSent + HAMMER_MS;
  const work = async () => {
    while (performance.now() < end) await once();
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  let lastSent = performance.now();
  while ((await once()) === 200) lastSent = performance.now();
  const perMs = perMinute / 60_000;
  const most = perMinute + (performance.now() - tally.firstSent) * perMs;
  const least = perMinute + (lastSent - tally.firstAnswered) * perMs - 1;
  expect(tally.granted).toBeLessThanOrEqual(most);
  expect(tally.granted).toBeGreaterThan(least);
}

test("a key and an address get their limit and what comes back, to the request, from a crowd that asks for more", async () => {
  const { url } = await cloud.http({
    MOBILERUN_BASE_URL: platform.url,
    MCP_TRUST_PROXY: "true",
    MCP_RATE_LIMIT_PER_KEY_PER_MIN: String(PER_KEY),
    MCP_RATE_LIMIT_PER_IP_PER_MIN: String(PER_ADDRESS),
  });
  let made = 0;
  const fresh = () => (made += 1);
  const addressOf = (at: number) => `10.${(at >> 16) & 255}.${(at >> 8) & 255}.${at & 255}`;
  const ping = async (key: string, address: string) => {
    const sent = { ...HEADERS, authorization: `Bearer ${key}`, "x-forwarded-for": address };
    const response = await fetch(url, { method: "POST", headers: sent, body: JSON.stringify(legacy("ping")) });
    await response.arrayBuffer();
    return response.status;
  };
  // Each counts by one of the two: the other is new with each request.
  await Promise.all([
    ...Array.from({ length: HAMMERED }, (_, at) =>
      expectExact(PER_KEY, () => ping(`dr_sk_key_${at}`, addressOf(fresh()))),
    ),
    ...Array.from({ length: HAMMERED }, (_, at) =>
      expectExact(PER_ADDRESS, () => ping(`dr_sk_any_${fresh()}`, `192.0.2.${at}`)),
    ),
  ]);
});
