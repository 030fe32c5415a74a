import { spawn } from "node:child_process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { at, TestBench, text } from "./daemon.fixture.ts";
import type { RawClient } from "./raw-client.fixture.ts";

let bench: TestBench;
beforeEach(() => {
  bench = new TestBench();
});
afterEach(async () => bench.close());

const phone = { platform: "ios", model: "iPhone 17" } as const;
const one = { capacity: { strategy: "fixed", maxRunning: 1 } } as const;
const failed = (code: string) => expect.objectContaining({ ok: false, error: expect.objectContaining({ code }) });

async function nobodyWaits(client: RawClient): Promise<void> {
  for (let waiting: unknown; !Array.isArray(waiting) || waiting.length > 0;) {
    waiting = at(await client.ok("status.get"), "waiting");
  }
}

describe("a request", () => {
  test("is granted a device that was made, booted and told of on the way", async () => {
    const { agent, driver } = await bench.start();
    const client = await agent("a");
    const id = client.begin("lease.request", { ...phone, ttlMs: 60_000 });
    const { payload } = await client.reply(id);
    expect(payload).toMatchObject({
      device: { spec: { platform: "ios", model: "iPhone 17", osVersion: "26.0" }, mode: "full" },
      lease: { requesterId: "a", ownerId: "a", ttlMs: 60_000 },
      environment: { SIMLOCK_MODEL: "iPhone 17" },
    });
    expect(at(payload, "environment", "SIMLOCK_DEVICE")).toBe(at(payload, "device", "address"));
    const stages = client.frames.filter((frame) => frame.push === "progress").map((frame) => frame.payload);
    expect(stages).toEqual([
      expect.objectContaining({ requestId: id, progress: expect.objectContaining({ stage: "provisioning" }) }),
      expect.objectContaining({ requestId: id, progress: expect.objectContaining({ stage: "booting" }) }),
    ]);
    expect(driver.steps.filter((step) => /create|boot/.test(step))).toHaveLength(2);
  });

  test("waits with its place in the queue, and gets what another gives back only after it was cleaned", async () => {
    const { agent, driver } = await bench.start({ config: one });
    const [first, second] = [await agent("first"), await agent("second")];
    const grant = await first.ok("lease.request", phone);
    const waiting = second.begin("lease.request", phone);
    const told = await second.push("progress");
    expect(told.payload).toMatchObject({ requestId: waiting, progress: { stage: "queued", queuePosition: 1 } });
    const cleaning = Promise.withResolvers<void>();
    driver.options = { before: async (step) => (step === "clean" ? cleaning.promise : undefined) };
    await first.ok("lease.release", { leaseId: text(grant, "lease", "id") });
    await second.push("progress", (payload) => at(payload, "progress", "stage") === "reclaiming");
    expect(second.frames.some((frame) => frame.id === waiting)).toBe(false);
    cleaning.resolve();
    const next = await second.reply(waiting);
    expect(at(next.payload, "device", "id")).toBe(at(grant, "device", "id"));
  });

  test("of a caller that went away is taken back", async () => {
    const { agent } = await bench.start({ config: one });
    const [holder, gone, watcher] = [await agent("holder"), await agent("gone"), await agent("watcher")];
    await holder.ok("lease.request", phone);
    gone.begin("lease.request", phone);
    await gone.push("progress");
    expect(at(await watcher.ok("status.get"), "queueDepth")).toBe(1);
    gone.close();
    await watcher.until(() => false, 1).catch(() => undefined);
    for (let depth: unknown = 1; depth !== 0;) depth = at(await watcher.ok("status.get"), "queueDepth");
  });

  test("whose caller goes while its device is made leaves no lease behind", async () => {
    const making = Promise.withResolvers<void>();
    const { agent, driver } = await bench.start({
      fake: { before: async (step) => (step === "create" ? making.promise : undefined) },
    });
    const [gone, watcher] = [await agent("gone"), await agent("watcher")];
    gone.begin("lease.request", phone);
    await gone.push("progress");
    gone.close();
    await nobodyWaits(watcher);
    making.resolve();
    const grant = await watcher.ok("lease.request", phone);
    expect(at(grant, "lease", "ownerId")).toBe("watcher");
    expect(driver.world.size).toBe(1);
    expect(at(await watcher.ok("status.get"), "leases")).toHaveLength(1);
  });

  test("can be cancelled by its requester, on another connection too", async () => {
    const { agent } = await bench.start({ config: one });
    await (await agent("holder")).ok("lease.request", phone);
    const [waiting, other] = [await agent("w"), await agent("w")];
    const id = waiting.begin("lease.request", phone);
    await waiting.push("progress");
    expect(await other.ok("lease.cancel")).toEqual({ result: "cancelled" });
    expect(await waiting.reply(id)).toEqual(failed("REQUEST_CANCELLED"));
    expect(await other.ok("lease.cancel")).toEqual({ result: "not-found" });
  });

  test("that will not wait, or waits too long, is told who holds the device", async () => {
    const { agent } = await bench.start({ config: one });
    await (await agent("holder")).ok("lease.request", phone);
    const client = await agent("w");
    const busy = await client.call("lease.request", { ...phone, noWait: true });
    expect(busy).toEqual(failed("NO_CAPACITY"));
    expect(busy.error?.message).toContain("holder");
    expect(await client.call("lease.request", { ...phone, timeoutMs: 20 })).toEqual(failed("QUEUE_TIMEOUT"));
  });

  test("with a key gets the same grant again", async () => {
    const { agent } = await bench.start();
    const client = await agent("a");
    const ask = { ...phone, idempotencyKey: "k" };
    const [first, second] = await Promise.all([client.ok("lease.request", ask), client.ok("lease.request", ask)]);
    expect(second).toEqual(first);
    expect(await client.call("lease.request", { platform: "ios", class: "tablet", idempotencyKey: "k" })).toEqual(
      failed("IDEMPOTENCY_CONFLICT"),
    );
  });

  test.each([
    [{ ...phone, class: "phone" }, "BAD_REQUEST", "class: name a model or a class, not both"],
    [{ ...phone, ttlMs: 5 * 3_600_000 }, "BAD_REQUEST", "ttlMs"],
    [{ ...phone, osVersion: "^26" }, "BAD_REQUEST", "osVersion"],
    [{ ...phone, bindPid: 2_147_483_000 }, "BAD_REQUEST", "bindPid"],
    [{ ...phone, owner: "x" }, "FORBIDDEN", "owner"],
    [{ platform: "ios", model: "iPad 3" }, "UNKNOWN_MODEL", "3"],
    [{ ...phone, osVersion: "12.0" }, "RUNTIME_MISSING", "12.0"],
    [{ platform: "android" }, "NO_DRIVER", "android"],
  ])("%j is refused with %s", async (ask, code, message) => {
    const { agent } = await bench.start();
    const reply = await (await agent()).call("lease.request", ask);
    expect(reply).toEqual(failed(code));
    expect(reply.error?.message).toContain(message);
  });

  test("for a device that can't be started fails with what the platform said", async () => {
    const { agent } = await bench.start({
      fake: {
        before(step) {
          if (step === "boot") throw new Error("a fault in the driver: /secret/path");
        },
      },
    });
    const reply = await (await agent()).call("lease.request", phone);
    expect(reply).toEqual(failed("DEVICE_START_FAILED"));
    expect(JSON.stringify(reply)).not.toContain("/secret/path");
  });
});

