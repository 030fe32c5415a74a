import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { setFaults } from "../../index.ts";
import { macForTest } from "../mac-for-test.ts";
import type { TestMac } from "../mac-for-test.ts";

let mac: TestMac;
beforeAll(() => {
  mac = macForTest();
});
afterAll(() => mac.dispose());

test("a fresh Mac has a handful of shut-down simulators on several runtimes", async () => {
  const { devices } = JSON.parse(await mac.say("list", "-j", "devices", "available"));
  const rows = Object.entries<readonly { name: string; state: string; isAvailable: boolean }[]>(devices).flatMap(
    ([runtime, list]) =>
      list.map((device) => [runtime.split(".").at(-1), device.name, device.state, device.isAvailable]),
  );
  expect(rows.length).toBeGreaterThanOrEqual(8);
  expect(rows).toContainEqual(["iOS-26-1", "iPhone 17", "Shutdown", true]);
  expect(rows).toContainEqual(["iOS-18-5", "iPhone SE (3rd generation)", "Shutdown", true]);
  expect(new Set(rows.map(([runtime]) => runtime)).size).toBeGreaterThanOrEqual(5);
  expect(new Set(rows.map(([, , state]) => state))).toEqual(new Set(["Shutdown"]));
});

test("today's listing has today's keys, and only the sections that were asked for", async () => {
  const all = JSON.parse(await mac.say("list", "-j"));
  expect(Object.keys(all)).toEqual(["devicetypes", "runtimes", "devices", "pairs"]);
  const two = JSON.parse(await mac.say("list", "-j", "devicetypes", "runtimes"));
  expect(Object.keys(two)).toEqual(["devicetypes", "runtimes"]);
  expect(two.devicetypes.find((type: { name: string }) => type.name === "iPhone XR")).toEqual({
    productFamily: "iPhone",
    bundlePath: "/Library/Developer/CoreSimulator/Profiles/DeviceTypes/iPhone XR.simdevicetype",
    maxRuntimeVersion: 0x12ffff,
    maxRuntimeVersionString: "18.255.255",
    identifier: "com.apple.CoreSimulator.SimDeviceType.iPhone-XR",
    modelIdentifier: "iPhone11,8",
    minRuntimeVersionString: "12.0.0",
    minRuntimeVersion: 0x0c0000,
    name: "iPhone XR",
  });
  const newest = two.runtimes.find((runtime: { identifier: string }) => runtime.identifier.endsWith("iOS-26-1"));
  expect(newest).toMatchObject({ version: "26.1", platform: "iOS", isAvailable: true, buildversion: "23B86" });
  const supported = newest.supportedDeviceTypes.map((type: { name: string }) => type.name);
  expect(supported).toContain("iPhone 17");
  expect(supported).not.toContain("iPhone XR");
  expect(supported).not.toContain("Apple Vision Pro");
  const first = all.devices["com.apple.CoreSimulator.SimRuntime.iOS-17-5"][0];
  expect(Object.keys(first)).toEqual([
    "dataPath",
    "dataPathSize",
    "logPath",
    "udid",
    "isAvailable",
    "deviceTypeIdentifier",
    "state",
    "name",
  ]);
  expect(first.dataPath).toBe(join(mac.deviceSet, first.udid, "data"));
  // A runtime without devices is listed as well.
  expect(all.devices["com.apple.CoreSimulator.SimRuntime.iOS-26-0"]).toEqual([]);
});

test("a device that was booted says when, and the term booted finds it", async () => {
  const udid = await mac.booted("stamped");
  const { devices } = JSON.parse(await mac.say("list", "-j", "devices", "booted"));
  const [device] = devices["com.apple.CoreSimulator.SimRuntime.iOS-26-1"];
  expect(device).toMatchObject({ udid, state: "Booted", lastBootedAt: expect.stringMatching(/^\d{4}-.*Z$/) });
});

test("the text form has the tool's headings, indents and blanks", async () => {
  const { stdout } = await mac.simctl("list", "devices", "iPhone 15");
  expect(stdout).toMatch(
    /^== Devices ==\n-- iOS 17\.5 --\n {4}iPhone 15 \([0-9A-F-]{36}\) \(Shutdown\) \n-- iOS 18\.5 --\n/,
  );
  const types = (await mac.simctl("list", "devicetypes", "Air")).stdout;
  expect(types).toContain("== Device Types ==\niPhone Air (com.apple.CoreSimulator.SimDeviceType.iPhone-Air)\n");
  const runtimes = (await mac.simctl("list", "runtimes", "iOS 26.0")).stdout;
  expect(runtimes).toBe("== Runtimes ==\niOS 26.0 (26.0 - 23A343) - com.apple.CoreSimulator.SimRuntime.iOS-26-0\n");
});

