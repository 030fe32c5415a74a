import { SimlockError } from "../../contract/index.ts";
import type { Command } from "../planning/command.ts";
import type { Act } from "../planning/operations.ts";
import { UDID } from "../planning/shapes.ts";
import type { DeviceReader, OperationAction, Receipt, RunSimctl } from "../types.ts";
import type { Redactor } from "./redact.ts";

export interface RunPorts {
  readonly run: RunSimctl;
  readonly reader: DeviceReader;
  readonly redactor: Redactor;
  readonly now: () => Date;
}

export interface Ran {
  readonly receipt: Receipt;
  readonly ok: boolean;
  /** Of the device that was made. */
  readonly madeUDID?: string;
}

/** Stands for a command that gave no exit code: it was not there, or was ended at its limit. */
const NO_EXIT_CODE = 1;

export interface Job {
  readonly id: string;
  readonly action: OperationAction;
  readonly udid: string;
  readonly commands: readonly Command[];
  /** It prints the UDID of the device that it makes. */
  readonly makes: boolean;
}

export const jobOf = (id: string, act: Act, udid: string): Job => ({
  id,
  action: act.action,
  udid,
  commands: act.commands(udid),
  makes: act.action === "createDevice",
});

/**
 * Runs the commands of one operation, one after the other, to the first that fails. A failure that says that it was so already is none. Never throws:
 * whatever happens is in the receipt.
 */
export async function runCommands(job: Job, ports: RunPorts, signal: AbortSignal | undefined): Promise<Ran> {
  const startedAt = stamp(ports.now());
  const ran: Command[] = [];
  const out: string[] = [];
  const err: string[] = [];
  const notes: string[] = [];
  let exitCode = 0;
  let ok = true;
  for (const command of job.commands) {
    ran.push(command);
    const { alreadySo, ...run } = command;
    try {
      signal?.throwIfAborted();
      const answer = await ports.run({ ...run, ...(signal === undefined ? {} : { signal }) });
      exitCode = answer.exitCode;
      out.push(answer.stdout);
      err.push(answer.stderr);
    } catch (error) {
      exitCode = NO_EXIT_CODE;
      err.push(messageOf(error));
    }
    if (exitCode === 0) continue;
    if (alreadySo?.text.test(err.at(-1) ?? "") === true) {
      notes.push(alreadySo.note);
      continue;
    }
    // Booting can refuse a booted device and its wait can hang: the listing's word decides (bazelbuild/rules_apple#2597).
    if (job.action === "boot" && signal?.aborted !== true && (await isBooted(job.udid, ports))) {
      notes.push("The command failed, and the device is booted.");
      continue;
    }
    ok = false;
    break;
  }
  const madeUDID = job.makes && ok ? udidIn(out.join("\n")) : undefined;
  if (job.makes && ok && madeUDID === undefined) {
    ok = false;
    err.push("simctl did not say which device it made.");
  }
  const satisfied = ok && notes.length > 0 && job.commands[0]?.alreadySo !== undefined;
  const receipt: Receipt = {
    operationID: job.id,
    action: job.action,
    targetUDID: madeUDID ?? job.udid,
    commands: ran.map(({ args }) => ["xcrun", "simctl", ...ports.redactor.command(args)]),
    exitCode,
    standardOutput: ports.redactor.output(joined(out)),
    standardError: ports.redactor.output(joined(err)),
    startedAt,
    finishedAt: stamp(ports.now()),
    outcome: ok ? (satisfied ? "satisfied" : "done") : "failed",
    ...(notes.length === 0 ? {} : { note: notes.join(" ") }),
  };
  return { receipt, ok, ...(madeUDID === undefined ? {} : { madeUDID }) };
}

/** A receipt of an operation that no command was run for. */
export function unrun(
  id: string,
  action: OperationAction,
  udid: string,
  told: { readonly at: Date; readonly outcome: NonNullable<Receipt["outcome"]>; readonly note?: string },
): Receipt {
  return {
    operationID: id,
    action,
    targetUDID: udid,
    commands: [],
    exitCode: 0,
    standardOutput: "",
    standardError: "",
    startedAt: stamp(told.at),
    finishedAt: stamp(told.at),
    outcome: told.outcome,
    ...(told.note === undefined ? {} : { note: told.note }),
  };
}

async function isBooted(udid: string, ports: RunPorts): Promise<boolean> {
  try {
    const { devices } = await ports.reader.inventory();
    return devices.some((each) => each.udid === udid && each.state === "Booted");
  } catch {
    return false;
  }
}

function udidIn(output: string): string | undefined {
  return output
    .split(/\s+/)
    .toReversed()
    .find((word) => UDID.safeParse(word).success);
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n");
}

export function stamp(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

export function messageOf(error: unknown): string {
  if (error instanceof SimlockError) return error.message;
  if (error instanceof Error && error.name === "AbortError") return "It was cancelled.";
  return error instanceof Error ? error.message : "It failed without saying why.";
}
