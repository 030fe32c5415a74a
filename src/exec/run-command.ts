import { SimlockError } from "../contract/index.ts";
import { Drain } from "./drain.ts";
import { endGroup, groupRuns, within, type EndStep } from "./end-group.ts";
import { OutputText, release } from "./output-text.ts";
import { startGroup, type StartedGroup } from "./start-group.ts";
import type { RunRequest, RunResult } from "./types.ts";

/** Abort a command with this as the reason, and the run is answered with what the command brought and the note. */
export class AnswerWithNote {
  readonly note: string;

  constructor(note: string) {
    this.note = note;
  }
}

/** A recording writes its file when it is interrupted, and frees its slot: that takes it up to 5 s. */
const RECORDING_GRACE_MS = 5000;
const TERMINATE_GRACE_MS = 2000;
const INTERRUPT_GRACE_MS = 2000;

/**
 * Runs one command to its end: in a process group of its own, both pipes drained within bounded memory, ended with its whole group at the time
 * limit. Throws `EXEC_TIMEOUT`; `EXEC_CANCELLED`, or the signal's reason where that is a `SimlockError`; `TOOL_MISSING`, `TOOL_FAILED`,
 * `BAD_REQUEST` or `EXEC_BUSY` where it could not be started. Any exit code is a result.
 */
export async function runCommand(request: RunRequest): Promise<RunResult> {
  if (request.signal?.aborted === true) throw cancelled(request.signal.reason);
  const deadline = performance.now() + request.timeoutMs;
  const group = await startGroup(request);
  const texts = { stdout: new OutputText(request.keepLast), stderr: new OutputText(request.keepLast) };
  const activity = activityOf(request, texts);
  const drains = (["stdout", "stderr"] as const).map(
    (stream) =>
      new Drain(group[stream], (chunk) => {
        const text = texts[stream].push(chunk);
        release(chunk);
        activity();
        return text === "" ? undefined : request.onOutput?.(stream, text);
      }),
  );
  request.onStarted?.(group.pid);

  const end = await firstEnd(group, deadline, request.signal);
  const notes: string[] = [];
  if (end === "itself") await settle(group, drains, deadline, request.signal, notes);
  else await endEarly(end, group, drains, request);

  if (end === "time") throw timedOut(request.timeoutMs);
  if (end === "abort") {
    const reason: unknown = request.signal?.reason;
    if (!(reason instanceof AnswerWithNote)) throw cancelled(reason);
    notes.push(reason.note);
  }
  for (const stream of ["stdout", "stderr"] as const) {
    const rest = texts[stream].end();
    if (rest !== "") await deliver(request, stream, rest);
    if (!texts[stream].valid) notes.unshift(`${stream} was not UTF-8; save it to a file instead.`);
  }
  return {
    exitCode: await group.exited,
    stdout: texts.stdout.kept,
    stderr: texts.stderr.kept,
    truncated: texts.stdout.truncated || texts.stderr.truncated,
    stdoutLength: texts.stdout.length,
    stderrLength: texts.stderr.length,
    notes,
  };
}

async function deliver(request: RunRequest, stream: "stdout" | "stderr", text: string): Promise<void> {
  try {
    await request.onOutput?.(stream, text);
  } catch {
    // A reader that went away does not change what the command answered.
  }
}

/** Says how much has come, at most once a second while something comes. */
function activityOf(request: RunRequest, texts: Record<"stdout" | "stderr", OutputText>): () => void {
  const { onActivity } = request;
  if (onActivity === undefined) return () => undefined;
  let saidAt = -Infinity;
  return () => {
    const now = performance.now();
    if (now - saidAt < 1000) return;
    saidAt = now;
    onActivity({ stdout: texts.stdout.length, stderr: texts.stderr.length });
  };
}

type End = "itself" | "time" | "abort";