test("slashes are escaped unless -e, and a file takes the listing", async () => {
  expect((await mac.simctl("list", "-j", "devices")).stdout).toContain("\\/data");
  expect((await mac.simctl("list", "-j", "-e", "devices")).stdout).not.toContain("\\/");
  const file = join(mac.files, "list.json");
  expect(await mac.simctl("list", `--json-output=${file}`, "pairs")).toMatchObject({ exit: 0, stdout: "" });
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ pairs: {} });
});

test("the older forms have runtime names as keys, availability as text, and few fields", async () => {
  setFaults(mac.root, {
    pace: "none",
    format: "legacy",
    missingRuntimes: ["com.apple.CoreSimulator.SimRuntime.iOS-17-5"],
  });
  const legacy = JSON.parse(await mac.say("list", "-j"));
  expect(legacy.devices["iOS 18.5"][0]).toEqual({
    availability: "(available)",
    state: "Shutdown",
    name: "iPhone 16 Pro",
    udid: expect.any(String),
  });
  expect(legacy.devices["com.apple.CoreSimulator.SimRuntime.iOS-17-5"][0]).toMatchObject({
    availability: "(unavailable, runtime profile not found)",
  });
  expect(legacy.runtimes[0]).toMatchObject({ availability: "(available)", name: "iOS 18.5" });
  expect(legacy.devicetypes[0]).toEqual({ name: expect.any(String), identifier: expect.any(String) });
  setFaults(mac.root, { pace: "none", format: "mixed" });
  const mixed = JSON.parse(await mac.say("list", "-j", "devices"));
  expect(mixed.devices["com.apple.CoreSimulator.SimRuntime.iOS-18-5"][0]).toMatchObject({
    availability: "(available)",
    isAvailable: true,
  });
  setFaults(mac.root, { pace: "none" });
});

test("without its runtime a device is unavailable: listed with the reason, never booted, deleted as such", async () => {
  setFaults(mac.root, { pace: "none", missingRuntimes: ["com.apple.CoreSimulator.SimRuntime.iOS-18-5"] });
  const { devices } = JSON.parse(await mac.say("list", "-j", "devices"));
  const lost = devices["com.apple.CoreSimulator.SimRuntime.iOS-18-5"];
  expect(lost).toHaveLength(2);
  expect(lost[0]).toMatchObject({
    isAvailable: false,
    availabilityError: 'runtime profile not found using "System" match policy',
  });
  const text = (await mac.simctl("list", "devices", "iPhone SE")).stdout;
  expect(text).toContain(
    "-- Unavailable: com.apple.CoreSimulator.SimRuntime.iOS-18-5 --\n    iPhone SE (3rd generation) (",
  );
  expect(text).toContain(') (Shutdown) (unavailable, runtime profile not found using "System" match policy) \n');
  expect((await mac.simctl("boot", lost[0].udid)).exit).toBe(145);
  await mac.say("delete", "unavailable");
  expect(Object.keys(JSON.parse(await mac.say("list", "-j", "devices")).devices).join()).not.toContain("iOS-18-5");
  setFaults(mac.root, { pace: "none" });
  const after = JSON.parse(await mac.say("list", "-j", "devices"));
  expect(after.devices["com.apple.CoreSimulator.SimRuntime.iOS-18-5"]).toEqual([]);
});

test("the disk images of runtimes are listed by id", async () => {
  const images = JSON.parse(await mac.say("runtime", "list", "-j"));
  expect(Object.values(images)).toContainEqual(
    expect.objectContaining({
      platformIdentifier: "com.apple.platform.iphonesimulator",
      version: "26.1",
      state: "Ready",
      kind: "Disk Image",
    }),
  );
  const matches = JSON.parse(await mac.say("runtime", "match", "list", "-j"));
  expect(matches["iphoneos26.1"]).toMatchObject({ chosenRuntimeBuild: "23B86" });
  expect((await mac.simctl("runtime", "delete", "all")).exit).toBe(1);
});
