import { describe, expect, test } from "vitest";
import type { Inventory, InventoryDevice, Target } from "../types.ts";
import { requireTarget, resolveTarget } from "./target.ts";
import { profile } from "./profile.fixture.ts";

const RUNTIME = "com.apple.CoreSimulator.SimRuntime.";
const TYPE = "com.apple.CoreSimulator.SimDeviceType.";
const device = (id: number, name: string, more: Partial<InventoryDevice> = {}): InventoryDevice => ({
  udid: `0A1B2C3D-0000-4000-8000-00000000000${id}`,
  name,
  state: "Shutdown",
  runtimeIdentifier: `${RUNTIME}iOS-26-1`,
  isAvailable: true,
  deviceTypeIdentifier: `${TYPE}iPhone-17-Pro`,
  ...more,
});
const devices = [
  device(1, "phone"),
  device(2, "twin"),
  device(3, "twin", { state: "Booted" }),
  device(4, "older", { runtimeIdentifier: `${RUNTIME}iOS-26-0`, deviceTypeIdentifier: `${TYPE}iPhone-16` }),
  device(5, "gone", { isAvailable: false, runtimeIdentifier: `${RUNTIME}iOS-18-0` }),
  device(6, "watch", {
    runtimeIdentifier: `${RUNTIME}watchOS-26-1`,
    deviceTypeIdentifier: `${TYPE}Apple-Watch-Series-11-46mm`,
  }),
];
const inventory: Inventory = {
  generatedAt: "2026-08-18T00:00:00Z",
  runtimes: [
    { identifier: `${RUNTIME}iOS-26-0`, name: "iOS 26.0", version: "26.0", isAvailable: true },
    { identifier: `${RUNTIME}iOS-26-1`, name: "iOS 26.1", version: "26.1", isAvailable: true },
    { identifier: `${RUNTIME}iOS-26-10`, name: "iOS 26.10", version: "26.10", isAvailable: false },
    { identifier: `${RUNTIME}watchOS-26-1`, name: "watchOS 26.1", version: "26.1", isAvailable: true },
  ],
  devices,
  deviceTypes: [
    { identifier: `${TYPE}iPhone-17-Pro`, name: "iPhone 17 Pro" },
    { identifier: `${TYPE}iPhone-16`, name: "iPhone 16" },
    { identifier: `${TYPE}Apple-Watch-Series-11-46mm`, name: "Apple Watch Series 11 (46mm)" },
  ],
};
const chosen = (target: Target, version?: "awesome-ios-sim/v1alpha1") => {
  const found = resolveTarget(target, inventory, version);
  return found.kind === "device" ? found.device.name : found.intent;
};

describe("a device", () => {
  test.each<[string, Target, string]>([
    ["its UDID", { udid: devices[0]?.udid ?? "" }, "phone"],
    ["its name", { name: "older" }, "older"],
    ["name and runtime", { name: "phone", runtime: `${RUNTIME}iOS-26-1` }, "phone"],
    ["a runtime's name", { runtime: "ios 26.0" }, "older"],
    ["a runtime's version", { name: "phone", runtime: "26.1" }, "phone"],
    ["the first part of a version", { name: "older", runtime: "26" }, "older"],
    ["the latest runtime that can be used", { name: "phone", runtime: "latest" }, "phone"],
    ["the latest of its own platform", { deviceType: "Apple Watch Series 11 (46mm)", runtime: "latest" }, "watch"],
    ["a device type's name", { deviceType: "iPhone 16" }, "older"],
    ["a device type's identifier", { deviceType: `${TYPE}iPhone-16` }, "older"],
  ])("is found by %s", (_how, target, name) => {
    expect(chosen(target)).toBe(name);
  });

  test.each<[string, Target, string]>([
    ["none fits", { name: "nobody" }, "UNKNOWN_DEVICE"],
    ["only an unavailable one fits", { name: "gone" }, "UNKNOWN_DEVICE"],
    ["an older runtime is not the latest", { name: "older", runtime: "latest" }, "UNKNOWN_DEVICE"],
    ["a version is no prefix of its digits", { name: "phone", runtime: "2" }, "UNKNOWN_DEVICE"],
    ["no field is given", {}, "UNKNOWN_DEVICE"],
    ["several fit", { name: "twin" }, "AMBIGUOUS"],
  ])("is not chosen where %s", (_why, target, code) => {
    expect(() => chosen(target)).toThrow(expect.objectContaining({ code }));
  });

  test("several that fit are all named", () => {
    expect(() => chosen({ name: "twin" })).toThrow(/twin \(.*2\), twin \(.*3\)/);
  });

  test("of v1alpha1 is compared exactly", () => {
    expect(() => chosen({ runtime: "26.0" }, "awesome-ios-sim/v1alpha1")).toThrow();
    expect(chosen({ runtime: `${RUNTIME}iOS-26-0` }, "awesome-ios-sim/v1alpha1")).toBe("older");
  });
});

describe("where none fits", () => {
  test("one is made, on the newest runtime that can be used", () => {
    expect(chosen({ name: "new", deviceType: "iphone 17 pro", create: true })).toEqual({
      name: "new",
      deviceType: `${TYPE}iPhone-17-Pro`,
      runtime: `${RUNTIME}iOS-26-1`,
    });
    expect(chosen({ name: "new", deviceType: "Apple Watch Series 11 (46mm)", create: true })).toMatchObject({
      runtime: `${RUNTIME}watchOS-26-1`,
    });
  });
  test("one is copied, from a device that is shut down", () => {
    expect(chosen({ name: "new", cloneFrom: { name: "older" } })).toEqual({ name: "new", cloneFrom: devices[3]?.udid });
    expect(() => chosen({ name: "new", cloneFrom: { udid: devices[2]?.udid ?? "" } })).toThrow(
      expect.objectContaining({ code: "DEVICE_UNAVAILABLE" }),
    );
  });
  test.each<[string, Target, string]>([
    ["a name is missing", { deviceType: "iPhone 99", create: true }, "BAD_REQUEST"],
    ["a type is missing", { name: "new", create: true }, "BAD_REQUEST"],
    ["there is no such type", { name: "new", deviceType: "iPhone 99", create: true }, "UNKNOWN_MODEL"],
    [
      "there is no such runtime",
      { name: "new", deviceType: "iPhone 16", runtime: "12", create: true },
      "RUNTIME_MISSING",
    ],
  ])("none is made when %s", (_why, target, code) => {
    expect(() => chosen(target)).toThrow(expect.objectContaining({ code }));
  });
});

test("a snapshot of another device than the target's is refused, by the same rules", () => {
  const [phone] = devices;
  if (phone === undefined) throw new Error("no phone");
  requireTarget(profile({}, { target: { deviceType: "iPhone 17 Pro", runtime: "iOS 26.1" } }), phone);
  expect(() => requireTarget(profile({}, { target: { deviceType: "iPhone 16" } }), phone)).toThrow(
    expect.objectContaining({ code: "BAD_REQUEST" }),
  );
});
