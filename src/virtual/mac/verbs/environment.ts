import { operand, parseArguments } from "../arguments.ts";
import type { Call } from "../call.ts";
import { isRunning } from "../device.ts";
import { failure } from "../failure.ts";
import { runningDevice } from "../selection.ts";

/** `getenv DEVICE NAME` prints a variable's value; one that is not set prints nothing. */
export function getenv(call: Call, args: readonly string[]): void {
  const parsed = parseArguments("getenv", args, {});
  const device = runningDevice(call.set, operand(parsed, 0, "getenv", "<device> <variable name>"));
  const name = operand(parsed, 1, "getenv", "<device> <variable name>");
  const value = device.session?.env[name];
  if (value !== undefined) call.out(`${value}\n`);
}

/** `logverbose [DEVICE] enable | disable`; without a device it takes every booted one. */
export function logverbose(call: Call, args: readonly string[]): void {
  const parsed = parseArguments("logverbose", args, {});
  const form = "[<device>] enable | disable";
  const word = parsed.operands.at(-1);
  if (word !== "enable" && word !== "disable") throw failure("usage", { why: `usage: simctl logverbose ${form}` });
  const named = parsed.operands.length > 1 ? operand(parsed, 0, "logverbose", form) : undefined;
  const now = Date.now();
  call.set.write(() => {
    const devices =
      named === undefined
        ? call.set.devices().filter((device) => isRunning(device, now))
        : [runningDevice(call.set, named)];
    for (const device of devices) {
      if (device.session === null) continue;
      call.set.put({ ...device, session: { ...device.session, verbose: word === "enable" } });
    }
  });
}
