import { readdirSync, readFileSync } from "node:fs";
import type { StartedGroup } from "./start-group.ts";

/** Signals the whole process group. False when nothing of it is left, or none of it is ours to signal. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch {
    // ESRCH: no such group. EPERM: what macOS answers for a group of zombies.
    return false;
  }
}

/**
 * Whether a process of the group still runs. A zombie that nobody reaps (a container whose first process does not wait) can be signalled but
 * is over: only /proc tells the two apart.
 */
export function groupRuns(group: number): boolean {
  if (!signalGroup(group, 0)) return false;
  if (process.platform !== "linux") return true;
  return readdirSync("/proc").some((name) => /^\d+$/.test(name) && runsIn(name, group));
}

function runsIn(pid: string, group: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The command's name stands in brackets and may hold blanks and brackets itself.
    const [state, , processGroup] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return Number(processGroup) === group && state !== "Z" && state !== "X";
  } catch {
    return false;
  }
}

export interface EndStep {
  readonly signal: NodeJS.Signals;
  /** How long to wait for the group to be gone before the next step, in milliseconds. */
  readonly graceMs: number;
}

/** SIGKILL can't be refused, but a process in an uninterruptible wait of the kernel takes it late. */
const KILL_GRACE_MS = 5000;
const LOOK_EVERY_MS = 20;

/** Ends a group step by step, at last with SIGKILL. Resolves when all of it is gone, or can't be waited for any longer. */
export async function endGroup(group: StartedGroup, steps: readonly EndStep[]): Promise<void> {
  for (const step of [...steps, { signal: "SIGKILL", graceMs: KILL_GRACE_MS } as const]) {
    if (!signalGroup(group.pid, step.signal)) return;
    if (await goneWithin(group, step.graceMs)) return;
  }
}

/** A leader that is gone does not come back for the rest of its group: that is not waited for as long. */
const REST_GRACE_MS = 250;

async function goneWithin(group: StartedGroup, graceMs: number): Promise<boolean> {
  if (!(await within(group.exited, graceMs))) return false;
  const deadline = performance.now() + Math.min(graceMs, REST_GRACE_MS);
  while (groupRuns(group.pid)) {
    if (performance.now() >= deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  return true;
}

/** Whether the promise settles in time. */
export async function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
