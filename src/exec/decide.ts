import { DEVICE_TOOLS, type DeviceTool } from "../contract/index.ts";
import { adbReadsForwards, readAdb } from "./adb.ts";
import { readDevicectl } from "./devicectl.ts";
import { Reading } from "./reading.ts";
import { Refusal, refuse } from "./refusal.ts";
import { checkShape } from "./shape.ts";
import { readSimctl } from "./simctl.ts";
import type { Command, LeasedDevice, Setting, Verdict } from "./types.ts";

/**
 * What a command may be on the leased device: its arguments written anew, so that they can only act on that device, or a refusal that names the
 * argument, the reason and the right way. Reads nothing but its arguments (the path policy may look at the disk).
 */
export function decideCommand(command: Command, setting: Setting): Verdict {
  const tool = DEVICE_TOOLS.find((known) => known === command.tool);
  if (tool === undefined) return { kind: "unknown-tool", tool: command.tool };
  try {
    checkTool(tool, setting.device);
    checkShape(command.args);
    const reading = new Reading(setting);
    const args = READERS[tool](command.args, reading);
    checkHostCode(tool, args, reading);
    const { flags, hostPaths, hints } = reading;
    return { kind: "run", tool, args, flags, hostPaths, hints };
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    const { reason, token, message, hint } = thrown;
    return { kind: "refuse", reason, token, message, hint };
  }
}

const READERS = { simctl: readSimctl, adb: readAdb, devicectl: readDevicectl } as const;

const TOOL_OF: Readonly<Record<LeasedDevice["kind"], DeviceTool>> = {
  simulator: "simctl",
  emulator: "adb",
  android: "adb",
  iphone: "devicectl",
};

const KIND_NAMES: Readonly<Record<LeasedDevice["kind"], string>> = {
  simulator: "a simulator",
  emulator: "an Android emulator",
  android: "an Android device",
  iphone: "an iPhone",
};

/** From Xcode 27 on devicectl reaches every simulator of the Mac, so it is no tool for a simulator either. */
function checkTool(tool: DeviceTool, device: LeasedDevice): void {
  const right = TOOL_OF[device.kind];
  if (tool === right) return;
  refuse("wrong-tool", tool, `the leased device is ${KIND_NAMES[device.kind]}.`, `Use ${right} for this lease.`);
}

/** Flag X: the command runs code of the caller's choosing on the host, as the user that the daemon runs as. */
function checkHostCode(tool: DeviceTool, args: readonly string[], reading: Reading): void {
  if (reading.setting.hostCode === "allow" || !reading.flags.includes("X")) return;
  refuse(
    "host-exec",
    args[0] ?? tool,
    "it runs code on the host, which `exec.hostCode` denies here.",
    "Ask the operator of this machine to set `exec.hostCode` to `allow`.",
  );
}

/** Whether the decision on a command depends on the adb server's forwards. Where not, the caller need not ask the server for them. */
export function readsForwards(command: Command): boolean {
  return command.tool === "adb" && adbReadsForwards(command.args);
}
