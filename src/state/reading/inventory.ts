import { parseListing, runtimeName } from "../../exec/index.ts";
import type { Runtime, SimDevice } from "../../exec/index.ts";
import type { DeviceState, Inventory, InventoryDevice, InventoryRuntime } from "../types.ts";

/**
 * What `simctl list -j` says, as an inventory. Every platform's runtimes and devices are in it, those that can't be used too: `isAvailable` tells. Throws
 * TOOL_FAILED for a listing that can't be read; it is never taken for an empty one.
 */
export function inventoryOf(
  output: string,
  facts: { readonly generatedAt: string; readonly developerDirectory?: string | undefined },
): Inventory {
  const listing = parseListing(output);
  const { generatedAt, developerDirectory } = facts;
  return {
    generatedAt,
    ...(developerDirectory === undefined ? {} : { developerDirectory }),
    runtimes: listing.runtimes.map(runtimeOf).toSorted((a, b) => byText(a.identifier, b.identifier)),
    devices: listing.devices
      .map((device) => deviceOf(device, listing.runtimes))
      .toSorted(
        (a, b) => byText(a.runtimeIdentifier, b.runtimeIdentifier) || byText(a.name, b.name) || byText(a.udid, b.udid),
      ),
    deviceTypes: listing.deviceTypes
      .map(({ id, name }) => ({ identifier: id, name }))
      .toSorted((a, b) => byText(a.identifier, b.identifier)),
  };
}

function runtimeOf(runtime: Runtime): InventoryRuntime {
  return {
    identifier: runtime.id,
    name: runtime.name,
    version: runtime.version,
    isAvailable: runtime.unavailable === undefined,
  };
}

function deviceOf(device: SimDevice, runtimes: readonly Runtime[]): InventoryDevice {
  return {
    udid: device.udid,
    name: device.name,
    state: stateOf(device.state),
    runtimeIdentifier: identifierOf(device.runtime, runtimes),
    isAvailable: device.unavailable === undefined,
    ...(device.dataPath === undefined ? {} : { dataPath: device.dataPath }),
    ...(device.deviceType === undefined ? {} : { deviceTypeIdentifier: device.deviceType }),
    ...(device.unavailable === undefined ? {} : { availabilityError: device.unavailable }),
  };
}

/** Booting, Shutting Down and whatever a later Xcode adds are neither on nor off. */
function stateOf(state: string): DeviceState {
  return state === "Booted" || state === "Shutdown" || state === "Creating" ? state : "Unknown";
}

/** Xcode 10 lists devices under a runtime's name; a document names a runtime by its identifier whatever the Xcode. */
function identifierOf(key: string, runtimes: readonly Runtime[]): string {
  const listed = runtimes.find((runtime) => runtime.id === key || runtime.name === key);
  if (listed !== undefined) return listed.id;
  const { platform, version } = runtimeName(key);
  if (platform === undefined || key.startsWith("com.")) return key;
  return `com.apple.CoreSimulator.SimRuntime.${platform}-${version.replaceAll(".", "-")}`;
}

/** Plain order of code units, the same on every machine. */
function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
