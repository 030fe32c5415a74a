import { findDeviceType } from "./catalog/models.ts";
import type { DeviceType } from "./catalog/models.ts";
import { findRuntime, RUNTIMES } from "./catalog/runtimes.ts";
import type { Runtime } from "./catalog/runtimes.ts";
import type { Control } from "./control.ts";
import { isRunning, stateAt } from "./device.ts";
import type { Device, DeviceState } from "./device.ts";
import type { DeviceSet } from "./device-set.ts";
import { failure } from "./failure.ts";

/**
 * The device that a word means: `booted` is any booted one, else a UDID in any case, else an exact name. simctl picks one without a word
 * where several fit; here it is the first booted one, else the one with the newest runtime, else the oldest device, so that a test can rely on it.
 */
function findDevice(set: DeviceSet, word: string): Device | undefined {
  const udid = word.toUpperCase();
  if (/^[0-9A-F]{8}-([0-9A-F]{4}-){3}[0-9A-F]{12}$/.test(udid)) {
    const device = set.device(udid);
    if (device !== undefined) return device;
  }
  const devices = set.devices();
  const fitting = word === "booted" ? bootedOf(devices) : devices.filter((device) => device.name === word);
  const booted = bootedOf(fitting)[0];
  if (booted !== undefined) return booted;
  const newestFirst = fitting.toSorted((a, b) => rank(b) - rank(a));
  return newestFirst[0];
}

function rank(device: Device): number {
  return RUNTIMES.findIndex((runtime) => runtime.identifier === device.runtimeId);
}

function bootedOf(devices: readonly Device[]): readonly Device[] {
  const now = Date.now();
  return devices.filter((device) => isRunning(device, now));
}

/** Throws `invalidDevice`, or `noneBooted` where `booted` means nobody. */
export function deviceFor(
  set: DeviceSet,
  word: string,
  missing: "invalidDevice" | "invalidDeviceOrPair" = "invalidDevice",
): Device {
  const device = findDevice(set, word);
  if (device !== undefined) return device;
  if (word === "booted") throw failure("noneBooted");
  throw failure(missing, { device: word });
}

/** The device, which has to be in one of these states. `action` completes "Unable to … in current state". */
export function deviceIn(set: DeviceSet, word: string, action: string, states: readonly DeviceState[]): Device {
  const device = deviceFor(set, word);
  requireState(device, action, states);
  return device;
}

export function requireState(device: Device, action: string, states: readonly DeviceState[]): void {
  const state = stateAt(device, Date.now());
  if (!states.includes(state)) throw failure("wrongState", { action, state });
}

/** A device whose services answer. Most verbs need one, and say "lookup" where it is not running. */
export function runningDevice(set: DeviceSet, word: string): Device {
  return deviceIn(set, word, "lookup", ["Booted"]);
}

export function isAvailable(control: Control, runtimeId: string): boolean {
  return RUNTIMES.some((runtime) => runtime.identifier === runtimeId) && !control.missingRuntimes?.includes(runtimeId);
}

/** What the listings say of a device without its runtime. */
export const UNAVAILABLE = 'runtime profile not found using "System" match policy';

/** Every device's type is in the catalog. */
export function typeOf(device: Device): DeviceType {
  const type = findDeviceType(device.typeId);
  if (type === undefined) throw new Error(`${device.typeId} is not in the catalog`);
  return type;
}

export function runtimeOf(device: Device): Runtime {
  const runtime = findRuntime(device.runtimeId);
  if (runtime === undefined) throw new Error(`${device.runtimeId} is not in the catalog`);
  return runtime;
}
