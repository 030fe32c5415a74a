import { SimlockError } from "../../contract/index.ts";
import { actOf } from "../planning/operations.ts";
import { seeing } from "../planning/seen.ts";
import { NIL_UDID } from "../planning/shapes.ts";
import type { DeviceReader, ExecutionReport, Receipt, Snapshot } from "../types.ts";
import { isConfirmed, powerOf } from "./apply.ts";
import type { ApplyOptions, ApplyPorts } from "./apply.ts";
import { checkPlan, readRequest } from "./check.ts";
import type { CheckedPlan, Step } from "./check.ts";
import { execute } from "./execute.ts";
import { Journal, readJournal } from "./journal.ts";
import type { JournalledRun } from "./journal.ts";
import { DeviceLock } from "./lock.ts";
import { Redactor } from "./redact.ts";
import { jobOf, runCommands, unrun } from "./run-commands.ts";

export type ResumeOptions = Pick<ApplyOptions, "confirm" | "verify" | "journalFolder" | "signal" | "onProgress">;

/**
 * Goes on with a run that was killed, cancelled, or failed. What its journal says was done is not done again, but for what was lost with the device's
 * power since; what was begun without an end is done again. Not confirmed, it answers with what would still run.
 *
 * Errors: BAD_REQUEST (no journal, or a run with nothing left to do), AMBIGUOUS where the made device can't be told from others, and those of `applyPlan`.
 */
export async function resumeApply(path: string, options: ResumeOptions, ports: ApplyPorts): Promise<ExecutionReport> {
  const confirmed = isConfirmed(options.confirm);
  const run = readJournal(path);
  if (run.finished === "succeeded" || run.finished === "rolledBack") {
    throw new SimlockError(
      "BAD_REQUEST",
      `The run has nothing left to do: it ${run.finished === "succeeded" ? "succeeded" : "was rolled back"}.`,
    );
  }
  const checked = checkPlan(run.plan);
  const redactor = new Redactor(checked.plan);
  const now = ports.now ?? (() => new Date());
  const lock = await DeviceLock.take(run.bound ?? checked.plan.targetUDID, options.journalFolder);
  try {
    const udid = await boundDevice(run, checked, ports.reader, options.signal);
    await lock.add(udid);
    const snapshot =
      udid === NIL_UDID ? undefined : await ports.reader.snapshot(readRequest(checked, udid, options.signal));
    const done = stillDone(run, checked, snapshot);
    if (udid !== NIL_UDID && checked.plan.targetUDID === NIL_UDID) adopt(done, checked, udid, now());
    if (!confirmed) {
      return {
        plan: redactor.plan(checked.plan),
        status: "dryRun",
        receipts: checked.steps.map(
          ({ id, act }) => done.get(id) ?? unrun(id, act.action, udid, { at: now(), outcome: "planned" }),
        ),
        journal: path,
      };
    }
    const journal = Journal.reopen(path);
    try {
      if (udid !== NIL_UDID && run.bound === undefined && checked.plan.targetUDID === NIL_UDID) {
        journal.write({ type: "bound", udid });
      }
      return await execute({
        checked,
        ports: { run: lock.noted(ports.run), reader: ports.reader, redactor, now },
        lock,
        journal,
        signal: options.signal,
        onProgress: options.onProgress,
        verify: options.verify !== false,
        snapshot,
        udid,
        done,
        begun: new Set(run.started.keys()),
        initialPower: run.power,
      });
    } finally {
      journal.close();
    }
  } finally {
    lock.release();
  }
}

/** The device of the run. One that was being made when the run ended is known by its name: there was none of that name before. */
async function boundDevice(
  run: JournalledRun,
  { plan, steps }: CheckedPlan,
  reader: DeviceReader,
  signal: AbortSignal | undefined,
): Promise<string> {
  if (plan.targetUDID !== NIL_UDID) return plan.targetUDID;
  if (run.bound !== undefined) return run.bound;
  const [first] = steps;
  if (first === undefined || !run.started.has(first.id)) return NIL_UDID;
  const name = first.act.arguments["name"];
  const { devices } = await reader.inventory(signal);
  const [device, ...others] = devices.filter((each) => each.name === name);
  if (others.length > 0) {
    throw new SimlockError(
      "AMBIGUOUS",
      `Several devices are called ${String(name)} now: which of them was made is not known.`,
      {
        hint: "Delete those that you don't need, then resume.",
      },
    );
  }
  return device?.udid ?? NIL_UDID;
}

function adopt(done: Map<string, Receipt>, { steps }: CheckedPlan, udid: string, at: Date): void {
  const [first] = steps;
  if (first === undefined || done.has(first.id)) return;
  done.set(
    first.id,
    unrun(first.id, "createDevice", udid, { at, outcome: "done", note: "It was made before the run ended." }),
  );
}

/** What was done and still holds. Where the device's power is not what it was left with, what it lost with it is to be done again. */
function stillDone(
  { receipts }: JournalledRun,
  { steps }: CheckedPlan,
  snapshot: Snapshot | undefined,
): Map<string, Receipt> {
  const done = new Map([...receipts].filter(([, { outcome }]) => outcome === "done" || outcome === "satisfied"));
  const power = snapshot === undefined ? "shutdown" : powerOf(snapshot.device.state);
  const at = steps.findLastIndex(({ id, act }) => done.has(id) && (act.action === "boot" || act.action === "shutdown"));
  const last = steps[at];
  if (last === undefined) return lossless(done, steps, power);
  const left = last.act.action === "boot" ? "booted" : "shutdown";
  const needed = steps.some(
    ({ id, act }) => !done.has(id) && act.needs === left && !(left === "booted" && act.action === "shutdown"),
  );
  if (left === power || !needed) return done;
  done.delete(last.id);
  for (const { id, act } of steps.slice(at)) if (act.lasts === false) done.delete(id);
  return done;
}

