import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { isAlive } from "../exec/index.ts";

/** A process of a caller's own, known by its pid and its start. */
export interface CallerProcess {
  readonly pid: number;
  readonly identity: string;
}

const POLL_MS = 100;
const TERMINATE_MS = 2000;
const KILL_MS = 5000;

/** Resolves true when the process has ended, false when `ms` were over first or the signal came. */
export async function endsWithin(
  process: CallerProcess,
  ms: number,
  { signal, pollMs = POLL_MS }: { readonly signal?: AbortSignal; readonly pollMs?: number } = {},
): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (await isAlive(process.pid, process.identity)) {
    if (performance.now() >= deadline || signal?.aborted === true) return false;
    await pause(pollMs, signal);
  }
  return true;
}

/**
 * Ends a process that is no child of ours: its whole group where it leads one, else itself alone, since its group is then its caller's too. SIGTERM
 * first, SIGKILL after 2 s.
 */
export async function endProcess(target: CallerProcess): Promise<void> {
  for (const [signal, ms] of [
    ["SIGTERM", TERMINATE_MS],
    ["SIGKILL", KILL_MS],
  ] as const) {
    if (!(await isAlive(target.pid, target.identity))) return;
    const leads = (await groupOf(target.pid)) === target.pid;
    try {
      process.kill(leads ? -target.pid : target.pid, signal);
    } catch {
      // It ended in the meantime.
    }
    if (await endsWithin(target, ms)) return;
  }
}

async function groupOf(pid: number): Promise<number | undefined> {
  if (process.platform === "linux") {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      // The name in the second field may hold blanks and brackets: count from its closing bracket.
      return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]);
    } catch {
      return undefined;
    }
  }
  return new Promise((done) => {
    execFile("/bin/ps", ["-o", "pgid=", "-p", String(pid)], { timeout: 5000 }, (error, stdout) => {
      done(error === null ? Number(stdout.trim()) : undefined);
    });
  });
}

async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await new Promise<void>((done) => {
    const timer = setTimeout(finish, ms);
    function finish(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      done();
    }
    signal?.addEventListener("abort", finish, { once: true });
  });
}
