import { afterErase, NOTHING, UNREAD } from "../planning/after-erase.ts";
import { seeing } from "../planning/seen.ts";
import type { Seen } from "../planning/seen.ts";
import type { ExecutionReport, FieldVerdict, OperationAction, Receipt, Snapshot } from "../types.ts";
import { readRequest } from "./check.ts";
import type { CheckedPlan, Step } from "./check.ts";
import type { Journal } from "./journal.ts";
import type { DeviceLock } from "./lock.ts";
import { jobOf, messageOf, runCommands, unrun } from "./run-commands.ts";
import type { RunPorts } from "./run-commands.ts";
import { verdictsOf } from "./verify.ts";

export interface Progress {
  readonly operationID: string;
  readonly action: OperationAction;
  /** From 1. */
  readonly position: number;
  readonly total: number;
  /** Left out when it begins. */
  readonly outcome?: NonNullable<Receipt["outcome"]>;
}

export interface Execution {
  readonly checked: CheckedPlan;
  readonly ports: RunPorts;
  readonly lock: DeviceLock;
  readonly journal: Journal | undefined;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  readonly verify: boolean;
  /** What was read before the first operation; undefined where there is no device yet. */
  readonly snapshot: Snapshot | undefined;
  readonly udid: string;
  /** Receipts of an earlier attempt that count: their operations are not done again. */
  readonly done: ReadonlyMap<string, Receipt>;
  /** Begun by an earlier attempt. That its value is there does not say that all of it was done. */
  readonly begun: ReadonlySet<string>;
  /** The power before the first attempt. */
  readonly initialPower: "booted" | "shutdown" | "unsettled";
}

/** What a device that turns out to have it already is spared. An app is launched in any case: what it runs with can't be read. */
const SKIPPABLE: ReadonlySet<OperationAction> = new Set([
  "installApplication",
  "uninstallApplication",
  "terminateApplication",
  "setPreference",
  "setStatusBar",
  "setAppearance",
  "setIncreaseContrast",
  "setContentSize",
  "setLocalization",
  "setPrivacy",
  "setPasteboard",
]);

/**
 * Carries out the operations one after the other, and stops at the first that fails: the rest is skipped, and the power that the device had is given
 * back where the plan would have done so. What is known only once the device is booted is read then, and what turns out to be so is not done again.
 */
export async function execute(execution: Execution): Promise<ExecutionReport> {
  const { checked, ports, journal, done } = execution;
  const { steps } = checked;
  const receipts: Receipt[] = [];
  let udid = execution.udid;
  let seen: Seen | undefined = execution.snapshot === undefined ? undefined : seeing(execution.snapshot);
  let power = powerNow(execution);
  let failure: string | undefined;
  let verification: readonly FieldVerdict[] | undefined;
  const report = (step: Step, index: number, outcome?: Progress["outcome"]): void =>
    execution.onProgress?.({
      operationID: step.id,
      action: step.act.action,
      position: index + 1,
      total: steps.length,
      ...(outcome === undefined ? {} : { outcome }),
    });

  for (const [index, step] of steps.entries()) {
    const { id, act } = step;
    const earlier = done.get(id);
    if (earlier !== undefined) {
      receipts.push(earlier);
      continue;
    }
    if (failure !== undefined) {
      receipts.push(unrun(id, act.action, udid, { at: ports.now(), outcome: "skipped" }));
      continue;
    }
    if (execution.verify && act.action === "shutdown" && isLast(index, execution)) {
      // What can be read of the fields only while the device runs is looked at before it goes.
      verification = await verified(execution, udid);
    }
    report(step, index);
    const before = seen === undefined ? undefined : act.fact(seen);
    const holds = before !== undefined && !execution.begun.has(id) && SKIPPABLE.has(act.action) && act.holds(before);
    journal?.write({ type: "start", id, ...(before === undefined ? {} : { before }) });
    const result = holds
      ? {
          ok: true,
          receipt: unrun(id, act.action, udid, { at: ports.now(), outcome: "satisfied", note: "It was so already." }),
        }
      : await runCommands(jobOf(id, act, udid), ports, execution.signal);
    if ("madeUDID" in result && result.madeUDID !== undefined) {
      udid = result.madeUDID;
      journal?.write({ type: "bound", udid });
      await execution.lock.add(udid);
    }
    journal?.write({ type: "end", id, receipt: result.receipt });
    receipts.push(result.receipt);
    report(step, index, result.receipt.outcome);
    if (!result.ok) failure = failureOf(result.receipt);
    power = powerAfter(act.action, power);
    if (result.ok) seen = await seenAfter(step, seen, { execution, udid, index });
  }

  if (failure !== undefined) await restorePower(execution, { receipts, power, udid });
  if (execution.verify && failure === undefined) {
    const last = await verified(execution, udid);
    verification = verification === undefined ? last : merged(verification, last);
  }
  const status = failure === undefined ? "succeeded" : "failed";
  journal?.write({ type: "finish", status });
  return {
    plan: ports.redactor.plan(checked.plan),
    status,
    receipts,
    ...(failure === undefined ? {} : { failure }),
    ...(verification === undefined ? {} : { verification }),
    ...(journal === undefined ? {} : { journal: journal.path }),
    ...(udid === checked.plan.targetUDID ? {} : { deviceUDID: udid }),
  };
}

