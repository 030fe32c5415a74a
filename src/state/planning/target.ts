import { SimlockError } from "../../contract/index.ts";
import type { ApiVersion, Inventory, InventoryDevice, InventoryRuntime, Profile, Target } from "../types.ts";

/** A device that is to be made, because none fits. */
export type CreateIntent =
  | { readonly name: string; readonly deviceType: string; readonly runtime: string }
  | { readonly name: string; readonly cloneFrom: string };

export type ResolvedTarget =
  | { readonly kind: "device"; readonly device: InventoryDevice }
  | { readonly kind: "create"; readonly intent: CreateIntent };

/**
 * The one device that the target names. Only available devices are chosen; every given field must hold, by the rules of the profile's API version.
 * Errors: UNKNOWN_DEVICE where none fits (and none may be made), AMBIGUOUS where several do, RUNTIME_MISSING and UNKNOWN_MODEL for what can't be made,
 * BAD_REQUEST for a target without a field.
 */
export function resolveTarget(
  target: Target,
  inventory: Inventory,
  apiVersion: ApiVersion = "simlock/v1",
): ResolvedTarget {
  const fitting = inventory.devices.filter((device) => fits(target, device, inventory, apiVersion));
  const [device, ...others] = fitting.filter((each) => each.isAvailable);
  if (device !== undefined && others.length === 0) return { kind: "device", device };
  if (device !== undefined) throw ambiguous([device, ...others]);
  if (target.create === true || target.cloneFrom !== undefined)
    return { kind: "create", intent: intentOf(target, inventory) };
  const [unavailable] = fitting;
  if (unavailable !== undefined) {
    throw new SimlockError(
      "UNKNOWN_DEVICE",
      `${unavailable.name} (${unavailable.udid}) fits the target, but it is unavailable: its runtime ${unavailable.runtimeIdentifier} is not installed.`,
      { hint: "Install the runtime, or name another device." },
    );
  }
  throw new SimlockError("UNKNOWN_DEVICE", `No simulator fits the target: ${described(target)}.`, {
    hint: "See the simulators that there are with `simlock state inventory`.",
  });
}

/** Throws BAD_REQUEST unless the snapshot's device is one that the profile is for, also where the caller named it. */
export function requireTarget(profile: Profile, device: InventoryDevice, inventory?: Inventory): void {
  const runtimes = inventory?.runtimes ?? [];
  if (fits(profile.target, device, { runtimes, devices: [device], ...optional(inventory) }, profile.apiVersion)) return;
  throw new SimlockError(
    "BAD_REQUEST",
    `The profile ${profile.metadata.name} is not for the device ${device.udid}: its target is ${described(profile.target)}.`,
    { hint: "Take a snapshot of the device that the target names, or change the target." },
  );
}

const optional = (inventory: Inventory | undefined): Pick<Inventory, "deviceTypes"> =>
  inventory?.deviceTypes === undefined ? {} : { deviceTypes: inventory.deviceTypes };

type Known = Pick<Inventory, "runtimes" | "devices" | "deviceTypes">;

function fits(target: Target, device: InventoryDevice, known: Known, apiVersion: ApiVersion): boolean {
  const { udid, name, runtime, deviceType } = target;
  if (udid === undefined && name === undefined && runtime === undefined && deviceType === undefined) return false;
  if (udid !== undefined && udid !== device.udid) return false;
  if (name !== undefined && name !== device.name) return false;
  if (runtime !== undefined && runtime !== device.runtimeIdentifier) {
    if (apiVersion === "awesome-ios-sim/v1alpha1" || !fitsRuntime(runtime, device, known)) return false;
  }
  return deviceType === undefined || fitsType(deviceType, device, known);
}

/** By name (`iOS 26.1`), version (`26.1`, `26`) or `latest`: the newest that is there for the platform of the device. */
function fitsRuntime(word: string, device: InventoryDevice, known: Known): boolean {
  const own = known.runtimes.find((each) => each.identifier === device.runtimeIdentifier);
  const runtime = own ?? runtimeFromIdentifier(device.runtimeIdentifier);
  if (word === "latest") {
    const rivals = known.runtimes.filter((each) => each.isAvailable && platformOf(each) === platformOf(runtime));
    return rivals.every((each) => compareVersions(versionOf(each), versionOf(runtime)) <= 0);
  }
  return namesRuntime(word, runtime);
}

function namesRuntime(word: string, runtime: InventoryRuntime): boolean {
  if (word === runtime.identifier || word.toLowerCase() === runtime.name.toLowerCase()) return true;
  const [, platform, version] = /^(?:([A-Za-z]+) )?(\d+(?:\.\d+)*)$/.exec(word) ?? [];
  if (version === undefined) return false;
  if (platform !== undefined && platform.toLowerCase() !== platformOf(runtime).toLowerCase()) return false;
  const own = versionOf(runtime);
  return own === version || own.startsWith(`${version}.`);
}

function fitsType(word: string, device: InventoryDevice, known: Known): boolean {
  const own = device.deviceTypeIdentifier;
  if (own === undefined) return false;
  if (word === own) return true;
  const listed = known.deviceTypes?.find((each) => each.identifier === own)?.name;
  return sameName(word, listed ?? nameFromIdentifier(own));
}

