import { SimlockError } from "../../contract/index.ts";
import { commandFailure, failureOf } from "../../exec/index.ts";
import type { SimDevice } from "../../exec/index.ts";
import type { OwnDevice } from "../driver.ts";
import { tellToStop } from "./run-state.ts";
import type { Simulators } from "./simulators.ts";
import { LIMITS } from "./simctl.ts";

/** How long a device may take to come to rest, and a deleted one to leave the listing. */
const SETTLE_MS = 60_000;
const POLL_MS = 500;

/** Deletes a device whose ownership was proven, and sees that it is gone. One that was gone already is a success. */
export async function remove(simulators: Simulators, device: SimDevice, signal: AbortSignal): Promise<void> {
  const { simctl, set, clock } = simulators;
  const { udid } = device;
  // One that is being created or is shutting down refuses a shutdown: it comes to rest first.
  const resting =
    device.runState === "transitioning" ? await set.settled(udid, clock.now() + SETTLE_MS, signal) : device;
  if (resting !== undefined && resting.runState !== "stopped") await tellToStop(simulators, udid, signal);
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
export async function destroy(simulators: Simulators, own: OwnDevice, signal: AbortSignal): Promise<void> {
  if (own.driverDeviceId === undefined) {
    for (const device of await simulators.set.namesakes(own, signal)) await remove(simulators, device, signal);
    return;
  }
  const device = await simulators.set.find(own.driverDeviceId, signal);
  if (device === undefined) return;
  await simulators.set.proveDevice(own, device, false);
  await remove(simulators, device, signal);
}