function failureOf({ standardError, operationID, exitCode }: Receipt): string {
  const said = standardError.trim();
  return said === "" ? `${operationID} ended with exit code ${exitCode}.` : said;
}

type Power = "booted" | "shutdown" | "unsettled";

function powerNow({ snapshot }: Execution): Power {
  if (snapshot === undefined) return "shutdown";
  const { state } = snapshot.device;
  return state === "Booted" ? "booted" : state === "Shutdown" ? "shutdown" : "unsettled";
}

function powerAfter(action: OperationAction, power: Power): Power {
  if (action === "boot") return "booted";
  return action === "shutdown" || action === "erase" || action === "createDevice" ? "shutdown" : power;
}

function isLast(index: number, { checked }: Execution): boolean {
  return index === checked.steps.length - 1 && index > 0;
}

/** What is known of the device once an operation is done. A boot makes known what could not be read before, so it is read. */
async function seenAfter(
  { act }: Step,
  seen: Seen | undefined,
  { execution, udid, index }: { readonly execution: Execution; readonly udid: string; readonly index: number },
): Promise<Seen | undefined> {
  switch (act.action) {
    case "createDevice":
      return "cloneFrom" in act.arguments ? UNREAD : NOTHING;
    case "erase":
      return seen === undefined ? undefined : afterErase(seen);
    case "boot": {
      const rest = execution.checked.steps.slice(index + 1);
      if (!rest.some((each) => SKIPPABLE.has(each.act.action))) return undefined;
      return readAgain(execution, udid);
    }
    case "shutdown":
      return seen === undefined ? undefined : { ...seen, state: { ...seen.state, power: "shutdown" } };
    default:
      return seen;
  }
}

/** A device that can't be read is not known; that is no reason not to go on. */
async function readAgain({ checked, ports, signal }: Execution, udid: string): Promise<Seen | undefined> {
  try {
    return seeing(await ports.reader.snapshot(readRequest(checked, udid, signal)));
  } catch {
    return undefined;
  }
}

async function verified({ checked, ports, signal }: Execution, udid: string): Promise<readonly FieldVerdict[]> {
  try {
    return verdictsOf(checked, await ports.reader.snapshot(readRequest(checked, udid, signal)));
  } catch (error) {
    const note = ports.redactor.text(messageOf(error));
    return verdictsOf(checked, undefined).map((each) => ({ ...each, note }));
  }
}

/** The later look decides, but for what it can't see any more. */
function merged(first: readonly FieldVerdict[], last: readonly FieldVerdict[]): readonly FieldVerdict[] {
  const earlier = new Map(first.map((each) => [each.path, each]));
  return last.map((each) => {
    if (each.path === "spec.power") return each;
    return earlier.get(each.path) ?? each;
  });
}

/** After a failure: where the plan would have ended with the power that the device had at first, it gets that power back. */
async function restorePower(
  { checked, ports, journal, initialPower }: Execution,
  { receipts, power, udid }: { readonly receipts: Receipt[]; readonly power: Power; readonly udid: string },
): Promise<void> {
  const end = checked.steps.reduce<Power>((now, { act }) => powerAfter(act.action, now), initialPower);
  if (end !== initialPower || power === initialPower || initialPower === "unsettled") return;
  const action = initialPower === "booted" ? "boot" : "shutdown";
  const at = receipts.findIndex((each) => each.outcome === "skipped" && each.action === action);
  const step = checked.steps[at];
  if (step === undefined) return;
  // Without the caller's signal: it may be what ended the run.
  const { receipt } = await runCommands(jobOf(step.id, step.act, udid), ports, undefined);
  const noted: Receipt = { ...receipt, note: "Done although an operation failed, to leave the device as it was." };
  const told: Receipt = noted.outcome === "failed" ? noted : { ...noted, outcome: "undone" };
  receipts[at] = told;
  journal?.write({ type: "end", id: step.id, receipt: told });
}
