import { once } from "node:events";
import { afterEach, describe, expect, test } from "vitest";
import { DeviceId, EventId, LeaseId, MAX_FRAME_BYTES, SimlockError } from "../contract/index.ts";
import { connectSimlock } from "./connect.ts";
import { leaseRecord } from "./grant.fixture.ts";
import { fakeDaemon, type FakeConnection, type FakeDaemon, type FakeHandlers } from "./testing.ts";
import type { SimlockClient } from "./types.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function connected(handlers: FakeHandlers = {}): Promise<{ daemon: FakeDaemon; client: SimlockClient }> {
  const daemon = await fakeDaemon(handlers);
  ends.push(daemon.close);
  const client = await connectSimlock({ socketPath: daemon.socketPath, principal: "agent", clientVersion: "1" });
  ends.push(client.close);
  return { daemon, client };
}

function only(daemon: FakeDaemon): FakeConnection {
  const [connection] = daemon.connections;
  if (connection === undefined || daemon.connections.size !== 1) throw new Error("not exactly one connection");
  return connection;
}

async function refusal(promise: Promise<unknown>): Promise<SimlockError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof SimlockError) return error;
    throw error;
  }
  throw new Error("it did not reject");
}

const never = new Promise<never>(() => undefined);
const lease = { leaseId: LeaseId.parse("lse_1") };
const lost = (id: string) => ({
  leaseId: LeaseId.parse(id),
  deviceId: DeviceId.parse("dev_1"),
  reason: "expired" as const,
});

describe("a call", () => {
  test("is sent as it is and answered with its payload, fields that we don't know left out", async () => {
    const { daemon, client } = await connected({
      "lease.renew": ({ leaseId }) => ({ ...leaseRecord(leaseId), tomorrow: 1 }),
    });
    expect(await client.call("lease.renew", { leaseId: "lse_9", ttlMs: 5 })).toEqual(leaseRecord("lse_9"));
    expect(daemon.frames.at(-1)).toEqual({ id: 2, type: "lease.renew", payload: { leaseId: "lse_9", ttlMs: 5 } });
  });

  test("rejects with the daemon's error: code, message, details and hint", async () => {
    const { client } = await connected({
      "lease.renew": () => {
        throw new SimlockError("UNKNOWN_LEASE", "gone", { details: { a: 1 }, hint: "look" });
      },
    });
    expect(await refusal(client.call("lease.renew", lease))).toMatchObject({
      code: "UNKNOWN_LEASE",
      message: "gone",
      details: { a: 1 },
      hint: "look",
    });
  });

  test("rejects with UNKNOWN_DAEMON_ERROR for a code, an error or an answer that this version does not know", async () => {
    const { daemon, client } = await connected({ "lease.list": () => never, "lease.release": () => ({ no: "lease" }) });
    const known = refusal(client.call("lease.list", {}));
    const { id } = await daemon.heard((frame) => frame.type === "lease.list");
    only(daemon).raw(
      `${JSON.stringify({ id, ok: false, error: { code: "LUNAR_ECLIPSE", message: "it is dark", details: { x: 1 } } })}\n`,
    );
    expect(await known).toMatchObject({
      code: "UNKNOWN_DAEMON_ERROR",
      message: "LUNAR_ECLIPSE: it is dark",
      details: { x: 1, code: "LUNAR_ECLIPSE" },
    });
    const again = refusal(client.call("lease.list", {}));
    only(daemon).raw('{"id":3,"ok":false,"error":"no"}\n');
    expect(await again).toMatchObject({ code: "UNKNOWN_DAEMON_ERROR" });
    const error = await refusal(client.call("lease.release", lease));
    expect(error.code).toBe("UNKNOWN_DAEMON_ERROR");
    expect(error.message).toContain("lease.release");
    expect(error.message).toContain("leaseId");
  });

  test("whose signal was aborted before is not sent; aborted later it rejects at once, and its answer is nobody's", async () => {
    const gate = Promise.withResolvers<void>();
    const { daemon, client } = await connected({
      "lease.list": async () => {
        await gate.promise;
        return { leases: [] };
      },
      "lease.renew": () => leaseRecord("lse_1"),
    });
    expect(await refusal(client.call("lease.list", {}, { signal: AbortSignal.abort() }))).toMatchObject({
      code: "CANCELLED",
    });
    expect(daemon.frames).toHaveLength(1);
    const abort = new AbortController();
    const call = refusal(client.call("lease.list", {}, { signal: abort.signal }));
    await daemon.heard((frame) => frame.type === "lease.list");
    abort.abort();
    expect(await call).toMatchObject({ code: "CANCELLED" });
    gate.resolve();
    expect(await client.call("lease.renew", lease)).toEqual(leaseRecord("lse_1"));
  });

  test("a thousand at once, answered in another order, each with its own answer, one signal for all", async () => {
    const waiting: (() => void)[] = [];
    const { client } = await connected({
      "lease.renew": async ({ leaseId }) => {
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          if (waiting.length === 1_000) for (const go of waiting.toReversed()) go();
        });
        return leaseRecord(leaseId);
      },
    });
    const { signal } = new AbortController();
    const ids = Array.from({ length: 1_000 }, (_, i) => `lse_${i}`);
    const answers = await Promise.all(ids.map((leaseId) => client.call("lease.renew", { leaseId }, { signal })));
    expect(answers.map((answer) => answer.id)).toEqual(ids);
  });

  test("of exactly 8 MiB goes through both ways; a longer one is refused here and costs nobody else anything", async () => {
    const { daemon, client } = await connected({
      "device.exec": ({ stdin }) => ({ exitCode: 0, stdout: stdin }),
      "lease.renew": () => leaseRecord("lse_1"),
    });
    const input = (size: number) => ({ leaseId: "l", tool: "adb", args: [], stdin: "x".repeat(size) });
    const overhead = Buffer.byteLength(JSON.stringify({ id: 2, type: "device.exec", payload: input(0) }));
    const { stdout } = await client.exec(input(MAX_FRAME_BYTES - overhead));
    expect(stdout).toHaveLength(MAX_FRAME_BYTES - overhead);
    const error = await refusal(client.exec(input(MAX_FRAME_BYTES - overhead + 1)));
    expect(error).toMatchObject({ code: "BAD_FRAME" });
    expect(error.message).toContain(String(MAX_FRAME_BYTES + 1));
    expect(daemon.frames).toHaveLength(2);
    expect(await client.call("lease.renew", lease)).toEqual(leaseRecord("lse_1"));
  });

  test("that is no JSON is refused here", async () => {
    const { client } = await connected();
    const error = await refusal(client.call("lease.renew", Object.assign({}, lease, { big: 1n })));
    expect(error).toMatchObject({ code: "BAD_REQUEST" });
  });
});