async function firstEnd(group: StartedGroup, deadline: number, signal: AbortSignal | undefined): Promise<End> {
  const clear: (() => void)[] = [];
  try {
    return await Promise.race<End>([
      group.exited.then(() => "itself" as const),
      new Promise<End>((resolve) => {
        const timer = setTimeout(() => resolve("time"), deadline - performance.now());
        clear.push(() => clearTimeout(timer));
      }),
      new Promise<End>((resolve) => {
        const aborted = (): void => resolve("abort");
        if (signal?.aborted === true) aborted();
        signal?.addEventListener("abort", aborted, { once: true });
        clear.push(() => signal?.removeEventListener("abort", aborted));
      }),
    ]);
  } finally {
    for (const undo of clear) undo();
  }
}

const SILENCE_MS = 250;
const MOST_MS = 2000;

/**
 * After the command has ended: reads what its pipes still hold. Whoever keeps a pipe open without writing (a grandchild in the background) is
 * waited for only briefly, then what is left of the group is ended.
 */
async function settle(
  group: StartedGroup,
  drains: readonly Drain[],
  deadline: number,
  signal: AbortSignal | undefined,
  notes: string[],
): Promise<void> {
  const closed = Promise.all(drains.map((drain) => drain.closed));
  const endedAt = performance.now();
  let heldMs = 0;
  let all = false;
  for (;;) {
    const now = performance.now();
    const quietSince = Math.max(endedAt, ...drains.map((drain) => drain.lastAt));
    const held = drains.some((drain) => drain.held);
    if (!held && (now - quietSince >= SILENCE_MS || now - endedAt - heldMs >= MOST_MS)) break;
    if (held && (now >= deadline || signal?.aborted === true)) {
      notes.push("The reader did not take all of the output in time: its end is missing.");
      break;
    }
    // A pipe that the reader holds back says nothing about whether more comes: that time does not count.
    all = await within(closed, held ? 50 : Math.min(SILENCE_MS - (now - quietSince), 50));
    if (all) break;
    if (held) heldMs += performance.now() - now;
  }
  if (groupRuns(group.pid)) {
    notes.push("The command left processes of its group behind: they were ended.");
    await endGroup(group, [{ signal: "SIGTERM", graceMs: 500 }]);
    all = await within(closed, SILENCE_MS);
  }
  if (all || (await within(closed, 0))) return;
  if (!drains.some((drain) => drain.held)) {
    notes.push("A process that the command started kept its output open: what it wrote later is missing.");
  }
  for (const drain of drains) drain.cut();
}

async function endEarly(
  end: "time" | "abort",
  group: StartedGroup,
  drains: readonly Drain[],
  request: RunRequest,
): Promise<void> {
  await endGroup(group, stepsFor(end, request.interruptFirst));
  await within(Promise.all(drains.map((drain) => drain.closed)), SILENCE_MS);
  for (const drain of drains) drain.cut();
}

function stepsFor(end: "time" | "abort", interruptFirst: boolean): readonly EndStep[] {
  const terminate: EndStep = { signal: "SIGTERM", graceMs: TERMINATE_GRACE_MS };
  if (interruptFirst) return [{ signal: "SIGINT", graceMs: RECORDING_GRACE_MS }, terminate];
  if (end === "abort") return [{ signal: "SIGINT", graceMs: INTERRUPT_GRACE_MS }, terminate];
  return [terminate];
}

function timedOut(timeoutMs: number): SimlockError {
  return new SimlockError("EXEC_TIMEOUT", `The command ran into its time limit of ${timeoutMs} ms and was ended.`, {
    details: { timeoutMs },
    hint: "Use a form that ends by itself (`logcat -d`, a count, a duration). What it started on the device may still run there.",
  });
}

function cancelled(reason: unknown): SimlockError {
  if (reason instanceof SimlockError) return reason;
  return new SimlockError("EXEC_CANCELLED", "The command was cancelled and ended.", {
    hint: "What it started on the device may still run there.",
  });
}
