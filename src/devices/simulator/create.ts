import { SimlockError } from "../../contract/index.ts";
import type { OwnDevice } from "../driver.ts";
import { commandFailure, failureOf } from "./failures.ts";
import type { SimDevice } from "./listing.ts";
import { readMark, writeMarks } from "./marks.ts";
import type { Mark } from "./marks.ts";
import { pairingOf } from "./models.ts";
import { tellToStop } from "./run-state.ts";
import type { Platform } from "./run-state.ts";
import { LIMITS } from "./simctl.ts";

/** How long a device that is being made may take to come to rest. */
const SETTLE_MS = 60_000;
const POLL_MS = 500;

export function markOf(own: OwnDevice, udid: string, instanceId: string): Mark {
  return { token: own.mark, udid, instanceId, writtenAt: Date.now() };
}

/**
 * Makes the device and marks it. A device of its exact name that is there already was made by an attempt whose result was lost: it is taken over, never
 * doubled. Throws `UNKNOWN_MODEL`, `RUNTIME_MISSING`, `INSUFFICIENT_DISK_SPACE`, `DEVICE_UNAVAILABLE`, `TOOL_FAILED`.
 */
export async function create(platform: Platform, own: OwnDevice, signal: AbortSignal): Promise<string> {
  const made = (await adopt(platform, own, signal)) ?? (await make(platform, own, signal));
  const device = await platform.set.settled(made, platform.clock.now() + SETTLE_MS, signal);
  if (device === undefined) {
    throw new SimlockError("TOOL_FAILED", `simctl made the simulator ${made}, but does not list it.`);
  }
  const place = await platform.set.proveDevice(own, device, true);
  await writeMarks(place, markOf(own, device.udid, platform.instanceId));
  return device.udid;
}

/** Devices of exactly this name, which nobody else can guess: those with our mark first, then those not marked yet. Throws at any other. */
async function namesakes(platform: Platform, own: OwnDevice, signal: AbortSignal): Promise<readonly SimDevice[]> {
  const marked: SimDevice[] = [];
  const unmarked: SimDevice[] = [];
  for (const device of await platform.set.listFresh(signal)) {
    if (device.name !== own.name) continue;
    const place = await platform.set.proveDevice(own, device, true);
    ((await readMark(place.folder)).kind === "missing" ? unmarked : marked).push(device);
  }
  return [...marked, ...unmarked];
}

async function adopt(platform: Platform, own: OwnDevice, signal: AbortSignal): Promise<string | undefined> {
  const [first, ...more] = await namesakes(platform, own, signal);
  if (first === undefined) return undefined;
  // CoreSimulator finishes a create whose client was killed at its time limit, after we may have made another.
  for (const device of more) {
    platform.log("warn", "A simulator that was made twice is deleted", { deviceId: own.deviceId, udid: device.udid });
    await remove(platform, device, signal);
  }
  platform.log("info", "A simulator whose making was interrupted is taken over", {
    deviceId: own.deviceId,
    udid: first.udid,
  });
  return first.udid;
}

async function make(platform: Platform, own: OwnDevice, signal: AbortSignal): Promise<string> {
  const { type, runtime } = await kindOf(platform, own, signal);
  const args = ["create", own.name, type, runtime];
  const outcome = await platform.simctl.attempt(args, { timeoutMs: LIMITS.create, signal });
  if (outcome.kind === "no-answer") {
    const found = await adopt(platform, own, signal);
    if (found === undefined) throw outcome.error;
    return found;
  }
  const { answer } = outcome;
  if (answer.exitCode !== 0) {
    switch (failureOf(answer).kind) {
      case "no-runtime":
        throw runtimeMissing(own, []);
      case "no-device-type":
        throw unknownModel(own);
      case "disk-full":
        throw new SimlockError("INSUFFICIENT_DISK_SPACE", `There is no space left for a new ${own.spec.model}.`, {
          hint: "Free some disk space: `xcrun simctl delete unavailable` removes simulators whose runtime is gone.",
        });
      default:
        throw commandFailure(args, answer);
    }
  }
  const udid = answer.stdout.match(/[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}/gi)?.at(-1);
  const found = udid ?? (await adopt(platform, own, signal));
  if (found === undefined) throw commandFailure(args, answer);
  return found;
}

async function kindOf(
  platform: Platform,
  own: OwnDevice,
  signal: AbortSignal,
): Promise<{ readonly type: string; readonly runtime: string }> {
  const { spec } = own;
  const known = platform.set.lastKinds;
  const before = known === undefined ? undefined : pairingOf(spec, known.deviceTypes, known.runtimes);
  // What was not there at the last listing may have been installed since.
  const kinds = before?.kind === "pair" ? undefined : await platform.set.kinds(signal);
  const pairing = kinds === undefined ? before : pairingOf(spec, kinds.deviceTypes, kinds.runtimes);
  if (pairing === undefined || pairing.kind === "unknown-model") throw unknownModel(own);
  if (pairing.kind === "no-runtime") throw runtimeMissing(own, pairing.paired);
  return { type: pairing.type.id, runtime: pairing.runtime.id };
}

function unknownModel(own: OwnDevice): SimlockError {
  return new SimlockError("UNKNOWN_MODEL", `This Xcode has no simulator called "${own.spec.model}".`, {
    details: { model: own.spec.model },
  });
}

function runtimeMissing(own: OwnDevice, paired: readonly string[]): SimlockError {
  const { model, osVersion } = own.spec;
  const there = paired.length === 0 ? "no installed runtime runs it" : `installed for it: ${paired.join(", ")}`;
  return new SimlockError("RUNTIME_MISSING", `${model} with ${osVersion} can't be made: ${there}.`, {
    details: { model, osVersion, installed: [...paired] },
  });
}

/** Deletes a device whose ownership was proven, and sees that it is gone. One that was gone already is a success. */
export async function remove(platform: Platform, device: SimDevice, signal: AbortSignal): Promise<void> {
  const { simctl, set, clock } = platform;
  const { udid } = device;
  // One that is being created or is shutting down refuses a shutdown: it comes to rest first.
  const resting =
    device.runState === "transitioning" ? await set.settled(udid, clock.now() + SETTLE_MS, signal) : device;
  if (resting !== undefined && resting.runState !== "stopped") await tellToStop(platform, udid, signal);
  const args = ["delete", udid];
  const outcome = await simctl.attempt(args, { timeoutMs: LIMITS.delete, signal });
  if (outcome.kind === "answer" && outcome.answer.exitCode !== 0 && failureOf(outcome.answer).kind !== "no-device") {
    throw commandFailure(args, outcome.answer);
  }
  const deadline = clock.now() + SETTLE_MS;
  while ((await set.listFresh(signal)).some((other) => other.udid === udid)) {
    if (clock.now() >= deadline) {
      throw new SimlockError("TOOL_FAILED", `The simulator ${udid} was deleted and is still listed.`);
    }
    await clock.sleep(POLL_MS, signal);
  }
  set.forget(udid);
}

/**
 * Removes the registry's device. Without a UDID its making was interrupted, and its exact name finds it, marked or not. Gone is a success. Throws
 * `DEVICE_UNAVAILABLE` where it is not proven to be ours.
 */
export async function destroy(platform: Platform, own: OwnDevice, signal: AbortSignal): Promise<void> {
  if (own.driverDeviceId === undefined) {
    for (const device of await namesakes(platform, own, signal)) await remove(platform, device, signal);
    return;
  }
  const device = await platform.set.find(own.driverDeviceId, signal);
  if (device === undefined) return;
  await platform.set.proveDevice(own, device, false);
  await remove(platform, device, signal);
}
