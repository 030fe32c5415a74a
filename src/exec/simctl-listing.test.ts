import { assert, property, string } from "fast-check";
import { expect, test } from "vitest";
import { SimlockError } from "../contract/index.ts";
import { parseDevices, parseKinds, parseOutput, runStateOf, runtimeName } from "./simctl-listing.ts";

const UDID = "6B7E2A10-5C1F-4B7E-9E55-3F1C8E7A0001";
const listingOf = (...devices: readonly unknown[]) =>
  JSON.stringify({ devices: { "com.apple.CoreSimulator.SimRuntime.iOS-26-0": devices } });
const one = (device: object) =>
  parseDevices(listingOf({ udid: UDID, name: "x", state: "Shutdown", ...device })).devices[0];

test("text in front of the object is skipped and kept as a diagnostic, braces and all", () => {
  const noise =
    'Install Started\nInstall Failed: Error Domain=X Code=3 "denied" UserInfo={NSLocalizedDescription=denied}\n';
  const read = parseDevices(noise + listingOf({ udid: UDID, name: "iPhone 17", state: "Booted" }));
  expect(read.devices.map((device) => device.udid)).toEqual([UDID]);
  expect(read.noise).toBe(noise.trim());
});

test("a JSON object in the noise is not taken for the answer", () => {
  expect(parseOutput(`{"progress": 1}\n${listingOf()}`, "devices").root).toHaveProperty("devices");
});

test.each([
  ["nothing", ""],
  ["no JSON", "Install Started\n"],
  ["an object without devices", '{"runtimes": []}'],
  ["half an object", '{"devices": {"iOS 12.1": ['],
  ["devices that are no object", '{"devices": []}'],
  ["a group that is no list", '{"devices": {"iOS 12.1": {}}}'],
])("%s is an error and never an empty list", (_name, output) => {
  expect(() => parseDevices(output)).toThrow(SimlockError);
});

test("an answer to another question is told from an odd answer to this one", () => {
  expect(() => parseDevices('{"runtimes": []}')).toThrow('no object with "devices"');
  expect(() => parseDevices('{"devices": []}')).toThrow('"devices" is not an object');
});

test("output full of braces is given up in bounded time", () => {
  const began = performance.now();
  expect(() => parseOutput(`${'{"a":'.repeat(20_000)}}`, "devices")).toThrow(SimlockError);
  expect(performance.now() - began).toBeLessThan(10_000);
});

test("both forms of a runtime's key mean the same", () => {
  expect(runtimeName("iOS 12.1")).toEqual({ platform: "iOS", version: "12.1" });
  expect(runtimeName("com.apple.CoreSimulator.SimRuntime.iOS-12-1")).toEqual({ platform: "iOS", version: "12.1" });
  expect(runtimeName("com.apple.CoreSimulator.SimRuntime.xrOS-26-0")).toEqual({ platform: "xrOS", version: "26.0" });
  expect(runtimeName("com.apple.CoreSimulator.SimRuntime.carOS-1-0")).toEqual({ platform: undefined, version: "1.0" });
  expect(runtimeName("com.example.other")).toEqual({ platform: undefined, version: "com.example.other" });
});

test("availability follows the boolean, then the text, and is true otherwise", () => {
  expect(one({ availability: "(unavailable, runtime profile not found)" })?.unavailable).toBe(
    "unavailable, runtime profile not found",
  );
  expect(one({ isAvailable: false })?.unavailable).toBe("unavailable");
  expect(one({ isAvailable: false, availabilityError: "runtime profile not found" })?.unavailable).toBe(
    "runtime profile not found",
  );
  expect(one({ isAvailable: true, availability: "(unavailable, old text)" })?.unavailable).toBeUndefined();
  expect(one({ isAvailable: "NO" })?.unavailable).toBe("unavailable");
  expect(one({ availability: "(available)" })?.unavailable).toBeUndefined();
  expect(one({})?.unavailable).toBeUndefined();
});

test("a device that lacks what older Xcodes leave out is accepted", () => {
  expect(one({})).toEqual({
    udid: UDID,
    name: "x",
    state: "Shutdown",
    runState: "stopped",
    runtime: "com.apple.CoreSimulator.SimRuntime.iOS-26-0",
    deviceType: undefined,
    dataPath: undefined,
    unavailable: undefined,
  });
});

test("an entry that no command could reach does not hide the others", () => {
  const read = parseDevices(listingOf({ name: "no udid" }, "text", { udid: UDID, name: "good", state: "Booted" }));
  expect(read.devices.map((device) => device.name)).toEqual(["good"]);
});

test.each([
  "iPad Pro (12.9-inch) (6th generation)",
  "iPhone SE (3rd generation)",
  "iPad Air (3rd generation) Dark",
  "Jané's iPhone 🙂",
  "no\u00a0break",
  'quote " and backslash \\',
])("the name %s survives exactly", (name) => {
  expect(one({ name })?.name).toBe(name);
});

test("any name survives, with any noise in front", () => {
  assert(
    property(string({ minLength: 1, unit: "grapheme" }), string({ maxLength: 40 }), (name, noise) => {
      const output = `${noise}\n${listingOf({ udid: UDID, name, state: "Booted" })}`;
      expect(parseDevices(output).devices.map((device) => device.name)).toEqual([name]);
    }),
  );
});

test("only Booted is running and only Shutdown is stopped", () => {
  expect(["Booted", "Shutdown", "Booting", "Shutting Down", "Creating", "Unknown"].map(runStateOf)).toEqual([
    "running",
    "stopped",
    "transitioning",
    "transitioning",
    "transitioning",
    "transitioning",
  ]);
});

test("no runtimes is a fresh Xcode; no device types is a broken answer", () => {
  const types = [{ name: "iPhone 17", identifier: "com.apple.CoreSimulator.SimDeviceType.iPhone-17" }];
  expect(parseKinds(JSON.stringify({ devicetypes: types, runtimes: [] })).runtimes).toEqual([]);
  expect(parseKinds(JSON.stringify({ devicetypes: types })).runtimes).toEqual([]);
  expect(() => parseKinds(JSON.stringify({ devicetypes: [], runtimes: [] }))).toThrow("names no device types");
});

test("a runtime of an older Xcode names neither its types nor a boolean", () => {
  const output = JSON.stringify({
    devicetypes: [{ name: "iPhone XS", identifier: "com.apple.CoreSimulator.SimDeviceType.iPhone-XS" }],
    runtimes: [
      { identifier: "com.apple.CoreSimulator.SimRuntime.iOS-12-1", version: "12.1", availability: "(available)" },
      { identifier: "com.apple.CoreSimulator.SimRuntime.iOS-9-3", availability: "(unavailable, not supported)" },
    ],
  });
  expect(parseKinds(output).runtimes).toEqual([
    {
      id: "com.apple.CoreSimulator.SimRuntime.iOS-12-1",
      name: "iOS 12.1",
      version: "12.1",
      platform: "iOS",
      unavailable: undefined,
      supports: undefined,
    },
    {
      id: "com.apple.CoreSimulator.SimRuntime.iOS-9-3",
      name: "iOS 9.3",
      version: "9.3",
      platform: "iOS",
      unavailable: "unavailable, not supported",
      supports: undefined,
    },
  ]);
});
