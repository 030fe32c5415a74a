import { expect, test } from "vitest";
import { SimlockError } from "../../contract/index.ts";
import { failure, forever, own, RecordedMac, said, timedOut } from "./recorded-mac.ts";

test("twenty readings at once are one listing, and the next reading is a new one", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  await mac.made(driver);
  const readings = await Promise.all(Array.from({ length: 20 }, () => driver.read()));
  expect(mac.count("list devices")).toBe(1);
  expect(readings.map((devices) => devices.length)).toEqual(Array.from({ length: 20 }, () => 1));
  await driver.read();
  expect(mac.count("list devices")).toBe(2);
});

test("a boot check does not take a listing that began before it", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  const stale = mac.listing();
  const gate = Promise.withResolvers<void>();
  mac.next("list devices", async () => {
    await gate.promise;
    return said(0, "", stale);
  });
  const reading = driver.read();
  await expect.poll(() => mac.count("list devices")).toBe(1);
  mac.entry(device.driverDeviceId).name = "renamed meanwhile";
  const boot = failure(driver.boot(device, forever()));
  gate.resolve();
  expect((await reading).map((one) => one.name)).toEqual(["simlock-dev_a"]);
  expect((await boot).details).toMatchObject({ provenance: "renamed" });
});

test("of the default set only what is ours by name or mark is shown", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.add("iPhone 17", "Booted");
  mac.add("simlock-test");
  mac.add("simlock-dev_a copy");
  const theirs = mac.add("simlock-dev_theirs");
  mac.writeMark(theirs.udid, "durable", { token: "t", udid: theirs.udid, instanceId: "instance-b", writtenAt: 1 });
  const renamed = mac.add("renamed");
  mac.writeMark(renamed.udid, "durable", { token: "r", udid: renamed.udid, instanceId: "instance-a", writtenAt: 1 });
  const unmarked = mac.add("simlock-dev_unmarked", "Booting");
  const clone = mac.add("Clone");
  mac.writeMark(clone.udid, "erasable", mac.readMark(device.driverDeviceId, "erasable"));
  const read = await driver.read();
  expect(
    read.map(({ driverDeviceId, name, durableMark, erasableMark, runState }) => [
      driverDeviceId,
      name,
      durableMark,
      erasableMark,
      runState,
    ]),
  ).toEqual([
    [device.driverDeviceId, "simlock-dev_a", "token-a", "token-a", "stopped"],
    [renamed.udid, "renamed", "r", undefined, "stopped"],
    [unmarked.udid, "simlock-dev_unmarked", undefined, undefined, "transitioning"],
  ]);
});

test("an erase behind our back shows as a durable mark without an erasable one", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.good(["erase", device.driverDeviceId]);
  expect(await driver.read()).toMatchObject([{ durableMark: "token-a", erasableMark: undefined }]);
});

test("a device's spec is known once the device types were listed", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  mac.add("simlock-dev_a");
  expect((await driver.read())[0]?.spec).toBeUndefined();
  await driver.catalog();
  expect((await driver.read())[0]?.spec).toEqual({ platform: "ios", model: "iPhone 17", osVersion: "26.0" });
});

test("an older listing without dataPath finds the marks in the default set's folder", async () => {
  using mac = new RecordedMac();
  const folder = `${mac.folder}/Library/Developer/CoreSimulator/Devices`;
  const udid = "CCCCCCCC-0000-4000-8000-000000000001";
  const { mkdirSync, writeFileSync } = await import("node:fs");
  mkdirSync(`${folder}/${udid}/data`, { recursive: true });
  writeFileSync(
    `${folder}/${udid}/simlock-mark.json`,
    JSON.stringify({ token: "token-a", udid, instanceId: "instance-a", writtenAt: 1 }),
  );
  mac.entries.push({ udid, name: "simlock-dev_a", state: "Shutdown" });
  expect(await mac.driver().read()).toMatchObject([{ durableMark: "token-a" }]);
});

test("a listing that can't be read is an error and never an empty list", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  mac.next("list devices", timedOut("list"));
  expect((await failure(driver.read())).code).toBe("TOOL_FAILED");
  mac.next("list devices", said(1, "broken"));
  expect((await failure(driver.read())).code).toBe("TOOL_FAILED");
});

const RELOCATED =
  "simctl[12:34] CoreSimulator detected Xcode.app relocation or CoreSimulatorService version change. Framework path (/A) and version (1010.10) does not match existing job path (/B) and version (1048.1).";

test("a listing that the service's change spoilt is asked once more, after a pause", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  await mac.made(driver);
  const before = mac.clock.now();
  mac.next("list devices", said(0, RELOCATED));
  expect(await driver.read()).toHaveLength(1);
  expect(mac.count("list devices")).toBe(2);
  expect(mac.clock.now() - before).toBe(1_000);
});

test("a service that stays another Xcode's is told with both versions", async () => {
  using mac = new RecordedMac();
  mac.next("list devices", said(1, RELOCATED), said(1, RELOCATED));
  const error = await failure(mac.driver().read());
  expect(error.message).toContain("1010.10 here, 1048.1 running");
  expect(mac.count("list devices")).toBe(2);
});

test("a warning on stderr beside a good answer is not part of it", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  await mac.made(driver);
  mac.next("list devices", said(0, RELOCATED, mac.listing()));
  expect(await driver.read()).toHaveLength(1);
  expect(mac.count("list devices")).toBe(1);
});

test("without Xcode every question says that it is missing, and how to choose it", async () => {
  using mac = new RecordedMac();
  mac.next("list devices", said(72, 'xcrun: error: unable to find utility "simctl", not a developer tool or in PATH'));
  const error = await failure(mac.driver().read());
  expect(error).toMatchObject({ code: "TOOL_MISSING", hint: expect.stringContaining("xcode-select") });
});