describe("the catalog", () => {
  test("is read again before a model counts as unknown, at most once in ten seconds", async () => {
    const { agent, driver } = await bench.start();
    const client = await agent();
    driver.options = { models: ["iPhone 99"] };
    expect(await client.call("lease.request", { platform: "ios", model: "iPhone 99" })).toEqual(
      failed("UNKNOWN_MODEL"),
    );
    expect(at(await client.ok("catalog.get", { refresh: true }), "platforms", 0, "models")).toEqual(["iPhone 99"]);
    expect((await client.call("lease.request", { platform: "ios", model: "iphone 99" })).ok).toBe(true);
  });

  test("that can't be read is an error with its reason, never an empty list; once it can, requests are served", async () => {
    const { agent, driver } = await bench.start({
      fake: {
        before(step) {
          if (step === "catalog") throw new (class extends Error {})("fault");
        },
      },
    });
    const client = await agent();
    expect(await client.call("catalog.get")).toEqual(failed("INTERNAL"));
    expect(await client.call("catalog.get", { platform: "android" })).toEqual(failed("NO_DRIVER"));
    expect(await client.call("lease.request", phone)).toEqual(failed("INTERNAL"));
    driver.options = {};
    await client.ok("catalog.get", { refresh: true });
    expect((await client.call("lease.request", phone)).ok).toBe(true);
  });
});

