import { setTimeout as sleep } from "node:timers/promises";
import { operand, parseArguments } from "../arguments.ts";
import type { Call } from "../call.ts";
import { stateAt } from "../device.ts";
import { writeRecord } from "../device-folder.ts";
import { paceOf } from "../pace.ts";
import { deviceFor, requireState } from "../selection.ts";

/** `shutdown DEVICE` or `shutdown all`. A device that boots can be shut down; one that is shut down answers with an error. */
export async function shutdown(call: Call, args: readonly string[]): Promise<void> {
  const parsed = parseArguments("shutdown", args, {});
  const word = operand(parsed, 0, "shutdown", "<device> | all");
  const now = Date.now();
  const udids =
    word === "all"
      ? call.set
          .devices()
          .flatMap((device) => (["Booting", "Booted"].includes(stateAt(device, now)) ? [device.udid] : []))
      : [word, ...parsed.operands.slice(1)].map((each) => deviceFor(call.set, each).udid);
  for (const udid of udids) startShutdown(call, udid, word === "all");
  for (const udid of udids) await waitUntilShut(call, udid);
}

export function startShutdown(call: Call, udid: string, lenient: boolean): void {
  call.set.write(() => {
    const device = call.set.device(udid);
    if (device === undefined) return;
    if (lenient && !["Booting", "Booted"].includes(stateAt(device, Date.now()))) return;
    requireState(device, "shutdown device", ["Booting", "Booted"]);
    const until = Date.now() + paceOf(call.control, "shutdown");
    const closing = { ...device, state: "Shutting Down", until, session: null } as const;
    // What ran is gone from now on, whatever becomes of this call.
    call.set.forgetSession(udid);
    call.set.put(closing);
    writeRecord(call.set, closing);
  });
}

export async function waitUntilShut(call: Call, udid: string): Promise<void> {
  for (;;) {
    const device = call.set.device(udid);
    const now = Date.now();
    if (device === undefined || stateAt(device, now) !== "Shutting Down" || device.until === null) {
      if (device !== undefined) writeRecord(call.set, device);
      return;
    }
    await sleep(Math.max(1, device.until - now));
  }
}
