import { mkdirSync, rmSync } from "node:fs";
import { operand, parseArguments } from "../arguments.ts";
import type { Call } from "../call.ts";
import { FACTORY_SETTINGS } from "../device.ts";
import { folderOf, freshData, logPathOf, setDataAside, setFolderAside, sweep, writeRecord } from "../device-folder.ts";
import { deviceFor, isAvailable, requireState } from "../selection.ts";
import { startShutdown, waitUntilShut } from "./shutdown.ts";

/** `erase DEVICE… | all`: back to how it was made. The folder stays, its `data` is new; the device has to be shut down. */
export async function erase(call: Call, args: readonly string[]): Promise<void> {
  const parsed = parseArguments("erase", args, {});
  const word = operand(parsed, 0, "erase", "<device> [... <device n>] | all");
  const udids =
    word === "all"
      ? call.set.devices().map((device) => device.udid)
      : parsed.operands.map((each) => deviceFor(call.set, each).udid);
  for (const udid of udids) requireState(deviceFor(call.set, udid), "erase contents and settings", ["Shutdown"]);
  for (const udid of udids) {
    await call.takeTime("erase");
    call.set.write(() => {
      const device = deviceFor(call.set, udid);
      // Looked at again: it may have been booted while this call took its time.
      requireState(device, "erase contents and settings", ["Shutdown"]);
      const erased = { ...device, state: "Shutdown", until: null, session: null, settings: FACTORY_SETTINGS } as const;
      call.set.forgetContents(udid);
      call.set.put(erased);
      mkdirSync(folderOf(call.set, udid), { recursive: true });
      setDataAside(call.set, udid);
      freshData(call.set, udid);
      writeRecord(call.set, erased);
    });
    sweep(folderOf(call.set, udid));
  }
}

/** `delete DEVICE… | unavailable | all`. A booted device is shut down first. */
export async function remove(call: Call, args: readonly string[]): Promise<void> {
  const parsed = parseArguments("delete", args, {});
  const word = operand(parsed, 0, "delete", "<device> [... <device n>] | unavailable | all");
  const all = call.set.devices();
  const udids =
    word === "all"
      ? all.map((device) => device.udid)
      : word === "unavailable"
        ? all.filter((device) => !isAvailable(call.control, device.runtimeId)).map((device) => device.udid)
        : parsed.operands.map((each) => deviceFor(call.set, each).udid);
  for (const udid of udids) {
    startShutdown(call, udid, true);
    await waitUntilShut(call, udid);
    await call.takeTime("delete");
    call.set.write(() => call.set.remove(udid));
    setFolderAside(call.set, udid);
    rmSync(logPathOf(call.set, udid), { recursive: true, force: true });
  }
  sweep(call.set.path);
}
