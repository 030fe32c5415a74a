import { expect, test } from "vitest";
import type { DeviceType, Runtime } from "../../exec/index.ts";
import { catalogOf, pairingOf, pairs } from "./models.ts";

const PREFIX = "com.apple.CoreSimulator.SimDeviceType.";

function type(name: string, family: string | undefined, more: Partial<DeviceType> = {}): DeviceType {
  return {
    id: PREFIX + name.replaceAll(/[^A-Za-z0-9]+/g, "-").replace(/-$/, ""),
    name,
    family,
    modelIdentifier: undefined,
    minRuntime: 0,
    maxRuntime: Number.POSITIVE_INFINITY,
    ...more,
  };
}

function runtime(
  platform: Runtime["platform"],
  version: string,
  types: readonly DeviceType[] | undefined,
  more: Partial<Runtime> = {},
): Runtime {
  return {
    id: `com.apple.CoreSimulator.SimRuntime.${platform}-${version.replaceAll(".", "-")}`,
    name: `${platform} ${version}`,
    version,
    platform,
    unavailable: undefined,
    supports: types === undefined ? undefined : new Set(types.map((one) => one.id)),
    ...more,
  };
}

const iPhone17 = type("iPhone 17", "iPhone", {
  modelIdentifier: "iPhone18,3",
  minRuntime: 0x1a0000,
  maxRuntime: 0xffffffff,
});
const iPhone16 = type("iPhone 16", "iPhone", { minRuntime: 0x120000 });
const iPhone8 = type("iPhone 8", "iPhone", { minRuntime: 0x0b0000, maxRuntime: 0x10ffff });
const iPadPro = type("iPad Pro 11-inch (M5)", "iPad");
const watch = type("Apple Watch Series 11 (46mm)", "Apple Watch");
const tv = type("Apple TV 4K (3rd generation)", "Apple TV");
const vision = type("Apple Vision Pro", "Apple Vision");
const types = [iPhone17, iPhone16, iPhone8, iPadPro, watch, tv, vision];
const ios26 = runtime("iOS", "26.0", [iPhone17, iPhone16, iPadPro]);
const ios18 = runtime("iOS", "18.5", [iPhone16, iPadPro]);

test("a pairing needs a usable runtime that names the type, within the type's range", () => {
  expect(pairs(iPhone17, ios26)).toBe(true);
  expect(pairs(iPhone17, runtime("iOS", "26.0", [iPhone17], { unavailable: "not found" }))).toBe(false);
  expect(pairs(iPhone17, runtime("iOS", "26.0", [iPhone16]))).toBe(false);
  expect(pairs(iPhone17, runtime("iOS", "18.5", [iPhone17]))).toBe(false);
  expect(pairs(iPhone8, runtime("iOS", "16.4", [iPhone8]))).toBe(true);
  expect(pairs(iPhone8, runtime("iOS", "17.0", [iPhone8]))).toBe(false);
  expect(pairs(type("iPhone X", "iPhone", { maxRuntime: 0xffffff }), ios26)).toBe(false);
  expect(pairs(type("iPhone X", "iPhone", { maxRuntime: 0xffffff }), runtime("iOS", "26.0", undefined))).toBe(true);
});

test("where an older Xcode does not name the types, a watch still does not pair with iOS", () => {
  expect(pairs(watch, runtime("iOS", "12.1", undefined))).toBe(false);
  expect(pairs(watch, runtime("watchOS", "5.1", undefined))).toBe(true);
  expect(pairs(type("iPhone XS", undefined), runtime("iOS", "12.1", undefined))).toBe(true);
});

test("the catalog lists every model, and for each the runtimes that pair, newest first", () => {
  const catalog = catalogOf(types, [ios18, ios26], {});
  expect(catalog.models).toEqual(types.map((one) => one.name));
  expect(catalog.runtimes).toEqual(["26.0", "18.5"]);
  expect(catalog.defaultRuntime).toBe("26.0");
  expect(catalog.modelRuntimes["iPhone 16"]).toEqual(["26.0", "18.5"]);
  expect(catalog.modelRuntimes["iPhone 17"]).toEqual(["26.0"]);
  expect(catalog.modelRuntimes["iPhone 8"]).toEqual([]);
  expect(catalog.modelClasses).toEqual({
    "iPhone 17": "phone",
    "iPhone 16": "phone",
    "iPhone 8": "phone",
    "iPad Pro 11-inch (M5)": "tablet",
    "Apple Watch Series 11 (46mm)": "watch",
    "Apple TV 4K (3rd generation)": "tv",
    "Apple Vision Pro": "vision",
  });
});