describe("what the daemon sends", () => {
  test("may come in any pieces: half frames, many in one, a character cut in two", async () => {
    const { daemon, client } = await connected({ "lease.release": () => never });
    const call = client.call("lease.release", lease);
    const { id } = await daemon.heard((frame) => frame.type === "lease.release");
    const heard: string[] = [];
    client.onDeviceUnhealthy((push) => heard.push(push.reason));
    const push = {
      push: "device-unhealthy",
      payload: { leaseId: "lse_1", deviceId: "dev_1", reason: "é\u{1f600}\nwhy" },
    };
    const bytes = Buffer.from(
      `\n  \n${JSON.stringify(push)}\r\n${JSON.stringify({ id, ok: true, payload: { leaseId: "é" } })}\n`,
    );
    for (const byte of bytes) {
      only(daemon).raw(Buffer.from([byte]));
      await new Promise(setImmediate);
    }
    expect(await call).toEqual({ leaseId: "é" });
    expect(heard).toEqual(["é\u{1f600}\nwhy"]);
  });

  test("and is no frame, or an answer to nobody, is skipped and counted, and harms no call", async () => {
    const { daemon, client } = await connected({ "lease.release": () => never });
    const call = refusal(client.call("lease.release", lease));
    await daemon.heard((frame) => frame.type === "lease.release");
    const noise = [
      "not json",
      "[]",
      "7",
      '"text"',
      "null",
      "{}",
      '{"push":7}',
      '{"id":"2","ok":true,"payload":{"leaseId":"lse_1"}}',
      '{"id":null,"ok":false,"error":{"code":"BAD_FRAME","message":"no"}}',
      '{"id":999,"ok":true,"payload":{}}',
      '{"push":"output","payload":{"requestId":999,"stream":"stdout","chunk":"x"}}',
      '{"push":"progress","payload":{"requestId":"x"}}',
      "\u0000\u0001\ufffd",
    ];
    // A kind that we don't know is a newer daemon's, and not noise.
    only(daemon).raw(`{"push":"full-moon","payload":{}}\n${noise.join("\n")}\n`);
    only(daemon).socket.end();
    expect(await call).toMatchObject({ code: "DAEMON_CONNECTION_LOST", details: { skippedLines: noise.length } });
  });

  test("and never ends as a line ends the connection at 8 MiB, whatever waits", async () => {
    const { daemon, client } = await connected({ "lease.release": () => never });
    const call = refusal(client.call("lease.release", lease));
    const gone = new Promise<void>((resolve) => client.onConnectionLost(resolve));
    const piece = Buffer.alloc(1024 * 1024, "x");
    const { socket } = only(daemon);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    for (let sent = 0; sent < 9 && !socket.destroyed; sent += 1) socket.write(piece);
    const error = await call;
    expect(error).toMatchObject({ code: "DAEMON_CONNECTION_LOST" });
    expect(error.message).toContain(`more than ${MAX_FRAME_BYTES} bytes`);
    await Promise.all([gone, closed]);
  });
});

