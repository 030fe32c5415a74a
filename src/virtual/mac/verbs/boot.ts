import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { operand, parseArguments } from "../arguments.ts";
import type { Call } from "../call.ts";
import { stateAt } from "../device.ts";
import type { Device, Session } from "../device.ts";
import { logPathOf, writeRecord } from "../device-folder.ts";
import { failure } from "../failure.ts";
import { childVariables, deviceEnvironment } from "../environment.ts";
import { paceOf } from "../pace.ts";
import { deviceFor, isAvailable, requireState } from "../selection.ts";

/** `boot DEVICE`: the device is Booting, and Booted when this returns. Its services need longer: see `bootstatus`. */
export async function boot(call: Call, args: readonly string[]): Promise<void> {
  const parsed = parseArguments("boot", args, {
    flags: ["--checked-allocations"],
    values: ["--arch", "--disabledJob -disabledJob", "--enabledJob -enabledJob"],
    anyOperand: true,
  });
  const arch = parsed.value("--arch");
  if (arch !== undefined && arch !== "arm64") throw failure("invalidValue", { what: "architecture", value: arch });
  const word = operand(parsed, 0, "boot", "<device>");
  const pair = call.set.pairs().find((each) => each.id === word.toUpperCase());
  // A pair's id boots both of its devices.
  const words = pair === undefined ? [word] : [pair.phone, pair.watch];
  const started = words.map((each) => startBoot(call, each));
  for (const device of started) await waitUntilBooted(call, device.udid);
}

/** Begins the boot. Throws `wrongState` unless the device is shut down. */
export function startBoot(call: Call, word: string): Device {
  return call.set.write(() => {
    const device = deviceFor(call.set, word, "invalidDeviceOrPair");
    requireState(device, "boot device", ["Shutdown"]);
    if (!isAvailable(call.control, device.runtimeId)) throw failure("runtimeMissing", { action: "boot device" });
    const now = Date.now();
    const until = now + paceOf(call.control, "boot");
    const booting: Device = {
      ...device,
      state: "Booting",
      until: call.boot === "never" ? null : until,
      lastBootedAt: now,
      bootCount: device.bootCount + 1,
      session: sessionOf(call, device, until),
    };
    call.set.put(booting);
    writeRecord(call.set, booting);
    noteBoot(call, booting);
    return booting;
  });
}

/** The device's log, where `list` says that it is. */
function noteBoot(call: Call, device: Device): void {
  const folder = logPathOf(call.set, device.udid);
  mkdirSync(folder, { recursive: true });
  appendFileSync(
    join(folder, "system.log"),
    `${new Date().toISOString()} boot ${device.bootCount} of ${device.name}\n`,
  );
}

function sessionOf(call: Call, device: Device, until: number): Session {
  return {
    readyAt: until + paceOf(call.control, "bootstatus"),
    bootedAt: until,
    display: call.boot !== "no-display",
    env: { ...deviceEnvironment(call, device), ...childVariables(call.env) },
    content: [],
    statusBar: {},
    withoutLabels: device.settings.disabledLabels,
    verbose: false,
  };
}

/** Waits for the end of a boot that somebody began. Throws `wrongState` when the device is shut down meanwhile. */
export async function waitUntilBooted(call: Call, udid: string): Promise<void> {
  for (;;) {
    const now = Date.now();
    const device = deviceFor(call.set, udid);
    const state = stateAt(device, now);
    if (state === "Booted") {
      call.set.write(() => {
        const current = deviceFor(call.set, udid);
        if (stateAt(current, now) === "Booted") writeRecord(call.set, current);
      });
      return;
    }
    if (state !== "Booting") throw failure("wrongState", { action: "boot device", state });
    // A boot that never ends is looked at now and then: a shutdown from elsewhere ends the wait.
    await sleep(device.until === null ? 100 : Math.min(100, Math.max(1, device.until - now)));
  }
}