test("an unavailable runtime is no runtime", () => {
  const gone = runtime("iOS", "27.0", [iPhone17], { unavailable: "runtime profile not found" });
  expect(catalogOf(types, [ios26, gone], {}).runtimes).toEqual(["26.0"]);
});

test("a newer watchOS is not the default runtime of phones", () => {
  const catalog = catalogOf(types, [ios26, runtime("watchOS", "27.0", [watch])], {});
  expect(catalog.defaultRuntime).toBe("26.0");
  expect(catalog.runtimes).toEqual(["27.0", "26.0"]);
});

test("no runtimes: every model, no runtime, no default runtime", () => {
  const catalog = catalogOf(types, [], {});
  expect(catalog.models).toHaveLength(types.length);
  expect(catalog.runtimes).toEqual([]);
  expect(catalog).not.toHaveProperty("defaultRuntime");
  expect(catalog.classDefaults.phone).toBe("iPhone 17");
});

test("a model answers to its identifier, the last part of it, its dashed name and the hardware's name", () => {
  const pro = type("iPad Pro 11-inch (M5)", "iPad", {
    id: `${PREFIX}iPad-Pro-11-inch-M5-12GB`,
    modelIdentifier: "iPad17,1",
  });
  expect(catalogOf([pro], [], {}).modelAliases["iPad Pro 11-inch (M5)"]).toEqual([
    `${PREFIX}iPad-Pro-11-inch-M5-12GB`,
    "iPad-Pro-11-inch-M5-12GB",
    "iPad-Pro-11-inch-M5",
    "iPad17,1",
  ]);
});

test("an alias that would mean two models, or another model's name, is none", () => {
  const small = type("iPad (8GB)", "iPad", { modelIdentifier: "iPad17,1" });
  const large = type("iPad (16GB)", "iPad", { modelIdentifier: "iPad17,1", id: `${PREFIX}iPhone 16` });
  const aliases = catalogOf([small, large, iPhone16], [], {}).modelAliases;
  expect(aliases["iPad (8GB)"]).not.toContain("iPad17,1");
  expect(aliases["iPad (16GB)"]).not.toContain("iPad17,1");
  expect(aliases["iPad (16GB)"]).not.toContain("iPhone 16");
});

test("a class gets the first wanted model that pairs with an installed runtime, the configured ones first", () => {
  expect(catalogOf(types, [ios18], {}).classDefaults).toMatchObject({
    phone: "iPhone 16",
    tablet: "iPad Pro 11-inch (M5)",
  });
  expect(catalogOf(types, [ios26, ios18], { phone: "iphone-16" }).classDefaults.phone).toBe("iPhone 16");
  expect(catalogOf(types, [ios26], { phone: ["iPhone 8", "iPhone 16"] }).classDefaults.phone).toBe("iPhone 16");
  expect(catalogOf(types, [ios26], { phone: "iPad Pro 11-inch (M5)" }).classDefaults.phone).toBe("iPhone 17");
});

test("a class of which nothing is listed has no default; one that only lacks a runtime has", () => {
  expect(catalogOf([iPhone8], [ios26], {}).classDefaults).toEqual({});
  expect(catalogOf([watch], [ios26], {}).classDefaults).toEqual({ watch: "Apple Watch Series 11 (46mm)" });
});

test("the nearest name is not the name", () => {
  const plus = type("iPhone 16 Plus", "iPhone");
  const found = pairingOf({ model: "iPhone 16", osVersion: "26.0" }, [plus, iPhone16], [ios26]);
  expect(found).toMatchObject({ kind: "pair", type: { name: "iPhone 16" }, runtime: { version: "26.0" } });
  expect(pairingOf({ model: "iPhone 1", osVersion: "26.0" }, types, [ios26])).toEqual({ kind: "unknown-model" });
});

test("a spec that no installed runtime serves says which would", () => {
  expect(pairingOf({ model: "iPhone 16", osVersion: "17.0" }, types, [ios18, ios26])).toMatchObject({
    kind: "no-runtime",
    paired: ["26.0", "18.5"],
  });
});

test("a runtime version of iOS is not taken for the same version of watchOS", () => {
  const watchOS = runtime("watchOS", "26.0", [watch]);
  const found = pairingOf({ model: watch.name, osVersion: "26.0" }, types, [ios26, watchOS]);
  expect(found).toMatchObject({ kind: "pair", runtime: { platform: "watchOS" } });
});
