import type { Call } from "./call.ts";
import { packVersion } from "./catalog/models.ts";
import type { DeviceType } from "./catalog/models.ts";
import { findRuntime, supportedTypes } from "./catalog/runtimes.ts";
import type { Runtime } from "./catalog/runtimes.ts";
import { PROFILES, runtimeBundle, runtimeRoot } from "./runtime-files.ts";
import { stateAt } from "./device.ts";
import type { Device } from "./device.ts";
import { dataOf, logPathOf } from "./device-folder.ts";
import type { Json } from "./formats/apple-json.ts";
import { isAvailable, UNAVAILABLE } from "./selection.ts";
import { devicesByRuntime, runtimesFor, typesFor } from "./listing.ts";
import type { Section, Term } from "./listing.ts";

/** `list -j` in the form that the control file asks for. */
export function listingJson(call: Call, sections: readonly Section[], term: Term): Json {
  const make: Readonly<Record<Section, () => Json>> = {
    devicetypes: () => typesFor(term).map((type) => (isLegacy(call) ? legacyType(type) : typeJson(type))),
    runtimes: () => runtimesFor(call, term).map((runtime) => runtimeJson(call, runtime)),
    devices: () => devicesJson(call, term),
    pairs: () => pairsJson(call),
  };
  return Object.fromEntries(sections.map((section) => [section, make[section]()]));
}

function isLegacy(call: Call): boolean {
  return call.control.format === "legacy";
}

function bundleOfType(type: DeviceType): string {
  return `${PROFILES}/DeviceTypes/${type.name}.simdevicetype`;
}

function typeJson(type: DeviceType): Json {
  return {
    productFamily: type.family,
    bundlePath: bundleOfType(type),
    maxRuntimeVersion: type.maxRuntime === undefined ? 4294967295 : packVersion(type.maxRuntime),
    maxRuntimeVersionString: type.maxRuntime ?? "65535.255.255",
    identifier: type.identifier,
    modelIdentifier: type.modelIdentifier,
    minRuntimeVersionString: type.minRuntime,
    minRuntimeVersion: packVersion(type.minRuntime),
    name: type.name,
  };
}

function legacyType(type: DeviceType): Json {
  return { name: type.name, identifier: type.identifier };
}

function runtimeJson(call: Call, runtime: Runtime): Json {
  const { buildversion, ...common } = {
    buildversion: runtime.build,
    identifier: runtime.identifier,
    version: runtime.version,
    name: runtime.name,
  };
  if (isLegacy(call)) return { buildversion, availability: "(available)", ...common };
  const today: { [key: string]: Json } = {
    isAvailable: true,
    version: runtime.version,
    isInternal: false,
    buildversion,
    supportedArchitectures: ["arm64"],
    supportedDeviceTypes: supportedTypes(runtime).map((type) => ({
      bundlePath: bundleOfType(type),
      name: type.name,
      identifier: type.identifier,
      productFamily: type.family,
    })),
    identifier: runtime.identifier,
    platform: runtime.platform,
    bundlePath: runtimeBundle(call.root, runtime),
    runtimeRoot: runtimeRoot(call.root, runtime),
    lastUsage: {},
    name: runtime.name,
  };
  return call.control.format === "mixed" ? { availability: "(available)", ...today } : today;
}

function devicesJson(call: Call, term: Term): Json {
  const now = Date.now();
  const groups = [...devicesByRuntime(call, term)].map(([runtimeId, devices]) => {
    // Up to Xcode 10 the key is the runtime's name ("iOS 12.1"), and its identifier where the runtime is gone.
    const name = isLegacy(call) && isAvailable(call.control, runtimeId) ? findRuntime(runtimeId)?.name : undefined;
    return [name ?? runtimeId, devices.map((device) => deviceJson(call, device, now))] as const;
  });
  return Object.fromEntries(groups);
}

function deviceJson(call: Call, device: Device, now: number): Json {
  const available = isAvailable(call.control, device.runtimeId);
  const state = stateAt(device, now);
  const { udid, name } = device;
  const availability = available ? "(available)" : "(unavailable, runtime profile not found)";
  if (isLegacy(call)) return { availability, state, name, udid };
  const json: { [key: string]: Json } = {};
  if (call.control.format === "mixed") json["availability"] = availability;
  if (!available) json["availabilityError"] = UNAVAILABLE;
  if (device.lastBootedAt !== null)
    json["lastBootedAt"] = `${new Date(device.lastBootedAt).toISOString().slice(0, 19)}Z`;
  json["dataPath"] = dataOf(call.set, udid);
  json["dataPathSize"] = device.lastBootedAt === null ? 18337792 : 2115219456;
  json["logPath"] = logPathOf(call.set, udid);
  json["udid"] = udid;
  json["isAvailable"] = available;
  if (device.lastBootedAt !== null) json["logPathSize"] = 393216;
  json["deviceTypeIdentifier"] = device.typeId;
  json["state"] = state;
  json["name"] = name;
  return json;
}

export function pairState(active: boolean, booted: boolean): string {
  return `(${active ? "active" : "inactive"}, ${booted ? "connected" : "disconnected"})`;
}

function pairsJson(call: Call): Json {
  const now = Date.now();
  const side = (udid: string): Json => {
    const device = call.set.device(udid);
    return { name: device?.name ?? "", udid, state: device === undefined ? "Shutdown" : stateAt(device, now) };
  };
  const booted = (udid: string) => {
    const device = call.set.device(udid);
    return device !== undefined && stateAt(device, now) === "Booted";
  };
  return Object.fromEntries(
    call.set.pairs().map((pair) => [
      pair.id,
      {
        watch: side(pair.watch),
        phone: side(pair.phone),
        state: pairState(pair.active, booted(pair.watch) && booted(pair.phone)),
      },
    ]),
  );
}
