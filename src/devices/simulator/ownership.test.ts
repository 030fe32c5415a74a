import { expect, test } from "vitest";
import type { Driver, OwnDevice } from "../driver.ts";
import { failure, forever, own, RecordedMac, refusal, said, timedOut } from "./recorded-mac.ts";
import type { Made } from "./recorded-mac.ts";

const ACTS: readonly (readonly [string, (driver: Driver, device: OwnDevice) => Promise<unknown>])[] = [
  ["boot", (driver, device) => driver.boot(device, forever())],
  ["clean", (driver, device) => driver.clean(device, forever())],
  ["shutdown", (driver, device) => driver.shutdown(device, forever())],
  ["destroy", (driver, device) => driver.destroy(device, forever())],
];

const TAMPERINGS: readonly (readonly [string, string, (mac: RecordedMac, device: Made) => void])[] = [
  ["was renamed", "renamed", (mac, device) => void (mac.entry(device.driverDeviceId).name = "My iPhone")],
  ["lost its durable mark", "durable-mark-missing", (mac, device) => mac.removeMark(device.driverDeviceId, "durable")],
  ["has a damaged mark", "mark-mismatch", (mac, device) => mac.writeMark(device.driverDeviceId, "durable", "{half")],
  [
    "carries the mark of another device",
    "mark-mismatch",
    (mac, device) =>
      mac.writeMark(device.driverDeviceId, "durable", {
        token: device.mark,
        udid: "BBBBBBBB-0000-4000-8000-000000000001",
        instanceId: "instance-a",
        writtenAt: 1,
      }),
  ],
  [
    "carries another token",
    "mark-mismatch",
    (mac, device) =>
      mac.writeMark(device.driverDeviceId, "durable", {
        token: "token-z",
        udid: device.driverDeviceId,
        instanceId: "instance-a",
        writtenAt: 1,
      }),
  ],
  [
    "was marked by another home",
    "mark-mismatch",
    (mac, device) =>
      mac.writeMark(device.driverDeviceId, "durable", {
        token: device.mark,
        udid: device.driverDeviceId,
        instanceId: "instance-b",
        writtenAt: 1,
      }),
  ],
];

test.each(
  TAMPERINGS.flatMap(([how, doubt, tamper]) => ACTS.map(([name, act]) => [name, how, doubt, tamper, act] as const)),
)("%s touches nothing of a device that %s", async (_name, _how, doubt, tamper, act) => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.entry(device.driverDeviceId).state = "Booted";
  tamper(mac, device);
  const erasable = mac.readMark(device.driverDeviceId, "erasable");
  const error = await failure(act(driver, device));
  expect(error).toMatchObject({ code: "DEVICE_UNAVAILABLE", details: { provenance: doubt } });
  expect(new Set(mac.verbs())).toEqual(new Set(["list devices"]));
  expect(mac.entry(device.driverDeviceId).state).toBe("Booted");
  expect(mac.readMark(device.driverDeviceId, "erasable")).toEqual(erasable);
});

test("two devices whose marks were swapped are both left alone", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const a = await mac.made(driver, own("a"));
  const b = await mac.made(driver, own("b"));
  const [markA, markB] = [mac.readMark(a.driverDeviceId, "durable"), mac.readMark(b.driverDeviceId, "durable")];
  mac.writeMark(a.driverDeviceId, "durable", markB);
  mac.writeMark(b.driverDeviceId, "durable", markA);
  for (const device of [a, b]) {
    expect((await failure(driver.destroy(device, forever()))).code).toBe("DEVICE_UNAVAILABLE");
  }
  expect((await driver.read()).map((device) => device.durableMark)).toEqual([
    "mark-of-another-device",
    "mark-of-another-device",
  ]);
});

test("cleaning shuts down, erases, and marks anew", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.entry(device.driverDeviceId).state = "Booted";
  expect(await driver.clean(device, forever())).toEqual({ state: "shutdown", strategy: "erase" });
  expect(mac.verbs().filter((verb) => verb !== "list devices")).toEqual(["shutdown", "erase"]);
  expect(mac.readMark(device.driverDeviceId, "durable")).toMatchObject({ token: "token-a" });
  expect(mac.readMark(device.driverDeviceId, "erasable")).toMatchObject({ token: "token-a" });
});

test("an erase that changed nothing is not believed", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.next("erase", said(0, ""));
  expect((await failure(driver.clean(device, forever()))).code).toBe("TOOL_FAILED");
});

test("an erase that changed nothing is noticed even when the holder had removed the mark", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.removeMark(device.driverDeviceId, "erasable");
  mac.next("erase", said(0, ""));
  expect((await failure(driver.clean(device, forever()))).code).toBe("TOOL_FAILED");
});