/** A device that was booted all along, and is not any more, is booted by no operation of the plan: it must be as the run left it. */
function lossless(done: Map<string, Receipt>, steps: readonly Step[], power: string): Map<string, Receipt> {
  const next = steps.find(({ id }) => !done.has(id));
  if (next?.act.needs === "booted" && next.act.action !== "shutdown" && power === "shutdown") {
    throw new SimlockError("PLAN_STALE", "The device was booted when the run began, and is shut down now.", {
      hint: "Boot the device, then resume; or plan again.",
    });
  }
  return done;
}

/**
 * Takes back what a run did, last first, as far as there is a way back: an operation whose before-state was not known, an erase or a removed app are
 * left as they are, and their receipts say so. The device then gets the power that it had. Not confirmed, it answers with what would run.
 *
 * Errors: BAD_REQUEST (no journal, rolled back already), and those of reading the device.
 */
export async function rollbackApply(path: string, options: ResumeOptions, ports: ApplyPorts): Promise<ExecutionReport> {
  const confirmed = isConfirmed(options.confirm);
  const run = readJournal(path);
  if (run.finished === "rolledBack") throw new SimlockError("BAD_REQUEST", "The run was rolled back already.");
  const checked = checkPlan(run.plan);
  const redactor = new Redactor(checked.plan);
  const now = ports.now ?? (() => new Date());
  const lock = await DeviceLock.take(run.bound ?? checked.plan.targetUDID, options.journalFolder);
  const runPorts = { run: lock.noted(ports.run), reader: ports.reader, redactor, now };
  try {
    const udid = await boundDevice(run, checked, ports.reader, options.signal);
    await lock.add(udid);
    const snapshot = udid === NIL_UDID ? undefined : await ports.reader.snapshot({ udid });
    let booted = snapshot !== undefined && seeing(snapshot).state.power === "booted";
    const journal = confirmed ? Journal.reopen(path) : undefined;
    const receipts: Receipt[] = [];
    let failure: string | undefined;
    const carryOut = async (id: string, job: ReturnType<typeof jobOf>): Promise<boolean> => {
      if (!confirmed) {
        receipts.push({
          ...unrun(id, job.action, udid, { at: now(), outcome: "planned" }),
          commands: job.commands.map(({ args }) => ["xcrun", "simctl", ...redactor.command(args)]),
        });
        return true;
      }
      const { receipt, ok } = await runCommands(job, runPorts, options.signal);
      receipts.push(ok ? { ...receipt, outcome: "undone" } : receipt);
      if (!ok) failure = receipt.standardError.trim() || `${id} could not be taken back.`;
      return ok;
    };
    const power = (action: "boot" | "shutdown") =>
      carryOut(`undo-${action}`, jobOf(`undo-${action}`, actOf(action, {}), udid));
    try {
      const steps = undoable(run, checked, udid);
      for (const { id, act, commands, note } of steps) {
        if (failure !== undefined || commands === undefined) {
          receipts.push(
            unrun(id, act.action, udid, { at: now(), outcome: "skipped", ...(note === undefined ? {} : { note }) }),
          );
          continue;
        }
        if (act.needs === "booted" && !booted) booted = await power("boot");
        if (act.needs === "none" && booted) booted = !(await power("shutdown"));
        if (failure !== undefined) continue;
        if (await carryOut(id, { id, action: act.action, udid, commands, makes: false }))
          journal?.write({ type: "undone", id });
      }
      const made = steps.some(({ act, commands }) => act.action === "createDevice" && commands !== undefined);
      if (!made && udid !== NIL_UDID && run.power !== "unsettled" && booted !== (run.power === "booted")) {
        await power(run.power === "booted" ? "boot" : "shutdown");
      }
      if (failure === undefined) journal?.write({ type: "finish", status: "rolledBack" });
    } finally {
      journal?.close();
    }
    return {
      plan: redactor.plan(checked.plan),
      status: confirmed ? (failure === undefined ? "succeeded" : "failed") : "dryRun",
      receipts,
      ...(failure === undefined ? {} : { failure }),
      journal: path,
    };
  } finally {
    lock.release();
  }
}

/** The operations that were begun, last first, with what takes each back. A device that the run made is deleted, so nothing else counts. */
function undoable(run: JournalledRun, { steps }: CheckedPlan, udid: string) {
  const made = steps[0]?.act.action === "createDevice" && udid !== NIL_UDID;
  const erased = steps.some(({ id, act }) => act.action === "erase" && run.started.has(id));
  return steps
    .filter(({ id }) => run.started.has(id) && !run.undone.has(id) && run.receipts.get(id)?.outcome !== "satisfied")
    .filter(({ act }) => act.action !== "boot" && act.action !== "shutdown")
    .filter(({ act }) => !made || act.action === "createDevice")
    .toReversed()
    .map(({ id, act }) => {
      const commands = erased ? undefined : act.undo(udid, run.started.get(id)?.before);
      const note = erased
        ? "What the device had before was erased."
        : "There is no way back, or what was there before is not known.";
      return { id, act, commands, ...(commands === undefined ? { note } : {}) };
    });
}