describe("a lease", () => {
  test("is renewed by its own width or a new one, listed for its owner, adopted after a reconnect", async () => {
    const { agent, admin } = await bench.start();
    const [client, other, operator] = [await agent("a"), await agent("b"), await admin()];
    const leaseId = text(await client.ok("lease.request", { ...phone, ttlMs: 60_000 }), "lease", "id");
    expect(await client.ok("lease.renew", { leaseId, ttlMs: 90_000 })).toMatchObject({ ttlMs: 90_000 });
    expect(await client.ok("lease.renew", { leaseId })).toMatchObject({ ttlMs: 90_000 });
    expect(await client.ok("lease.list")).toMatchObject({ leases: [{ id: leaseId }] });
    expect(await other.ok("lease.list")).toEqual({ leases: [] });
    expect(await operator.ok("lease.list")).toMatchObject({ leases: [{ id: leaseId }] });
    client.close();
    const again = await agent("a");
    expect(await again.ok("lease.adopt")).toMatchObject({
      grant: { lease: { id: leaseId }, device: { mode: "full" } },
    });
    expect(await other.ok("lease.adopt")).toEqual({});
    expect(await other.ok("lease.adopt", { requesterId: "a" })).toEqual({});
    expect(await other.call("lease.adopt", { leaseId })).toEqual(failed("FORBIDDEN"));
  });

  test("of somebody else is not to be touched; an admin says so on purpose", async () => {
    const { agent, admin } = await bench.start();
    const [client, other, operator] = [await agent("a"), await agent("b"), await admin()];
    const leaseId = text(await client.ok("lease.request", phone), "lease", "id");
    for (const type of ["lease.renew", "lease.release"])
      expect(await other.call(type, { leaseId })).toEqual(failed("FORBIDDEN"));
    expect(await other.call("lease.release", { leaseId, force: true })).toEqual(failed("FORBIDDEN"));
    expect(await operator.call("lease.release", { leaseId })).toEqual(failed("FORBIDDEN"));
    expect((await operator.call("lease.release", { leaseId, force: true })).ok).toBe(true);
    const lost = await client.push("lease-lost");
    expect(lost.payload).toMatchObject({ leaseId, reason: "killed" });
    for (const type of ["lease.renew", "lease.release"]) {
      expect(await client.call(type, { leaseId })).toEqual(failed("UNKNOWN_LEASE"));
    }
  });

  test("that runs out is told to each connection of its holder, and to nobody else", async () => {
    const { agent } = await bench.start();
    const [client, same, other] = [await agent("a"), await agent("a"), await agent("b")];
    const leaseId = text(await client.ok("lease.request", { ...phone, ttlMs: 300 }), "lease", "id");
    for (const connection of [client, same]) {
      expect((await connection.push("lease-lost")).payload).toMatchObject({ leaseId, reason: "expired" });
    }
    await other.ok("lease.list");
    expect(other.frames.filter((frame) => frame.push === "lease-lost")).toEqual([]);
  });

  test("is not told as lost to the connection that ended it", async () => {
    const { agent, admin } = await bench.start();
    const client = await agent("a");
    const own = text(await client.ok("lease.request", phone), "lease", "id");
    await client.ok("lease.release", { leaseId: own });
    await client.ok("lease.list");
    expect(client.frames.filter((frame) => frame.push === "lease-lost")).toEqual([]);

    const [operator, same] = [await admin("op"), await admin("op")];
    const leaseId = text(await operator.ok("lease.request", phone), "lease", "id");
    expect(await operator.ok("lease.release-all")).toEqual({ leaseIds: [leaseId] });
    expect((await same.push("lease-lost")).payload).toMatchObject({ leaseId, reason: "killed" });
    await operator.ok("lease.list");
    expect(operator.frames.filter((frame) => frame.push === "lease-lost")).toEqual([]);
  });

  test("bound to a process ends with it", async () => {
    const child = spawn("sleep", ["60"]);
    const { agent } = await bench.start();
    const client = await agent("a");
    const leaseId = text(await client.ok("lease.request", { ...phone, bindPid: child.pid }), "lease", "id");
    child.kill("SIGKILL");
    const lost = await client.push("lease-lost");
    expect(lost.payload).toMatchObject({ leaseId, reason: "holder-gone" });
  });

  test("ends with its device when readings in a row do not show it", async () => {
    const { agent, driver } = await bench.start({ config: { health: { probeIntervalMs: 30 } } });
    const client = await agent("a");
    const leaseId = text(await client.ok("lease.request", phone), "lease", "id");
    driver.world.clear();
    const lost = await client.push("lease-lost");
    expect(lost.payload).toMatchObject({ leaseId, reason: "device-lost" });
  });
});

