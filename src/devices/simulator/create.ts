import { SimlockError } from "../../contract/index.ts";
import { commandFailure, failureOf } from "../../exec/index.ts";
import type { OwnDevice } from "../driver.ts";
import { remove } from "./destroy.ts";
import { writeMarks } from "./marks.ts";
import { pairingOf } from "./models.ts";
import { markOf } from "./provenance.ts";
import type { Simulators } from "./simulators.ts";
import { LIMITS } from "./simctl.ts";

/** How long a device that is being made may take to come to rest. */
const SETTLE_MS = 60_000;

/**
 * Makes the device and marks it. A device of its exact name that is there already was made by an attempt whose result was lost: it is taken over, never
 * doubled. Throws `UNKNOWN_MODEL`, `RUNTIME_MISSING`, `INSUFFICIENT_DISK_SPACE`, `DEVICE_UNAVAILABLE`, `TOOL_FAILED`.
 */
export async function create(simulators: Simulators, own: OwnDevice, signal: AbortSignal): Promise<string> {
  const made = (await adopt(simulators, own, signal)) ?? (await make(simulators, own, signal));
  const device = await simulators.set.settled(made, simulators.clock.now() + SETTLE_MS, signal);
  if (device === undefined) {
    throw new SimlockError("TOOL_FAILED", `simctl made the simulator ${made}, but does not list it.`);
  }
  const place = await simulators.set.proveDevice(own, device, true);
  await writeMarks(place, markOf(own, device.udid, simulators.instanceId));
  return device.udid;
}

async function adopt(simulators: Simulators, own: OwnDevice, signal: AbortSignal): Promise<string | undefined> {
  const [first, ...more] = await simulators.set.namesakes(own, signal);
  if (first === undefined) return undefined;
  // CoreSimulator finishes a create whose client was killed at its time limit, after we may have made another.
  for (const device of more) {
    simulators.log("warn", "A simulator that was made twice is deleted", { deviceId: own.deviceId, udid: device.udid });
    await remove(simulators, device, signal);
  }
  simulators.log("info", "A simulator whose making was interrupted is taken over", {
    deviceId: own.deviceId,
    udid: first.udid,
  });
  return first.udid;
}

async function make(simulators: Simulators, own: OwnDevice, signal: AbortSignal): Promise<string> {
  const { type, runtime } = await kindOf(simulators, own, signal);
  const args = ["create", own.name, type, runtime];
  const outcome = await simulators.simctl.attempt(args, { timeoutMs: LIMITS.create, signal });
  if (outcome.kind === "no-answer") {
    const found = await adopt(simulators, own, signal);
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
  const found = udid ?? (await adopt(simulators, own, signal));
  if (found === undefined) throw commandFailure(args, answer);
  return found;
}

async function kindOf(
  simulators: Simulators,
  own: OwnDevice,
  signal: AbortSignal,
): Promise<{ readonly type: string; readonly runtime: string }> {
  const { spec } = own;
  const known = simulators.set.lastKinds;
  const before = known === undefined ? undefined : pairingOf(spec, known.deviceTypes, known.runtimes);
  // What was not there at the last listing may have been installed since.
  const kinds = before?.kind === "pair" ? undefined : await simulators.set.kinds(signal);
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
