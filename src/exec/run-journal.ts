import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { groupRuns, signalGroup } from "./end-group.ts";
import { isAlive, linuxIdentity, processIdentity } from "./process-identity.ts";

const Entry = z.object({ pid: z.int().min(2), identity: z.string().optional() });

/**
 * A small file for each command that runs, so that a daemon that starts again can end what its predecessor left. It need not survive a crash of the
 * machine, which ends the commands too: nothing is synced.
 */
export class RunJournal {
  readonly #folder: string;
  readonly #running = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /** Call it as soon as the command was started. `pid` leads its process group. */
  begin(runId: string, pid: number): void {
    const identity = process.platform === "linux" ? linuxIdentity(pid) : undefined;
    this.#write(runId, { pid, identity });
    if (identity === undefined) void this.#identify(runId, pid);
  }

  end(runId: string): void {
    this.#running.delete(runId);
    rmSync(this.#path(runId), { force: true });
  }

  /** The commands whose end was never noted, those of this process included. */
  entries(): readonly { readonly runId: string; readonly pid: number; readonly identity: string | undefined }[] {
    return readdirSync(this.#folder)
      .filter((name) => name.endsWith(".json"))
      .flatMap((name) => {
        const runId = name.slice(0, -".json".length);
        const entry = readEntry(join(this.#folder, name));
        return entry === undefined ? [] : [{ runId, pid: entry.pid, identity: entry.identity }];
      });
  }

  /** Drops what `entries` could not read. */
  clear(): void {
    for (const name of readdirSync(this.#folder)) rmSync(join(this.#folder, name), { force: true });
  }

  #write(runId: string, entry: z.infer<typeof Entry>): void {
    this.#running.add(runId);
    writeFileSync(this.#path(runId), JSON.stringify(entry), { mode: 0o600 });
  }

  /** Where the start of a process must be asked of `ps`, it is added when known: until then the entry proves nothing. */
  async #identify(runId: string, pid: number): Promise<void> {
    const identity = await processIdentity(pid);
    if (identity !== undefined && this.#running.has(runId)) this.#write(runId, { pid, identity });
  }

  #path(runId: string): string {
    return join(this.#folder, `${encodeURIComponent(runId)}.json`);
  }
}

function readEntry(path: string): z.infer<typeof Entry> | undefined {
  try {
    return Entry.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return undefined;
  }
}

const LEFTOVER_GRACE_MS = 2000;

/**
 * Ends the groups that a dead daemon left: only those whose leader is, by pid and start, the one that was noted. Gives the runs that were ended.
 * Call it once, before the first command.
 */
export async function endLeftovers(journal: RunJournal): Promise<readonly string[]> {
  const ended = await Promise.all(
    journal.entries().map(async ({ runId, pid, identity }) => {
      if (identity === undefined || !(await isAlive(pid, identity))) return undefined;
      await endStrangers(pid);
      return runId;
    }),
  );
  journal.clear();
  return ended.filter((runId) => runId !== undefined);
}

/** These are no children of ours: nobody tells us when they end. */
async function endStrangers(group: number): Promise<void> {
  for (const signal of ["SIGINT", "SIGTERM", "SIGKILL"] as const) {
    if (!signalGroup(group, signal)) return;
    const deadline = performance.now() + LEFTOVER_GRACE_MS;
    while (performance.now() < deadline) {
      if (!groupRuns(group)) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
