import { SimlockError, type LeaseId } from "../contract/index.ts";
import type { Driver, ToolCommand } from "../devices/index.ts";
import { callTool, decideCommand, toError, toolEnvironment, type Setting } from "../exec/index.ts";
import type { Device } from "../leasing/index.ts";
import type { RunSimctl } from "../state/index.ts";
import { ownDevice } from "./effects.ts";

export interface LeasedSimctl {
  readonly leaseId: LeaseId;
  readonly device: Device;
  readonly driver: Driver;
  readonly udid: string;
  /** What a command of this caller may be on the leased device. */
  readonly setting: Setting;
  readonly tool: ToolCommand;
  /** What the commands may inherit from. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly scratch: string;
  /** Tells the decider that the holder is about to boot or shut down its device. Resolves when that is committed. */
  readonly power: (leaseId: LeaseId, off: boolean) => Promise<void>;
  readonly signal: AbortSignal;
}

/** A listing of many simulators with everything that they say of themselves. */
const MAX_BYTES = 16 * 1024 * 1024;
/** What is read of the machine as a whole, and changes nothing. */
const READS = new Set(["list", "help"]);
/** The device's power: the holder's own confirmed act, which a command line of an agent may not be for all of them. */
const POWER = new Map([
  ["boot", "on"],
  ["bootstatus", "on"],
  ["shutdown", "off"],
  ["erase", "kept"],
]);

/**
 * Commands of the state room on a leased simulator. Each goes through the same decision as a command of the holder, so that it can reach that device
 * alone and no path that its holder may not; power and erase, which only a confirmed plan brings here, are told to the decider, and an erased device is
 * marked as ours again.
 */
export function leasedSimctl(leased: LeasedSimctl): RunSimctl {
  const { leaseId, device, driver, udid, setting, tool, scratch } = leased;
  return async (run) => {
    const [verb = "", named] = run.args;
    const power = POWER.get(verb);
    if (power !== undefined && named !== udid) throw notTheLeased(verb, named, udid);
    if (power === "on" || power === "off") await leased.power(leaseId, power === "off");
    const result = await callTool({
      file: tool.file,
      args: [
        ...tool.prefix,
        ...(power !== undefined || READS.has(verb) ? run.args : decided(run.args, run.stdin, setting)),
      ],
      env: toolEnvironment(leased.environment, { ...tool.env, ...run.environment }, { tmpdir: scratch }),
      cwd: scratch,
      timeoutMs: run.timeoutMs,
      maxBytes: MAX_BYTES,
      signal: run.signal === undefined ? leased.signal : AbortSignal.any([run.signal, leased.signal]),
      stdin: run.stdin,
      onStarted: run.onStarted,
    });
    // Not with the signal: a device that was erased must not stay unmarked because somebody gave up waiting.
    if (verb === "erase" && result.exitCode === 0)
      await driver.remark?.(ownDevice(device), AbortSignal.timeout(30_000));
    return result;
  };
}

function decided(args: readonly string[], stdin: string | undefined, setting: Setting): readonly string[] {
  const verdict = decideCommand({ tool: "simctl", args }, { ...setting, stdin: stdin !== undefined });
  if (verdict.kind !== "run") throw toError(verdict, "simctl");
  return verdict.args;
}

function notTheLeased(verb: string, named: string | undefined, udid: string): SimlockError {
  return new SimlockError(
    "PASSTHROUGH_REFUSED",
    `${verb} names ${named ?? "no device"}, and the lease is for ${udid}.`,
    {
      hint: "Leave the target of the profile out, or name the leased device.",
    },
  );
}