test("events are kept, replayed and pushed to those who subscribed", async () => {
  const { agent, admin } = await bench.start();
  const [client, operator] = [await agent("a"), await admin()];
  const { seq, subscriptionId } = (await operator.ok("events.subscribe")) as { seq: number; subscriptionId: string };
  const leaseId = text(await client.ok("lease.request", phone), "lease", "id");
  const pushed = await operator.push("event", (payload) => at(payload, "event", "event") === "lease.granted");
  expect(pushed.payload).toMatchObject({ subscriptionId, event: { payload: { leaseId, source: "provisioned" } } });
  const replayed = await operator.ok("events.replay", { afterSeq: seq });
  const names = (at(replayed, "events") as { event: string }[]).map((event) => event.event);
  expect(names).toEqual(
    expect.arrayContaining(["lease.requested", "device.provisioned", "device.ready", "lease.granted"]),
  );
  const all = await operator.ok("events.replay", { limit: 1 });
  expect(all).toMatchObject({ more: true, events: [expect.anything()] });
  await operator.ok("events.unsubscribe");
  await client.ok("lease.release", { leaseId });
  await operator.ok("list.get");
  expect(
    operator.frames.some((frame) => frame.push === "event" && at(frame.payload, "event", "event") === "lease.released"),
  ).toBe(false);
});

test("records are for an admin, what everybody may see names no platform id", async () => {
  const { agent, admin } = await bench.start();
  const [client, operator] = [await agent("a"), await admin()];
  const grant = await client.ok("lease.request", phone);
  const udid = text(grant, "device", "driverDeviceId");
  expect(JSON.stringify(await client.ok("status.get"))).not.toContain(udid);
  expect(await operator.ok("list.get", { kind: "devices" })).toMatchObject({ devices: [{ driverDeviceId: udid }] });
  expect(await operator.ok("list.get")).toMatchObject({ devices: [{}], leases: [{}], requests: [] });
  expect(await operator.ok("config.get")).toMatchObject({ lease: { defaultTtlMs: 900_000 } });
});
