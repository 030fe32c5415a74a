import { afterEach, beforeEach, expect, test } from "vitest";
import { at, must, TestBench, text } from "./daemon.fixture.ts";

let bench: TestBench;
beforeEach(() => {
  bench = new TestBench();
});
afterEach(async () => bench.close());

const phone = { platform: "ios", model: "iPhone 17" } as const;

/** A daemon with one device that was given back and one that is leased. */
async function twoDevices() {
  const daemon = await bench.start({ fake: { cleansTo: "ready" } });
  const [a, b] = [await daemon.agent("a"), await daemon.agent("b")];
  const [leased, idle] = [await a.ok("lease.request", phone), await b.ok("lease.request", phone)];
  await b.ok("lease.release", { leaseId: text(idle, "lease", "id") });
  const idOf = (grant: unknown): string => text(grant, "device", "id");
  const isReady = (device: unknown): boolean => at(device, "id") === idOf(idle) && at(device, "state") === "ready";
  for (let ready = false; !ready;) {
    const devices = at(await a.ok("status.get"), "devices");
    ready = Array.isArray(devices) && devices.some(isReady);
  }
  const operator = await daemon.admin();
  const inWorld = (grant: unknown) => must(daemon.driver.world.get(text(grant, "device", "driverDeviceId")));
  return { ...daemon, a, operator, leased, idle, idOf, inWorld };
}

test("a machine as it should be has no findings", async () => {
  const { a } = await twoDevices();
  expect(await a.ok("doctor.run")).toEqual({ findings: [], mends: [] });
});

test("a device that is gone is found; it is forgotten on demand, a leased one never", async () => {
  const { a, operator, driver, idle, leased, idOf } = await twoDevices();
  driver.world.clear();
  const found = await a.ok("doctor.run");
  expect(found).toEqual({
    findings: expect.arrayContaining([
      { kind: "registry-device-missing", deviceId: idOf(idle), platform: "ios" },
      { kind: "registry-device-missing", deviceId: idOf(leased), platform: "ios" },
    ]),
    mends: [{ action: "forget-device", target: idOf(idle), done: false }],
  });
  expect(await operator.ok("list.get", { kind: "devices" })).toMatchObject({ devices: [{}, {}] });
  expect(at(await operator.ok("doctor.run", { fix: true }), "mends")).toEqual([
    { action: "forget-device", target: idOf(idle), done: true },
  ]);
  expect(await operator.ok("list.get", { kind: "devices" })).toMatchObject({ devices: [{ id: idOf(leased) }] });
});

test("a device that somebody shut down is found, and its state corrected", async () => {
  const { operator, idle, idOf, inWorld } = await twoDevices();
  inWorld(idle).runState = "stopped";
  expect(await operator.ok("doctor.run", { fix: true })).toEqual({
    findings: [
      {
        kind: "foreign-state-change",
        deviceId: idOf(idle),
        platform: "ios",
        expected: "running",
        observed: "stopped",
      },
    ],
    mends: [{ action: "correct-state", target: idOf(idle), done: true }],
  });
  expect(await operator.ok("doctor.run")).toEqual({ findings: [], mends: [] });
});

test("marks that are gone or foreign are found", async () => {
  const { a, idle, leased, inWorld, idOf } = await twoDevices();
  inWorld(idle).mark = "another";
  inWorld(leased).erased = true;
  const of = (grant: unknown, detail: string) => ({
    kind: "foreign-provenance-change",
    deviceId: idOf(grant),
    platform: "ios",
    detail,
  });
  expect(at(await a.ok("doctor.run"), "findings")).toEqual(
    expect.arrayContaining([of(idle, "mark-mismatch"), of(leased, "erased")]),
  );
  inWorld(idle).mark = undefined;
  expect(at(await a.ok("doctor.run"), "findings")).toEqual(expect.arrayContaining([of(idle, "durable-mark-missing")]));
});

test("orphans are found; only those that our mark proves are removed, and only on demand", async () => {
  const { a, operator, driver } = await twoDevices();
  const orphan = { runState: "stopped", erased: false } as const;
  driver.world.set("U-MARKED", { ...orphan, udid: "U-MARKED", name: "simlock-dev_lost", mark: "int_1" });
  driver.world.set("U-BARE", { ...orphan, udid: "U-BARE", name: "simlock-dev_other", mark: undefined });
  driver.world.set("U-NAMED", { ...orphan, udid: "U-NAMED", name: "Anna's phone", mark: "int_2" });
  const fixed = await operator.ok("doctor.run", { fix: true });
  expect(at(fixed, "findings")).toHaveLength(3);
  expect(at(fixed, "mends")).toEqual([{ action: "destroy-orphan", target: "U-MARKED", done: false }]);
  expect(driver.world.size).toBe(5);
  const purged = await operator.ok("doctor.run", { purgeOrphans: true });
  expect(at(purged, "mends")).toEqual([{ action: "destroy-orphan", target: "U-MARKED", done: true }]);
  expect([...driver.world.keys()]).toEqual(expect.arrayContaining(["U-BARE", "U-NAMED"]));
  expect(driver.world.has("U-MARKED")).toBe(false);
  expect(at(await a.ok("doctor.run"), "findings")).toHaveLength(2);
});

test("a platform that can't be read has one finding, and its devices do not count as missing", async () => {
  const { a, driver } = await twoDevices();
  driver.options = {
    before(step) {
      if (step === "read") throw new Error("cold");
    },
  };
  expect(await a.ok("doctor.run")).toEqual({
    findings: [{ kind: "unreadable", platform: "ios", message: expect.any(String) }],
    mends: [],
  });
});

test("work that stands still is found and quarantined on demand", async () => {
  const { agent, admin, driver } = await bench.start({
    config: { stalledTransition: { thresholdMultiplier: 1, minimumThresholdMs: 1 } },
  });
  const making = Promise.withResolvers<void>();
  driver.options = { before: async (step) => (step === "create" ? making.promise : undefined) };
  const client = await agent("a");
  client.begin("lease.request", phone);
  await client.push("progress");
  const operator = await admin();
  let found: unknown;
  do found = at(await operator.ok("doctor.run"), "findings", 0);
  while (found === undefined);
  expect(found).toMatchObject({ kind: "stalled-transition", state: "provisioning", platform: "ios" });
  expect(await client.ok("status.get")).toMatchObject({ devices: [{ stalled: true }] });
  expect(at(await operator.ok("doctor.run", { fix: true }), "mends")).toMatchObject([
    { action: "quarantine", done: true },
  ]);
  expect(await client.ok("status.get")).toMatchObject({ devices: [{ state: "quarantined" }, {}] });
  making.resolve();
});