/** `com.apple.CoreSimulator.SimDeviceType.iPhone-17-Pro` is how an identifier tells the name, but for its punctuation. */
function nameFromIdentifier(identifier: string): string {
  return identifier.split(".").at(-1) ?? identifier;
}

function sameName(a: string, b: string): boolean {
  const plain = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return plain(a) === plain(b);
}

/** For a device whose runtime no list tells: `…SimRuntime.iOS-26-1` is iOS 26.1. */
function runtimeFromIdentifier(identifier: string): InventoryRuntime {
  const [platform = "", ...version] = (identifier.split(".").at(-1) ?? "").split("-");
  return { identifier, name: `${platform} ${version.join(".")}`, version: version.join("."), isAvailable: true };
}

function platformOf(runtime: InventoryRuntime): string {
  return runtime.name.split(" ")[0] ?? "";
}

function versionOf(runtime: InventoryRuntime): string {
  return runtime.version ?? runtime.name.split(" ")[1] ?? "";
}

/** By their numbers: 26.10 is newer than 26.9. */
function compareVersions(a: string, b: string): number {
  const left = a.split(".").map(Number);
  const right = b.split(".").map(Number);
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function intentOf(target: Target, inventory: Inventory): CreateIntent {
  const { name } = target;
  if (name === undefined) {
    throw new SimlockError("BAD_REQUEST", "No simulator fits the target, and one can't be made without a name.", {
      hint: "Give the target a name.",
    });
  }
  if (target.cloneFrom !== undefined) return { name, cloneFrom: sourceOf(target.cloneFrom, inventory).udid };
  if (target.deviceType === undefined) {
    throw new SimlockError("BAD_REQUEST", "No simulator fits the target, and one can't be made without a deviceType.", {
      hint: "Give the target a deviceType, such as `iPhone 17`.",
    });
  }
  return {
    name,
    deviceType: deviceTypeOf(target.deviceType, inventory),
    runtime: runtimeOf(target.runtime ?? "latest", target.deviceType, inventory).identifier,
  };
}

function sourceOf(wanted: NonNullable<Target["cloneFrom"]>, inventory: Inventory): InventoryDevice {
  const found = resolveTarget(wanted, inventory);
  if (found.kind !== "device") throw new SimlockError("UNKNOWN_DEVICE", "The device to copy is not there.");
  if (found.device.state === "Shutdown") return found.device;
  throw new SimlockError(
    "DEVICE_UNAVAILABLE",
    `${found.device.name} (${found.device.udid}) can't be copied: it is ${found.device.state}.`,
    {
      hint: "Only a device that is shut down can be copied. Shut it down, then plan again.",
    },
  );
}

function deviceTypeOf(word: string, { deviceTypes = [] }: Inventory): string {
  const found =
    deviceTypes.find((each) => each.identifier === word) ?? deviceTypes.find((each) => sameName(each.name, word));
  if (found !== undefined) return found.identifier;
  throw new SimlockError("UNKNOWN_MODEL", `There is no device type ${word}.`, {
    hint: "See the device types that there are with `simlock state inventory`.",
  });
}

/** The newest available one that the word names; for `latest`, of the platform that the device type belongs to. */
function runtimeOf(word: string, deviceType: string, inventory: Inventory): InventoryRuntime {
  const platform = platformFor(deviceType);
  const [found] = inventory.runtimes
    .filter((each) => each.isAvailable)
    .filter((each) => (word === "latest" ? platformOf(each) === platform : namesRuntime(word, each)))
    .toSorted((a, b) => compareVersions(versionOf(b), versionOf(a)));
  if (found !== undefined) return found;
  throw new SimlockError(
    "RUNTIME_MISSING",
    `No runtime that is installed is ${word === "latest" ? `for ${platform}` : word}.`,
    {
      hint: "See the runtimes that there are with `simlock state inventory`.",
    },
  );
}

function platformFor(deviceType: string): string {
  const name = nameFromIdentifier(deviceType);
  if (/watch/i.test(name)) return "watchOS";
  if (/vision/i.test(name)) return "visionOS";
  return /tv/i.test(name) ? "tvOS" : "iOS";
}

function ambiguous(devices: readonly InventoryDevice[]): SimlockError {
  const shown = devices.slice(0, 10).map(({ name, udid }) => `${name} (${udid})`);
  const more = devices.length > shown.length ? `, and ${devices.length - shown.length} more` : "";
  return new SimlockError("AMBIGUOUS", `The target fits several simulators: ${shown.join(", ")}${more}.`, {
    details: { devices: devices.slice(0, 10).map(({ name, udid }) => ({ name, udid })) },
    hint: "Name one of them by its udid.",
  });
}

function described(target: Target): string {
  const fields = (["udid", "name", "runtime", "deviceType"] as const).flatMap((field) =>
    target[field] === undefined ? [] : [`${field} ${target[field]}`],
  );
  return fields.length === 0 ? "without a field" : fields.join(", ");
}