describe("a connection that ends", () => {
  test("rejects every call in flight, tells its listeners once, and refuses calls from then on", async () => {
    const { daemon, client } = await connected({ "lease.list": () => never, "device.exec": () => never });
    let told = 0;
    client.onConnectionLost(() => (told += 1));
    const stop = client.onConnectionLost(() => (told += 100));
    stop();
    const lists = Array.from({ length: 5 }, () => refusal(client.call("lease.list", {})));
    const exec = refusal(client.exec({ leaseId: "l", tool: "adb", args: [] }));
    await daemon.heard((frame) => frame.type === "device.exec");
    only(daemon).raw('{"id":2,"ok":tr');
    only(daemon).socket.destroy();
    for (const error of await Promise.all(lists)) {
      expect(error.code).toBe("DAEMON_CONNECTION_LOST");
      expect(error.message).toContain("while lease.list waited");
    }
    expect((await exec).code).toBe("DAEMON_CONNECTION_LOST");
    const error = await refusal(client.call("lease.list", {}));
    expect(error).toMatchObject({ code: "DAEMON_CONNECTION_LOST" });
    expect(error.message).toContain("before lease.list was sent");
    await new Promise<void>((resolve) => client.onConnectionLost(resolve));
    await client.close();
    expect(told).toBe(1);
  });

  test("by close: calls in flight reject, the loss is announced to nobody, and later calls are SESSION_CLOSED", async () => {
    const { daemon, client } = await connected({ "lease.list": () => never });
    let told = 0;
    client.onConnectionLost(() => (told += 1));
    const call = refusal(client.call("lease.list", {}));
    await daemon.heard((frame) => frame.type === "lease.list");
    await Promise.all([client.close(), client.close()]);
    expect(await call).toMatchObject({ code: "DAEMON_CONNECTION_LOST" });
    expect(await refusal(client.call("lease.list", {}))).toMatchObject({ code: "SESSION_CLOSED" });
    await new Promise(setImmediate);
    expect(told).toBe(0);
  });

  test("close does not wait for a daemon that does not let go", async () => {
    const { daemon, client } = await connected();
    only(daemon).socket.pause();
    only(daemon).socket.allowHalfOpen = true;
    const before = performance.now();
    await client.close();
    expect(performance.now() - before).toBeLessThan(5_000);
  });
});

describe("a daemon that does not read", () => {
  test("gets at most a bounded queue; calls beyond it are refused, and those in it can be taken back unsent", async () => {
    const { daemon, client } = await connected({ "lease.list": () => ({ leases: [] }) });
    const { socket } = only(daemon);
    socket.pause();
    const abort = new AbortController();
    const big = { leaseId: "l", tool: "adb", args: [], stdin: "x".repeat(7 * 1024 * 1024) };
    const outcomes = Array.from({ length: 14 }, () => refusal(client.exec(big, { signal: abort.signal })));
    const refused = await Promise.race(outcomes);
    expect(refused.message).toContain("the daemon does not read");
    abort.abort();
    const errors = await Promise.all(outcomes.slice(2, 9));
    expect(errors.map((error) => error.code)).toEqual(errors.map(() => "EXEC_CANCELLED"));
    socket.resume();
    // Only what the socket had taken by then arrives, and other calls go on.
    expect(await client.call("lease.list", {})).toEqual({ leases: [] });
    const sent = daemon.frames.filter((frame) => frame.type === "device.exec").length;
    expect(sent).toBeLessThanOrEqual(2);
    await Promise.all(outcomes);
  });
});

