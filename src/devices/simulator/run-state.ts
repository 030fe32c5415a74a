import { SimlockError } from "../../contract/index.ts";
import { commandFailure, failureOf, firstLines, RESTART_CORE_SIMULATOR } from "../../exec/index.ts";
import type { SimDevice } from "../../exec/index.ts";
import type { OwnDevice } from "../driver.ts";
import { displayOf } from "./display.ts";
import { goneError } from "./provenance.ts";
import { LIMITS } from "./simctl.ts";
import type { Simulators } from "./simulators.ts";

/** How long a device may take to come to rest after its command has ended. */
const SETTLE_MS = 30_000;

/** Tells the device to shut down. Whether it did so by then is not said: the next command's refusal or a listing tells. Ownership is the caller's to prove. */
export async function tellToStop(simulators: Simulators, udid: string, signal: AbortSignal): Promise<void> {
  const args = ["shutdown", udid];
  const outcome = await simulators.simctl.attempt(args, { timeoutMs: LIMITS.shutdown, signal });
  if (outcome.kind === "no-answer" || outcome.answer.exitCode === 0) return;
  const failure = failureOf(outcome.answer);
  const stopping = failure.kind === "state" && failure.state.startsWith("Shut");
  if (!stopping && failure.kind !== "no-device") throw commandFailure(args, outcome.answer);
}

/** Shuts the device down and sees in the listing that it is. "gone": there is nothing left to shut down. */
export async function stop(simulators: Simulators, udid: string, signal: AbortSignal): Promise<"stopped" | "gone"> {
  const { set, clock } = simulators;
  await tellToStop(simulators, udid, signal);
  const device = await set.settled(udid, clock.now() + SETTLE_MS, signal);
  if (device === undefined) return "gone";
  if (device.runState === "stopped") return "stopped";
  throw new SimlockError("TOOL_FAILED", `The simulator ${udid} was told to shut down and is still ${device.state}.`, {
    hint: RESTART_CORE_SIMULATOR,
  });
}

/** Shuts down what failed to start: a device that hangs would keep running otherwise. Its own failure only goes to the log. */
async function abandon(simulators: Simulators, udid: string, signal: AbortSignal): Promise<void> {
  try {
    await stop(simulators, udid, signal);
  } catch (error) {
    signal.throwIfAborted();
    simulators.log("warn", "A simulator that failed to start can't be shut down", { udid, error: String(error) });
  }
}

function startFailed(own: OwnDevice, why: string): SimlockError {
  return new SimlockError("DEVICE_START_FAILED", `The simulator of ${own.deviceId} did not start: ${why}.`, {
    details: { deviceId: own.deviceId },
  });
}

/**
 * Boots the device, as a listing has just shown it, until it can be used: booted by the listing's word, not by the command's, and with a display. One
 * that says it is booted and shows none is wedged and stays so (stablyai/orca#7062): it is shut down and booted once more, within the same time limit.
 * Throws `DEVICE_START_FAILED`, `DEVICE_UNAVAILABLE`.
 */
export async function start(
  simulators: Simulators,
  own: OwnDevice,
  seen: SimDevice,
  signal: AbortSignal,
): Promise<void> {
  const { udid } = seen;
  const deadline = simulators.clock.now() + simulators.bootTimeoutMs;
  for (let attempt = 1; ; attempt += 1) {
    await bootOnce(simulators, own, { udid, seen: attempt === 1 ? seen : undefined, deadline }, signal);
    const display = await displayOf(simulators, udid, signal);
    if (display.kind === "shown") return;
    simulators.log("warn", "A booted simulator shows no display", { udid, attempt, why: display.why });
    await abandon(simulators, udid, signal);
    if (attempt === 2) throw startFailed(own, `it says that it is booted, but ${display.why}`);
  }
}

interface Subject {
  readonly udid: string;
  readonly seen: SimDevice | undefined;
  /** On the clock. */
  readonly deadline: number;
}

async function bootOnce(simulators: Simulators, own: OwnDevice, subject: Subject, signal: AbortSignal): Promise<void> {
  const { simctl, clock } = simulators;
  const { udid, deadline } = subject;
  await begin(simulators, own, subject, signal);
  const timeoutMs = Math.max(1_000, deadline - clock.now());
  const outcome = await simctl.attemptNow(["bootstatus", udid, "-b"], { timeoutMs, signal });
  if (outcome.kind === "no-answer") {
    await abandon(simulators, udid, signal);
    throw startFailed(own, `it was not ready after ${Math.round(simulators.bootTimeoutMs / 1_000)} s`);
  }
  // It can refuse a booted device with "current state: Booted" (bazelbuild/rules_apple#2597): whatever it said, the listing decides.
  const refused = outcome.answer.exitCode === 0 ? undefined : firstLines(outcome.answer);
  await confirmBooted(simulators, own, udid, { deadline, refused }, signal);
}

/** Gets it on its way: nothing to do where it is booted or booting. */
async function begin(
  simulators: Simulators,
  own: OwnDevice,
  { udid, seen, deadline }: Subject,
  signal: AbortSignal,
): Promise<void> {
  const { simctl, set, clock } = simulators;
  for (let attempt = 1; ; attempt += 1) {
    let device = attempt === 1 && seen !== undefined ? seen : await set.find(udid, signal);
    // "Shutting Down" and "Creating" refuse a boot: wait for their end.
    const busy = device?.runState === "transitioning" && device.state !== "Booting";
    if (busy) device = await set.settled(udid, deadline, signal);
    if (device === undefined) throw goneError(own);
    if (device.state === "Booted" || device.state === "Booting") return;
    if (device.runState !== "stopped") throw startFailed(own, `it stays in the state ${device.state}`);
    const args = ["boot", udid];
    const timeoutMs = Math.max(1_000, Math.min(LIMITS.boot, deadline - clock.now()));
    const outcome = await simctl.attempt(args, { timeoutMs, signal });
    // No answer is no failure: CoreSimulator may go on booting, and bootstatus tells.
    if (outcome.kind === "no-answer" || outcome.answer.exitCode === 0) return;
    const failure = failureOf(outcome.answer);
    if (failure.kind === "no-device") throw goneError(own);
    if (failure.kind !== "state") throw startFailed(own, firstLines(outcome.answer));
    if (failure.state.startsWith("Boot")) return;
    if (attempt === 3) throw startFailed(own, firstLines(outcome.answer));
  }
}

interface Confirmation {
  readonly deadline: number;
  /** What bootstatus said against it. */
  readonly refused: string | undefined;
}

/**
 * Until the listing says Booted. A listing that can't be had, or that lacks the device, is "unknown": then nothing is booted or shut down again
 * (kaeawc/auto-mobile#6411).
 */
async function confirmBooted(
  simulators: Simulators,
  own: OwnDevice,
  udid: string,
  { deadline, refused }: Confirmation,
  signal: AbortSignal,
): Promise<void> {
  const { set } = simulators;
  let device;
  try {
    device = refused === undefined ? await set.settled(udid, deadline, signal) : await set.find(udid, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw startFailed(own, `its state can't be read (${error instanceof Error ? error.message : "unknown"})`);
  }
  if (device === undefined) throw startFailed(own, "the listing has lost it");
  if (device.state === "Booted") return;
  if (device.runState === "transitioning") await abandon(simulators, udid, signal);
  throw startFailed(own, refused ?? `after booting it is ${device.state}`);
}
