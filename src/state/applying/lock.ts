import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SimlockError } from "../../contract/index.ts";
import { endLeftovers, RunJournal } from "../../exec/index.ts";
import { NIL_UDID } from "../planning/shapes.ts";
import type { RunSimctl } from "../types.ts";

/** Devices that this process alone may change. */
export class DeviceLock {
  readonly #folder: string | undefined;
  readonly #held: Held[] = [];

  private constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  /** Takes the device, or throws DEVICE_IN_USE. Where its last holder was killed, the commands that it left are ended first. */
  static async take(udid: string, folder: string | undefined): Promise<DeviceLock> {
    const lock = new DeviceLock(folder);
    try {
      await lock.add(udid);
      return lock;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** Takes another one too: the device that was made. */
  async add(udid: string): Promise<void> {
    if (this.#held.some((each) => each.udid === udid)) return;
    const held = await hold(udid, this.#folder);
    this.#held.push(held);
    if (held.running !== undefined) await endLeftovers(held.running);
  }

  /** The same commands, noted while they run with the device that was taken last: who takes it after a crash finds what is left of them. */
  noted(run: RunSimctl): RunSimctl {
    return async (call) => {
      const running = this.#held.at(-1)?.running;
      if (running === undefined) return run(call);
      const id = randomUUID();
      try {
        return await run({ ...call, onStarted: (group) => running.begin(id, group) });
      } finally {
        running.end(id);
      }
    };
  }

  release(): void {
    for (const { release } of this.#held.splice(0)) release();
  }
}

interface Held {
  readonly udid: string;
  readonly running?: RunJournal;
  release(): void;
}

/** One change at a time within this process, also where no folder is shared with others. */
const here = new Set<string>();

async function hold(udid: string, folder: string | undefined): Promise<Held> {
  const name = `${folder ?? ""}\n${udid}`;
  if (here.has(name)) throw inUse(udid, "this process");
  here.add(name);
  if (folder === undefined) return { udid, release: () => here.delete(name) };
  try {
    const locks = join(folder, "locks");
    const unlock = await lockFile(udid, locks);
    const release = (): void => {
      here.delete(name);
      unlock();
    };
    return { udid, running: new RunJournal(join(locks, `${udid}.running`)), release };
  } catch (error) {
    here.delete(name);
    throw error;
  }
}

/**
 * SQLite's exclusive lock on a file in `folder`: the system drops it when its holder ends, however it ends, so no lock is ever left behind. Nothing
 * else may open that file: a POSIX lock goes with the first handle that is closed.
 */
async function lockFile(udid: string, folder: string): Promise<() => void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { DatabaseSync } = await import("node:sqlite");
  const path = join(folder, `${udid}.lock`);
  const holder = join(folder, `${udid}.holder`);
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE");
    // The mode takes hold with the first lock, and stays over the commit.
    database.exec("BEGIN EXCLUSIVE");
    database.exec("CREATE TABLE IF NOT EXISTS held (pid INTEGER)");
    database.exec("COMMIT");
  } catch (error) {
    database.close();
    if (isBusy(error)) throw inUse(udid, holderOf(holder));
    throw new SimlockError("HOME_UNUSABLE", `The lock ${path} can't be used.`, { cause: error });
  }
  // Only for the message: the lock itself is what counts.
  writeFileSync(holder, String(process.pid), { mode: 0o600 });
  return () => database.close();
}

function holderOf(path: string): string {
  try {
    return `process ${readFileSync(path, "utf8").trim()}`;
  } catch {
    return "another process";
  }
}

function inUse(udid: string, holder: string): SimlockError {
  const what = udid === NIL_UDID ? "A simulator is being made" : `The simulator ${udid} is being changed`;
  return new SimlockError("DEVICE_IN_USE", `${what} by ${holder}.`, {
    hint: "Wait for that to end, then plan again.",
  });
}

function isBusy(error: unknown): boolean {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return false;
  const code = error.errcode & 0xff;
  return code === 5 || code === 6;
}
