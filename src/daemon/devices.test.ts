import { afterEach, beforeEach, expect, test } from "vitest";
import { SimlockError, type AttachedDevice } from "../contract/index.ts";
import type { Driver, Observed } from "../devices/index.ts";
import { at, TestBench, text } from "./daemon.fixture.ts";
import { createFakeDriver } from "./fake-driver.ts";

let bench: TestBench;
beforeEach(() => {
  bench = new TestBench();
});
afterEach(async () => bench.close());

const failed = (code: string) => expect.objectContaining({ ok: false, error: expect.objectContaining({ code }) });

interface Shelf {
  readonly driver: Driver;
  readonly watching: boolean;
  /** Plugs devices in, serial to identity, and tells whoever watches. */
  plug(connected: Readonly<Record<string, string>>): void;
}

/** Phones that are plugged in by hand. */
function shelf(): Shelf {
  let connected: Readonly<Record<string, string>> = {};
  const watchers = new Set<(devices: readonly Observed[]) => void>();
  const observed = (): Observed[] =>
    Object.entries(connected).map(([serial, identity]) => ({
      driverDeviceId: identity,
      name: undefined,
      runState: "running",
      durableMark: undefined,
      erasableMark: undefined,
      address: serial,
      spec: undefined,
    }));
  const spec = { platform: "android", model: "Pixel 9", osVersion: "16" } as const;
  const driver: Driver = {
    ...createFakeDriver(),
    kind: "android",
    platform: "android",
    tools: ["adb"],
    catalog: async () => ({
      platform: "android",
      models: [],
      runtimes: [],
      modelRuntimes: {},
      modelAliases: {},
      modelClasses: {},
      classDefaults: {},
    }),
    read: async () => observed(),
    clean: async (device) => {
      const serial = Object.keys(connected).find((one) => connected[one] === device.driverDeviceId);
      if (serial === undefined) throw new SimlockError("DEVICE_UNAVAILABLE", "It is away.");
      return { state: "ready", strategy: "uninstall", address: serial };
    },
    environment: (_, address) => ({ ANDROID_SERIAL: address }),
    attached: {
      list: async (): Promise<AttachedDevice[]> =>
        Object.keys(connected).map((serial) => ({ platform: "android", serial, state: "device", leasable: true })),
      identify: async (serial) => {
        const id = connected[serial];
        if (id === undefined) throw new SimlockError("UNKNOWN_DEVICE", `No device ${serial} is connected.`);
        return { id, serial, spec, packages: ["com.android.settings"] };
      },
      watch(changed) {
        watchers.add(changed);
        changed(observed());
        return () => watchers.delete(changed);
      },
    },
  };
  return {
    driver,
    get watching() {
      return watchers.size > 0;
    },
    plug(next) {
      connected = next;
      for (const changed of watchers) changed(observed());
    },
  };
}

test("a device is enrolled, leased, followed to another serial, lost when it is pulled, and forgotten", async () => {
  const phones = shelf();
  phones.plug({ R58: "hw-1", OTHER: "hw-2" });
  const { agent, admin, home } = await bench.start({ more: [phones.driver] });
  const [client, operator] = [await agent("a"), await admin()];
  expect(phones.watching).toBe(false);
  expect(await client.call("lease.request", { platform: "android", physical: true })).toMatchObject({ ok: false });

  const added = await operator.ok("device.add", { serial: "R58" });
  expect(added).toMatchObject({ serial: "R58", spec: { model: "Pixel 9" }, shared: false, already: false });
  expect(await operator.ok("device.add", { serial: "R58" })).toMatchObject({ already: true });
  const deviceId = text(added, "deviceId");
  expect(await client.ok("device.list")).toEqual({
    devices: [
      { platform: "android", serial: "R58", state: "device", leasable: true, enrolled: deviceId, shared: false },
      { platform: "android", serial: "OTHER", state: "device", leasable: true },
    ],
  });

  const grant = await client.ok("lease.request", { platform: "android", physical: true });
  expect(grant).toMatchObject({
    device: { id: deviceId, address: "R58", physical: true },
    environment: { ANDROID_SERIAL: "R58" },
  });
  expect(await operator.call("device.remove", { device: deviceId })).toEqual(failed("DEVICE_IN_USE"));

  // It comes back under another serial, and somebody else's device has its old one.
  phones.plug({ R59: "hw-1", R58: "hw-2" });
  expect(await client.ok("device.list")).toEqual({
    devices: [
      expect.objectContaining({ serial: "R59", enrolled: deviceId }),
      { platform: "android", serial: "R58", state: "device", leasable: true },
    ],
  });
  phones.plug({ R58: "hw-2" });
  phones.plug({ R58: "hw-2" });
  const lost = await client.push("lease-lost");
  expect(lost.payload).toMatchObject({ leaseId: text(grant, "lease", "id"), reason: "device-lost" });
  expect(at(await client.ok("device.list"), "devices", 1)).toMatchObject({
    enrolled: deviceId,
    state: "absent",
    leasable: false,
  });

  expect(await operator.call("device.remove", { device: "R58" })).toEqual(failed("UNKNOWN_DEVICE"));
  phones.plug({ R77: "hw-1" });
  expect(await operator.ok("device.remove", { device: "R77" })).toEqual({ deviceId });
  expect(home.virtual).toBe(false);
  while (phones.watching) await client.ok("lease.list");
});

test("what can't be enrolled is refused with the driver's own words", async () => {
  const phones = shelf();
  const { admin, agent } = await bench.start({ more: [phones.driver] });
  expect(await (await admin()).call("device.add", { serial: "none" })).toEqual(failed("UNKNOWN_DEVICE"));
  expect(await (await agent()).call("device.add", { serial: "none" })).toEqual(failed("FORBIDDEN"));
});

test("without a driver for attached devices each operation says so", async () => {
  const { admin } = await bench.start();
  const operator = await admin();
  for (const [type, payload] of [
    ["device.add", { serial: "x" }],
    ["device.list", {}],
    ["device.remove", { device: "x" }],
  ] as const) {
    expect(await operator.call(type, payload)).toEqual(failed("NO_DRIVER"));
  }
});