test.each([146, 165, 405])(
  "an erase refused with code %i because somebody booted the device is done after a shutdown",
  async (code) => {
    using mac = new RecordedMac();
    const driver = mac.driver();
    const device = await mac.made(driver);
    mac.next("erase", () => {
      mac.entry(device.driverDeviceId).state = "Booted";
      return refusal("Unable to erase contents and settings in current state: Booted", code);
    });
    expect(await driver.clean(device, forever())).toEqual({ state: "shutdown", strategy: "erase" });
    expect([mac.count("erase"), mac.count("shutdown")]).toEqual([2, 1]);
  },
);

test("an erase that was done before a crash is done again and marked", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.good(["erase", device.driverDeviceId]);
  await driver.clean(device, forever());
  expect(mac.readMark(device.driverDeviceId, "erasable")).toMatchObject({ token: "token-a" });
});

test.each([405, 164])("shutting down a device that is down is a success, with code %i", async (code) => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  await driver.shutdown(device, forever());
  expect(mac.count("shutdown")).toBe(0);
  mac.entry(device.driverDeviceId).state = "Booted";
  mac.next("shutdown", () => {
    mac.entry(device.driverDeviceId).state = "Shutdown";
    return refusal("Unable to shutdown device in current state: Shutdown", code);
  });
  await driver.shutdown(device, forever());
  expect(mac.count("shutdown")).toBe(1);
});

test("a shutdown that passed its time limit and worked is a success; one that did not work is none", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.entry(device.driverDeviceId).state = "Booted";
  mac.next("shutdown", timedOut("shutdown"));
  expect((await failure(driver.shutdown(device, forever()))).message).toContain("still Booted");
  mac.next("shutdown", () => {
    mac.entry(device.driverDeviceId).state = "Shutdown";
    throw timedOut("shutdown");
  });
  await driver.shutdown(device, forever());
});

test("destroying shuts down, deletes by UDID, and sees that the device is gone", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.entry(device.driverDeviceId).state = "Booted";
  await driver.destroy(device, forever());
  expect(mac.entries).toEqual([]);
  expect(mac.calls).toContainEqual(["delete", device.driverDeviceId]);
  await driver.destroy(device, forever());
  expect(mac.count("delete")).toBe(1);
});

test("a device that is gone by the time it is deleted is gone", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.next("delete", () => {
    mac.entries.length = 0;
    return said(164, "Invalid device: x");
  });
  await expect(driver.destroy(device, forever())).resolves.toBeUndefined();
});

test("a delete that goes on after its command has ended is waited for", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  const before = said(0, "", mac.listing());
  mac.next("list devices", before, before, before);
  await driver.destroy(device, forever());
  expect(mac.count("list devices")).toBe(4);
});

test("a delete that changed nothing is not believed", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.next("delete", said(0, ""));
  expect((await failure(driver.destroy(device, forever()))).message).toContain("still listed");
});

test("one listing that lacks the device does not count as gone", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.next("list devices", said(0, "", '{"devices":{}}'));
  await driver.destroy(device, forever());
  expect(mac.count("delete")).toBe(1);
});

test("a device whose making was interrupted is found by its exact name, marked or not", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const { driverDeviceId } = await mac.made(driver);
  mac.add("simlock-dev_b");
  mac.add("simlock-dev_b2");
  mac.add("iPhone 17");
  await driver.destroy(own("a"), forever());
  await driver.destroy(own("b"), forever());
  await driver.destroy(own("never-made"), forever());
  expect(mac.entries.map((entry) => entry.name)).toEqual(["simlock-dev_b2", "iPhone 17"]);
  expect(mac.calls.filter(([verb]) => verb === "delete").map((args) => args[1])).toContain(driverDeviceId);
});

test("a device of our name with somebody else's mark is not destroyed, with a UDID or without", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const { udid } = mac.add("simlock-dev_a");
  mac.writeMark(udid, "durable", { token: "other", udid, instanceId: "instance-a", writtenAt: 1 });
  expect((await failure(driver.destroy(own("a"), forever()))).code).toBe("DEVICE_UNAVAILABLE");
  expect((await failure(driver.destroy(own("a", { driverDeviceId: udid }), forever()))).code).toBe(
    "DEVICE_UNAVAILABLE",
  );
  expect(mac.count("delete")).toBe(0);
});

test("a clone of a device of ours carries its erasable mark and is not ours for that", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  const clone = mac.add("simlock-dev_a");
  mac.writeMark(clone.udid, "erasable", mac.readMark(device.driverDeviceId, "erasable"));
  await failure(driver.destroy(own("a"), forever()));
  await failure(driver.destroy(own("a", { driverDeviceId: clone.udid }), forever()));
  expect(mac.entries).toHaveLength(2);
});
