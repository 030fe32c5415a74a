import { SimlockError } from "../../contract/index.ts";
import { NIL_UDID } from "../planning/shapes.ts";
import type { DeviceReader, ExecutionReport, RunSimctl } from "../types.ts";
import { checkFacts, checkPlan } from "./check.ts";
import type { CheckedPlan } from "./check.ts";
import { execute } from "./execute.ts";
import type { Progress } from "./execute.ts";
import { Journal } from "./journal.ts";
import { DeviceLock } from "./lock.ts";
import { Redactor } from "./redact.ts";
import { unrun } from "./run-commands.ts";

export interface ApplyPorts {
  readonly run: RunSimctl;
  readonly reader: DeviceReader;
  readonly now?: () => Date;
}

export interface ApplyOptions {
  /** Only `true` carries anything out. Left out or false: a dry run. Anything else is refused. */
  readonly confirm?: unknown;
  /** Apply to a device that has changed since the plan was made. */
  readonly allowStale?: boolean;
  /** Read the device afterwards and say of each field what became of it. Default true. */
  readonly verify?: boolean;
  /** A folder for journals and for the locks between processes. Without one a run can't be resumed, and only this process is kept off the device. */
  readonly journalFolder?: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

/**
 * Carries out a plan, which may come from anywhere: everything in it but the wish is derived anew. Not confirmed, it reads and runs nothing and answers
 * with what would run. An operation that fails, or is cancelled, is in the report, whose status is `failed`.
 *
 * Errors: STATE_INVALID (the plan), BAD_REQUEST (`confirm`), PLAN_STALE, UNKNOWN_DEVICE, DEVICE_UNAVAILABLE, DEVICE_IN_USE, and what reading the device throws.
 */
export async function applyPlan(plan: unknown, options: ApplyOptions, ports: ApplyPorts): Promise<ExecutionReport> {
  const confirmed = isConfirmed(options.confirm);
  const checked = checkPlan(plan);
  const redactor = new Redactor(checked.plan);
  const now = ports.now ?? (() => new Date());
  const { targetUDID } = checked.plan;
  if (!confirmed) return dryRun(checked, redactor, now());
  const lock = await DeviceLock.take(targetUDID, options.journalFolder);
  try {
    const snapshot = await checkFacts(checked, ports.reader, {
      allowStale: options.allowStale === true,
      signal: options.signal,
    });
    const initialPower = snapshot === undefined ? "shutdown" : powerOf(snapshot.device.state);
    const journal = beginJournal(options.journalFolder, checked, initialPower);
    try {
      return await execute({
        checked,
        ports: { run: lock.noted(ports.run), reader: ports.reader, redactor, now },
        lock,
        journal,
        signal: options.signal,
        onProgress: options.onProgress,
        verify: options.verify !== false && checked.steps.length > 0,
        snapshot,
        udid: targetUDID,
        done: new Map(),
        begun: new Set(),
        initialPower,
      });
    } finally {
      journal?.close();
    }
  } finally {
    lock.release();
  }
}

/** Throws BAD_REQUEST for anything but true, false and nothing: `"true"` is a mistake, and must not pass for either. */
export function isConfirmed(confirm: unknown): boolean {
  if (confirm === undefined || confirm === false) return false;
  if (confirm === true) return true;
  throw new SimlockError(
    "BAD_REQUEST",
    `confirm must be true or false, not a ${confirm === null ? "null" : typeof confirm}.`,
    {
      hint: "Send the JSON value true once the plan was approved, or leave it out for a dry run.",
    },
  );
}

export function powerOf(state: string): "booted" | "shutdown" | "unsettled" {
  return state === "Booted" ? "booted" : state === "Shutdown" ? "shutdown" : "unsettled";
}

function beginJournal(
  folder: string | undefined,
  { plan, steps }: CheckedPlan,
  power: "booted" | "shutdown" | "unsettled",
): Journal | undefined {
  if (folder === undefined || steps.length === 0) return undefined;
  return Journal.begin(folder, plan, power, plan.targetUDID === NIL_UDID ? "new" : plan.targetUDID);
}

function dryRun({ plan, steps }: CheckedPlan, redactor: Redactor, at: Date): ExecutionReport {
  return {
    plan: redactor.plan(plan),
    status: "dryRun",
    receipts: steps.map(({ id, act }) => ({
      ...unrun(id, act.action, plan.targetUDID, { at, outcome: "planned" }),
      commands: act.commands(plan.targetUDID).map(({ args }) => ["xcrun", "simctl", ...redactor.command(args)]),
    })),
  };
}
