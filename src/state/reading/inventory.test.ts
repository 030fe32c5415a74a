import { expect, test } from "vitest";
import { inventoryOf } from "./inventory.ts";

const at = { generatedAt: "2026-09-01T10:00:00Z" };
const types = [{ name: "iPhone 17", identifier: "com.apple.CoreSimulator.SimDeviceType.iPhone-17" }];
const IOS = "com.apple.CoreSimulator.SimRuntime.iOS-26-1";
const udid = (last: number) => `6B7E2A10-5C1F-4B7E-9E55-3F1C8E7A000${last}`;
const read = (listing: object) => inventoryOf(JSON.stringify({ devicetypes: types, runtimes: [], ...listing }), at);

test("runtimes, devices and what can be made are listed in an order that is always the same", () => {
  const watch = "com.apple.CoreSimulator.SimRuntime.watchOS-26-1";
  const inventory = inventoryOf(
    JSON.stringify({
      devicetypes: types,
      runtimes: [
        { identifier: watch, name: "watchOS 26.1", version: "26.1", isAvailable: true },
        { identifier: IOS, name: "iOS 26.1", version: "26.1" },
      ],
      devices: {
        [watch]: [{ udid: udid(1), name: "Watch", state: "Shutdown" }],
        [IOS]: [
          { udid: udid(3), name: "b", state: "Shutdown" },
          { udid: udid(2), name: "b", state: "Booted" },
          { udid: udid(4), name: "B", state: "Creating", dataPath: "/d", deviceTypeIdentifier: "t", logPath: "/l" },
        ],
      },
      pairs: {},
    }),
    { ...at, developerDirectory: "/Applications/Xcode.app/Contents/Developer" },
  );
  expect(inventory).toEqual({
    ...at,
    developerDirectory: "/Applications/Xcode.app/Contents/Developer",
    runtimes: [
      { identifier: IOS, name: "iOS 26.1", version: "26.1", isAvailable: true },
      { identifier: watch, name: "watchOS 26.1", version: "26.1", isAvailable: true },
    ],
    devices: [
      {
        udid: udid(4),
        name: "B",
        state: "Creating",
        runtimeIdentifier: IOS,
        isAvailable: true,
        dataPath: "/d",
        deviceTypeIdentifier: "t",
      },
      { udid: udid(2), name: "b", state: "Booted", runtimeIdentifier: IOS, isAvailable: true },
      { udid: udid(3), name: "b", state: "Shutdown", runtimeIdentifier: IOS, isAvailable: true },
      { udid: udid(1), name: "Watch", state: "Shutdown", runtimeIdentifier: watch, isAvailable: true },
    ],
    deviceTypes: [{ identifier: "com.apple.CoreSimulator.SimDeviceType.iPhone-17", name: "iPhone 17" }],
  });
});

test("messages of a first launch in front of the listing don't hide it (C01)", () => {
  const noise = 'Install Started\nInstall Failed: Error Domain=X Code=3 "denied" {a}\n';
  const listing = JSON.stringify({
    devicetypes: types,
    devices: { [IOS]: [{ udid: udid(1), name: "x", state: "Booted" }] },
  });
  expect(inventoryOf(noise + listing, at).devices).toHaveLength(1);
});

test("an older Xcode's name of a runtime is its identifier in a document (C04)", () => {
  const devices = {
    "iOS 12.1": [{ udid: udid(1), name: "a", state: "Shutdown" }],
    "com.apple.CoreSimulator.SimRuntime.iOS-12-1": [{ udid: udid(2), name: "b", state: "Shutdown" }],
    "Car Play 9": [{ udid: udid(3), name: "c", state: "Shutdown" }],
  };
  expect(read({ devices }).devices.map((device) => device.runtimeIdentifier)).toEqual([
    "Car Play 9",
    "com.apple.CoreSimulator.SimRuntime.iOS-12-1",
    "com.apple.CoreSimulator.SimRuntime.iOS-12-1",
  ]);
});

test("a device that can't be used is listed with the reason (C05)", () => {
  const gone = { state: "Shutdown", availability: "(unavailable, runtime profile not found)" };
  const devices = {
    [IOS]: [
      { udid: udid(1), name: "a", ...gone },
      { udid: udid(2), name: "b", state: "Shutdown" },
    ],
  };
  expect(read({ devices }).devices).toMatchObject([
    { isAvailable: false, availabilityError: "unavailable, runtime profile not found" },
    { isAvailable: true },
  ]);
});

test("a device that is neither on nor off is Unknown", () => {
  const states = ["Booting", "Shutting Down", "Zombie"];
  const devices = { [IOS]: states.map((state, index) => ({ udid: udid(index), name: "x", state })) };
  expect(read({ devices }).devices.map((device) => device.state)).toEqual(["Unknown", "Unknown", "Unknown"]);
});

test("names survive exactly (C08, C09)", () => {
  const names = ["iPad Pro (12.9-inch) (6th generation)", "Jané's iPhone 🙂", "a\u00a0b", 'quote " and \\'];
  const devices = { [IOS]: names.map((name, index) => ({ udid: udid(index), name, state: "Shutdown" })) };
  expect(
    read({ devices })
      .devices.map((device) => device.name)
      .toSorted(),
  ).toEqual(names.toSorted());
});

test("a listing that can't be read is an error, never an empty one", () => {
  for (const output of ["", "{}", "{", JSON.stringify({ devices: [] }), JSON.stringify({ devices: {} })]) {
    expect(() => inventoryOf(output, at)).toThrow(expect.objectContaining({ code: "TOOL_FAILED" }));
  }
});
