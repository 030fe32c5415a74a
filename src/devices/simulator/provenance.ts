import { DeviceId, SimlockError } from "../../contract/index.ts";
import type { DeviceSpec } from "../../contract/index.ts";
import type { SimDevice } from "../../exec/index.ts";
import type { Observed, OwnDevice } from "../driver.ts";
import type { Mark, MarkReading, Marks } from "./marks.ts";

const NAME_PREFIX = "simlock-";

/** Whether a name has the form that we give: `simlock-<device id>`. */
export function isOurName(name: string): boolean {
  return name.startsWith(NAME_PREFIX) && DeviceId.safeParse(name.slice(NAME_PREFIX.length)).success;
}

export function markOf(own: OwnDevice, udid: string, instanceId: string): Mark {
  return { token: own.mark, udid, instanceId, writtenAt: Date.now() };
}

/** What an observation says of a mark that is there and is no proof: equal to no token. A cloned device carries its original's. */
const DAMAGED_MARK = "damaged-mark";
const MARK_OF_ANOTHER_DEVICE = "mark-of-another-device";

function shown(reading: MarkReading, udid: string): string | undefined {
  if (reading.kind === "damaged") return DAMAGED_MARK;
  if (reading.kind !== "mark") return undefined;
  return reading.mark.udid === udid ? reading.mark.token : MARK_OF_ANOTHER_DEVICE;
}

/** The instance that a device's own mark names; the erasable one counts only where the durable one is gone. */
function instanceOf(marks: Marks, udid: string): string | undefined {
  for (const reading of [marks.durable, marks.erasable]) {
    if (reading.kind === "mark" && reading.mark.udid === udid) return reading.mark.instanceId;
  }
  return undefined;
}

/**
 * The device as an observation, or undefined where it is none of ours: ours are those with a name of our form that no other instance has marked, and
 * those with our mark under any name.
 */
export function observe(
  device: SimDevice,
  marks: Marks,
  instanceId: string,
  spec: DeviceSpec | undefined,
): Observed | undefined {
  const instance = instanceOf(marks, device.udid);
  if (instance !== instanceId && (instance !== undefined || !isOurName(device.name))) return undefined;
  return {
    driverDeviceId: device.udid,
    name: device.name,
    runState: device.runState,
    durableMark: shown(marks.durable, device.udid),
    erasableMark: shown(marks.erasable, device.udid),
    address: device.udid,
    spec,
  };
}

/** Why a device is not proven to be the one that the registry means. */
export type Doubt = "renamed" | "durable-mark-missing" | "mark-mismatch" | "mark-unreadable";

/** Undefined when name and durable mark prove it. `unmarkedAllowed`: its making was interrupted before it could be marked. */
export function doubtOf(
  own: OwnDevice,
  device: SimDevice,
  marks: Marks,
  instanceId: string,
  unmarkedAllowed: boolean,
): Doubt | undefined {
  if (device.name !== own.name) return "renamed";
  if (unmarkedAllowed && marks.durable.kind === "missing")
    return foreignErasable(own, device, marks) ? "mark-mismatch" : undefined;
  if (marks.durable.kind === "missing") return "durable-mark-missing";
  if (marks.durable.kind === "unreadable") return "mark-unreadable";
  return isMarkOf(marks.durable, own, device, instanceId) ? undefined : "mark-mismatch";
}

function isMarkOf(reading: MarkReading, own: OwnDevice, device: SimDevice, instanceId: string): boolean {
  if (reading.kind !== "mark") return false;
  const { token, udid, instanceId: instance } = reading.mark;
  return token === own.mark && udid === device.udid && instance === instanceId;
}

/** An erasable mark without a durable one is how an interrupted making looks; anybody else's is not. */
function foreignErasable(own: OwnDevice, device: SimDevice, marks: Marks): boolean {
  if (marks.erasable.kind === "missing") return false;
  return (
    marks.erasable.kind !== "mark" || marks.erasable.mark.token !== own.mark || marks.erasable.mark.udid !== device.udid
  );
}

const DOUBTS: Readonly<Record<Doubt, string>> = {
  renamed: "it was renamed",
  "durable-mark-missing": "its mark is gone",
  "mark-mismatch": "its mark is not the one that Simlock wrote",
  "mark-unreadable": "its mark can't be read",
};

/** The refusal to touch it. */
export function unproven(own: OwnDevice, device: SimDevice, doubt: Doubt): SimlockError {
  return new SimlockError(
    "DEVICE_UNAVAILABLE",
    `The simulator ${device.udid} is no longer proven to be ${own.deviceId}: ${DOUBTS[doubt]}. It was left untouched.`,
    {
      hint: "Something outside Simlock changed it. `simlock doctor` shows the drift; delete the simulator in Xcode if it is of no use.",
      details: { deviceId: own.deviceId, provenance: doubt },
    },
  );
}

export function goneError(own: OwnDevice): SimlockError {
  return new SimlockError(
    "DEVICE_UNAVAILABLE",
    `The simulator of ${own.deviceId} is gone: it was deleted outside Simlock.`,
    {
      hint: "Release the lease and ask for another device.",
      details: { deviceId: own.deviceId, provenance: "gone" },
    },
  );
}
