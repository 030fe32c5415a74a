import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeXmlPlist } from "../../plist/index.ts";
import type { PlistValue } from "../../plist/index.ts";
import type { DeviceType } from "./catalog/models.ts";
import type { Runtime } from "./catalog/runtimes.ts";
import { FACTORY_SETTINGS, stateAt } from "./device.ts";
import type { Device, DeviceState } from "./device.ts";
import type { DeviceSet } from "./device-set.ts";
import { writeWhole } from "./faults.ts";

/** Where a device's files lie, as in a real set: `<set>/<udid>/device.plist` and `<set>/<udid>/data/`. */
export function folderOf(set: DeviceSet, udid: string): string {
  return join(set.path, udid);
}

export function dataOf(set: DeviceSet, udid: string): string {
  return join(set.path, udid, "data");
}

/** The host's home is not the virtual Mac's: logs stand beside the set. */
export function logPathOf(set: DeviceSet, udid: string): string {
  return join(set.path, "..", "Logs", udid);
}

interface NewDevice {
  readonly name: string;
  readonly type: DeviceType;
  readonly runtime: Runtime;
  readonly state: DeviceState;
  readonly until: number | null;
}

/** Makes a device, its folder first: a crash in between leaves a folder that no listing shows, never a device without one. */
export function newDevice(set: DeviceSet, made: NewDevice): Device {
  const device: Device = {
    udid: randomUUID().toUpperCase(),
    name: made.name,
    typeId: made.type.identifier,
    runtimeId: made.runtime.identifier,
    state: made.state,
    until: made.until,
    lastBootedAt: null,
    session: null,
    settings: FACTORY_SETTINGS,
    bootCount: 0,
  };
  freshData(set, device.udid);
  writeRecord(set, device);
  set.write(() => set.add(device));
  return device;
}

/** An empty `data` folder, with the parts that a device has before its first boot. */
export function freshData(set: DeviceSet, udid: string): void {
  for (const part of [
    "Library/Preferences",
    "Containers/Bundle/Application",
    "Containers/Data/Application",
    "Media/DCIM",
    "tmp",
  ]) {
    mkdirSync(join(dataOf(set, udid), part), { recursive: true });
  }
}

const ERASED = ".erased-";
const DELETED = ".deleted-";

/** Moves all data out of sight at once, so that nobody meets a half-wiped device. `sweep` deletes it. */
export function setDataAside(set: DeviceSet, udid: string): void {
  setAside(dataOf(set, udid), join(folderOf(set, udid), `${ERASED}${randomUUID()}`));
}

/** Moves a removed device's folder out of sight. */
export function setFolderAside(set: DeviceSet, udid: string): void {
  setAside(folderOf(set, udid), join(set.path, `${DELETED}${randomUUID()}`));
}

function setAside(path: string, aside: string): void {
  try {
    renameSync(path, aside);
  } catch (error) {
    // Somebody else took it away: then there is nothing left to do.
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
}

/** Deletes what was set aside in `folder`, also by a call that was killed before it came to this. */
export function sweep(folder: string): void {
  // A folder that is gone was set aside itself.
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    if (name.startsWith(ERASED) || name.startsWith(DELETED)) {
      rmSync(join(folder, name), { recursive: true, force: true, maxRetries: 3 });
    }
  }
}

// CoreSimulator's own numbers of the states.
const STATE_NUMBERS: Readonly<Record<DeviceState, bigint>> = {
  Creating: 0n,
  Shutdown: 1n,
  Booting: 2n,
  Booted: 3n,
  "Shutting Down": 4n,
};

/** The device.plist that a real set has. It is written for those who look; `virtual.db` is what counts. */
export function writeRecord(set: DeviceSet, device: Device): void {
  const record: Record<string, PlistValue> = {
    UDID: device.udid,
    name: device.name,
    deviceType: device.typeId,
    runtime: device.runtimeId,
    state: STATE_NUMBERS[stateAt(device, Date.now())],
    isDeleted: false,
    isEphemeral: false,
    runtimePolicy: "default",
  };
  if (device.lastBootedAt !== null) record["lastBootedAt"] = new Date(device.lastBootedAt);
  mkdirSync(folderOf(set, device.udid), { recursive: true });
  writeWhole(join(folderOf(set, device.udid), "device.plist"), writeXmlPlist(record));
}
