import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SimlockError } from "../../contract/index.ts";

export interface Lock {
  release(): void;
}

/** One change at a time within this process, also where no folder is shared with others. */
const here = new Set<string>();

/**
 * Takes the device for this process, or throws DEVICE_IN_USE. Between processes it is SQLite's exclusive lock on a file in `folder`: the system drops it
 * when its holder ends, however it ends, so no lock is ever left behind. Nothing else may open that file: a POSIX lock goes with the first handle that is closed.
 */
export async function lockDevice(udid: string, folder: string | undefined): Promise<Lock> {
  const name = `${folder ?? ""}\n${udid}`;
  if (here.has(name)) throw inUse(udid, "this process");
  here.add(name);
  try {
    const unlock = folder === undefined ? () => {} : await lockFile(udid, join(folder, "locks"));
    return {
      release() {
        if (here.delete(name)) unlock();
      },
    };
  } catch (error) {
    here.delete(name);
    throw error;
  }
}

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
  return new SimlockError("DEVICE_IN_USE", `The simulator ${udid} is being changed by ${holder}.`, {
    hint: "Wait for that to end, then plan again.",
  });
}

function isBusy(error: unknown): boolean {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return false;
  const code = error.errcode & 0xff;
  return code === 5 || code === 6;
}