test("the first listing may take minutes, the next ones half a minute", async () => {
  using mac = new RecordedMac();
  const limits: number[] = [];
  const driver = mac.driver({
    call: (call) => {
      limits.push(call.timeoutMs);
      return mac.call(call);
    },
  });
  await driver.catalog();
  await driver.read();
  expect(limits).toEqual([240_000, 30_000]);
});

test("the default set has no --set, a set of our own stands in every command and in the grant", async () => {
  using mac = new RecordedMac();
  const plain = mac.driver({ xcrun: { file: "/usr/bin/xcrun", prefix: ["--log"], env: { A: "1" } } });
  expect(plain.command("simctl")).toEqual({ file: "/usr/bin/xcrun", prefix: ["--log", "simctl"], env: { A: "1" } });
  expect(plain.environment(own("a"), "U")).toEqual({ SIMLOCK_DEVICE_UDID: "U" });
  const deviceSet = `${mac.folder}/own set`;
  const contained = mac.driver({ deviceSet });
  expect(contained.command("simctl").prefix).toEqual(["simctl", "--set", deviceSet]);
  expect(contained.environment(own("a"), "U")).toEqual({ SIMLOCK_DEVICE_UDID: "U", SIMLOCK_IOS_DEVICE_SET: deviceSet });
  mac.next("--set", said(0, "", mac.listing()));
  expect(await contained.read()).toEqual([]);
  expect(mac.calls.at(-1)).toEqual(["--set", deviceSet, "list", "-j", "devices"]);
});

test("a tool that reaches no simulator is refused", () => {
  using mac = new RecordedMac();
  expect(() => mac.driver().command("adb")).toThrow(SimlockError);
});

test("a tool gets the variables it needs and none that could choose another program", async () => {
  using mac = new RecordedMac();
  let env: Readonly<Record<string, string>> = {};
  process.env["DYLD_INSERT_LIBRARIES"] = "/tmp/x.dylib";
  try {
    const driver = mac.driver({
      call: (call) => {
        env = call.env;
        return mac.call(call);
      },
    });
    await driver.read();
  } finally {
    delete process.env["DYLD_INSERT_LIBRARIES"];
  }
  expect(env["PATH"]).toBe(process.env["PATH"]);
  expect(env["HOME"]).toBe(mac.folder);
  expect(env).not.toHaveProperty("DYLD_INSERT_LIBRARIES");
});

test("what a command may reach costs no listing, and a device whose mark was changed is not reached", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  expect(await driver.target(device)).toEqual({ kind: "simulator", udid: device.driverDeviceId });
  mac.removeMark(device.driverDeviceId, "durable");
  expect((await failure(driver.target(device))).code).toBe("DEVICE_UNAVAILABLE");
  expect((await failure(driver.target(own("unmade")))).code).toBe("DEVICE_UNAVAILABLE");
  expect(mac.calls).toEqual([]);
});

test("a measured boot changes the estimate", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const device = await mac.made(driver);
  mac.next("bootstatus", async (args) => {
    await mac.clock.sleep(10_000);
    return mac.good(args);
  });
  expect(driver.estimates(device.spec).bootMs).toBe(60_000);
  await driver.boot(device, forever());
  expect(driver.estimates(device.spec).bootMs).toBe(15_000);
});

test("what runs when the driver is disposed of ends as cancelled, and nothing begins after it", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver({
    call: ({ signal }) =>
      new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
  });
  const reading = failure(driver.read());
  await driver.dispose();
  expect((await reading).code).toBe("CANCELLED");
  expect((await failure(driver.catalog())).code).toBe("CANCELLED");
});

test("one asker that is cancelled does not take the listing from the others", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const gate = Promise.withResolvers<void>();
  mac.next("list devices", async (args) => {
    await gate.promise;
    return mac.good(args);
  });
  const leaving = new AbortController();
  const one = failure(driver.read(leaving.signal));
  const other = driver.read();
  await expect.poll(() => mac.count("list devices")).toBe(1);
  leaving.abort();
  expect((await one).code).toBe("CANCELLED");
  gate.resolve();
  expect(await other).toEqual([]);
});

test("Xcode's version and build are told; a version that can't be had is an empty list", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  expect(await driver.hostTools()).toEqual([{ platform: "ios", name: "xcode", version: "26.0.1", build: "17A400" }]);
  mac.next("xcodebuild", said(1, "xcode-select: error: tool 'xcodebuild' requires Xcode"));
  expect(await driver.hostTools()).toEqual([]);
  mac.next("xcodebuild", new SimlockError("TOOL_MISSING", "xcrun is not there."));
  expect(await driver.hostTools()).toEqual([]);
});

test("at most three erases run at once, and they don't hold up short commands", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  const devices = [];
  for (const id of ["a", "b", "c", "d", "e"]) devices.push(await mac.made(driver, own(id)));
  const gate = Promise.withResolvers<void>();
  const slow = async (args: readonly string[]) => {
    await gate.promise;
    return mac.good(args);
  };
  mac.next("erase", slow, slow, slow, slow);
  const [last, ...dirty] = devices.toReversed();
  const cleaning = dirty.map((device) => driver.clean(device, forever()));
  await expect.poll(() => mac.count("erase")).toBe(3);
  if (last === undefined) throw new Error("no device");
  await driver.boot(last, forever());
  expect(mac.count("erase")).toBe(3);
  gate.resolve();
  await Promise.all(cleaning);
  expect(mac.count("erase")).toBe(4);
});
