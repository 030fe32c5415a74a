import { basename } from "node:path";
import { operand, parseArguments } from "../arguments.ts";
import type { Call } from "../call.ts";
import type { Device } from "../device.ts";
import { deviceFor, requireState, runningDevice } from "../selection.ts";

const FORM =
  "[-w | --wait-for-debugger] [-s | --standalone] [-a <arch> | --arch=<arch>] <device> <path to executable> [<argv 1> ... <argv n>]";

export type DeviceTool = (call: Call, device: Device, args: readonly string[]) => Promise<number> | number;

/** The programs of the device's own system that are simulated. Everything else is a program of the host. */
const TOOLS: Readonly<Record<string, () => Promise<DeviceTool>>> = {
  defaults: async () => (await import("../spawn/defaults.ts")).defaults,
  launchctl: async () => (await import("../spawn/launchctl.ts")).launchctl,
  log: async () => (await import("../spawn/log.ts")).log,
};

const TOOL_FOLDERS: ReadonlySet<string> = new Set(["", "/bin", "/sbin", "/usr/bin", "/usr/sbin"]);

/** `spawn [options] DEVICE PROGRAM [ARG…]` ends with the program's exit code. */
export async function spawn(call: Call, args: readonly string[]): Promise<number> {
  const parsed = parseArguments("spawn", args, {
    flags: ["-w --wait-for-debugger", "-s --standalone", "--checked-allocations"],
    values: ["--arch"],
    separated: ["-a"],
    operandsThenRest: 2,
  });
  const word = operand(parsed, 0, "spawn", FORM);
  const program = operand(parsed, 1, "spawn", FORM);
  const device = parsed.has("-s") ? deviceFor(call.set, word) : runningDevice(call.set, word);
  if (parsed.has("-s")) requireState(device, "spawn", ["Shutdown", "Booted"]);
  await call.takeTime("spawn");

  const name = basename(program);
  const folder = program === name ? "" : program.slice(0, -name.length - 1);
  const load = TOOL_FOLDERS.has(folder) && Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined;
  if (load !== undefined) {
    const tool = await load();
    return tool(call, device, parsed.rest);
  }
  const { runOnHost } = await import("../spawn/host-program.ts");
  return runOnHost(call, device, program, parsed.rest);
}
