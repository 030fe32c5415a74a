import { SimlockError } from "../../contract/index.ts";
import { commandFailure, failureOf } from "../../exec/index.ts";
import type { OwnDevice } from "../driver.ts";
import type { Proven } from "./device-set.ts";
import { readMarks, writeErasableMark, writeMarks } from "./marks.ts";
import { goneError, markOf } from "./provenance.ts";
import { stop, tellToStop } from "./run-state.ts";
import type { Simulators } from "./simulators.ts";
import { LIMITS } from "./simctl.ts";

/**
 * Erases the device and marks it again; it is shut down then. The erase is believed by its effect: the erasable mark, written anew if it was
 * missing, must be gone. Throws `DEVICE_UNAVAILABLE` where the device is gone or not proven, `TOOL_FAILED`.
 */
export async function clean(simulators: Simulators, own: OwnDevice, udid: string, signal: AbortSignal): Promise<void> {
  const proven = await simulators.set.prove(own, udid, signal);
  // Whether it is down by then, the erase tells: it refuses a device that is not.
  if (proven.device.runState !== "stopped") await tellToStop(simulators, udid, signal);
  await erase(simulators, own, proven, signal);
  await writeMarks(proven.place, markOf(own, udid, simulators.instanceId));
}

async function erase(
  simulators: Simulators,
  own: OwnDevice,
  { device, place }: Proven,
  signal: AbortSignal,
): Promise<void> {
  const { udid } = device;
  const args = ["erase", udid];
  for (let attempt = 1; ; attempt += 1) {
    if ((await readMarks(place)).erasable.kind === "missing") {
      await writeErasableMark(place, markOf(own, udid, simulators.instanceId));
    }
    const outcome = await simulators.simctl.attempt(args, { timeoutMs: LIMITS.erase, signal });
    if (outcome.kind === "no-answer") throw outcome.error;
    if (outcome.answer.exitCode === 0) break;
    const failure = failureOf(outcome.answer);
    if (failure.kind === "no-device") throw goneError(own);
    // Somebody booted it in between. The text is the same in every Xcode, the code is not (ios-control/ios-sim#92).
    if (failure.kind !== "state" || attempt === 2) throw commandFailure(args, outcome.answer);
    if ((await stop(simulators, udid, signal)) === "gone") throw goneError(own);
  }
  if ((await readMarks(place)).erasable.kind !== "missing") {
    throw new SimlockError("TOOL_FAILED", `The simulator ${udid} was erased, but what was in it is still there.`, {
      hint: "Run `simlock doctor`. The device is not granted again before an erase has worked.",
    });
  }
}
