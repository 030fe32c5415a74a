import { setTimeout as sleep } from "node:timers/promises";
import { operand, parseArguments } from "../arguments.ts";
import type { Call } from "../call.ts";
import { stateAt } from "../device.ts";
import { startBoot } from "./boot.ts";
import { deviceFor } from "../selection.ts";

/** The steps between Booted and usable, as the tool names them. */
const STEPS = ["Waiting on Backboard", "Waiting on Data Migration", "Waiting on System App"] as const;

/**
 * `bootstatus DEVICE [-b] [-c] [-d]` follows a boot to the moment at which the device can be used. Without `-b` it waits for a boot that
 * somebody else begins, for ever if nobody does; with `-c` it goes on to the next boot and never ends.
 */
export async function bootstatus(call: Call, args: readonly string[]): Promise<void> {
  const words = args.flatMap((word) =>
    /^-[bcd]{2,3}$/.test(word)
      ? word
          .slice(1)
          .split("")
          .map((flag) => `-${flag}`)
      : [word],
  );
  const parsed = parseArguments("bootstatus", words, { flags: ["-b", "-c", "-d"] });
  const { udid, name } = deviceFor(call.set, operand(parsed, 0, "bootstatus", "<device> [-bcd]"));
  call.out(`Monitoring boot status for ${name} (${udid}).\n`);

  const first = deviceFor(call.set, udid);
  const now = Date.now();
  if (stateAt(first, now) === "Booted" && now >= (first.session?.readyAt ?? 0) && !parsed.has("-c")) {
    call.out("Device already booted, nothing to do.\n");
    return;
  }
  let boots = await followBoot(call, udid, -1, { boots: parsed.has("-b"), detailed: parsed.has("-d") });
  while (parsed.has("-c")) boots = await followBoot(call, udid, boots, { boots: false, detailed: parsed.has("-d") });
}

/** Two callers with `-b` may both find the device shut down: the second one follows the first one's boot. */
function bootUnlessBegun(call: Call, udid: string): void {
  call.set.write(() => {
    if (stateAt(deviceFor(call.set, udid), Date.now()) === "Shutdown") startBoot(call, udid);
  });
}

interface Following {
  /** Begin the boot when the device is found shut down, be it after a shutdown that was still under way. */
  readonly boots: boolean;
  readonly detailed: boolean;
}

/** Follows the boot after boot number `seen` to its end, and returns its number. */
async function followBoot(call: Call, udid: string, seen: number, following: Following): Promise<number> {
  const startedAt = Date.now();
  let begins = following.boots;
  let step = -1;
  for (;;) {
    const device = deviceFor(call.set, udid);
    const now = Date.now();
    const state = stateAt(device, now);
    if (state === "Shutdown" && begins) {
      begins = false;
      bootUnlessBegun(call, udid);
      continue;
    }
    const { session } = device;
    if (state === "Booted" && session !== null && device.bootCount !== seen) {
      const elapsed = elapsedText(now - startedAt);
      const total = Math.max(1, session.readyAt - session.bootedAt);
      const reached = Math.min(STEPS.length, Math.floor(((now - session.bootedAt) / total) * STEPS.length));
      while (step < Math.min(reached, STEPS.length - 1)) {
        step++;
        call.out(`Status=${step + 1}, isTerminal=NO, Elapsed=${elapsed}.\n\t${STEPS[step]}\n`);
        if (following.detailed && step === 1) call.out("\t\tMigrated 3 of 3 data stores\n");
      }
      if (reached === STEPS.length) {
        call.out(`Status=4294967295, isTerminal=YES, Elapsed=${elapsed}.\n\tFinished\n`);
        return device.bootCount;
      }
    }
    await sleep(10);
  }
}

function elapsedText(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  return `${String(Math.floor(seconds / 60)).padStart(2, "0")}:${String(seconds % 60).padStart(2, "0")}`;
}