describe("announcements", () => {
  test("a lease is announced lost once, however often the daemon says so; others are not kept back", async () => {
    const { daemon, client } = await connected({ "lease.list": () => ({ leases: [] }) });
    const heard: string[] = [];
    client.onLeaseLost((push) => heard.push(`a ${push.leaseId}`));
    const stop = client.onLeaseLost((push) => heard.push(`b ${push.leaseId}`));
    for (const id of ["lse_1", "lse_1", "lse_2", "lse_1"]) daemon.push("lease-lost", lost(id));
    await client.call("lease.list", {});
    expect(heard).toEqual(["a lse_1", "b lse_1", "a lse_2", "b lse_2"]);
    stop();
    daemon.push("lease-lost", lost("lse_3"));
    await client.call("lease.list", {});
    expect(heard.slice(4)).toEqual(["a lse_3"]);
  });

  test("of leases are remembered for 256 leases at least, and not without end", async () => {
    const { daemon, client } = await connected({ "lease.list": () => ({ leases: [] }) });
    const heard: string[] = [];
    client.onLeaseLost((push) => heard.push(push.leaseId));
    for (let i = 0; i < 256; i += 1) daemon.push("lease-lost", lost(`lse_${i}`));
    daemon.push("lease-lost", lost("lse_0"));
    await client.call("lease.list", {});
    expect(heard).toHaveLength(256);
    daemon.push("lease-lost", lost("lse_256"));
    daemon.push("lease-lost", lost("lse_0"));
    await client.call("lease.list", {});
    expect(heard.slice(256)).toEqual(["lse_256", "lse_0"]);
  });

  test("a lease lost for a reason that we don't know is still announced", async () => {
    const { daemon, client } = await connected();
    const heard = new Promise((resolve) => client.onLeaseLost(resolve));
    only(daemon).raw(
      '{"push":"lease-lost","payload":{"leaseId":"lse_1","deviceId":"dev_1","reason":"swallowed by a whale"}}\n',
    );
    expect(await heard).toEqual({ leaseId: "lse_1", deviceId: "dev_1", reason: "killed" });
  });

  test("health is told when it changes, events each time, and what can't be read is dropped", async () => {
    const { daemon, client } = await connected({ "lease.list": () => ({ leases: [] }) });
    const heard: string[] = [];
    client.onDeviceUnhealthy((push) => heard.push(`unhealthy ${push.reason}`));
    client.onDeviceRecovered((push) => heard.push(`recovered after ${push.attempts}`));
    client.onEvent((push) => heard.push(`event ${push.event.seq}`));
    const of = { leaseId: LeaseId.parse("lse_1"), deviceId: DeviceId.parse("dev_1") };
    daemon.push("device-unhealthy", { ...of, reason: "crashed" });
    daemon.push("device-unhealthy", { ...of, reason: "crashed" });
    daemon.push("device-recovered", { ...of, attempts: 2 });
    daemon.push("device-recovered", { ...of, attempts: 2 });
    daemon.push("device-unhealthy", { ...of, reason: "crashed again" });
    const event = {
      id: EventId.parse("evt_1"),
      seq: 1,
      timestamp: 1,
      event: "moon.risen",
      payload: { x: 1 },
      module: "sky",
    };
    daemon.push("event", { subscriptionId: "sub_1", event });
    daemon.push("event", { subscriptionId: "sub_1", event });
    only(daemon).raw('{"push":"lease-lost","payload":{"leaseId":7}}\n{"push":"event"}\n');
    await client.call("lease.list", {});
    expect(heard).toEqual(["unhealthy crashed", "recovered after 2", "unhealthy crashed again", "event 1", "event 1"]);
  });

  test("a listener that throws is reported as uncaught; other listeners and the connection don't notice", async () => {
    const { daemon, client } = await connected({ "lease.list": () => ({ leases: [] }) });
    const others = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException");
    const uncaught = once(process, "uncaughtException");
    try {
      const heard: string[] = [];
      client.onLeaseLost(() => {
        throw new Error("listener");
      });
      client.onLeaseLost((push) => heard.push(push.leaseId));
      daemon.push("lease-lost", lost("lse_1"));
      expect(await client.call("lease.list", {})).toEqual({ leases: [] });
      expect(heard).toEqual(["lse_1"]);
      expect(await uncaught).toMatchObject([{ message: "listener" }, "uncaughtException"]);
    } finally {
      for (const listener of others) process.on("uncaughtException", listener);
    }
  });
});
