import { DatabaseSync } from "node:sqlite";
import { SimlockError } from "../contract/index.ts";

/** How long to wait for a process that only tries the lock. One that holds it keeps it for life. */
const TRY_MS = 500;

/** Keeps each lock's handle alive: one that nobody refers to is collected, and its lock is gone with it. */
const held = new Set<DatabaseSync>();

/** The proof that this process, and no other, is the daemon of a home. The system drops it when the process ends, however it ends. */
export interface Claim {
  release(): void;
}

/**
 * Takes the home's lock, or throws `DAEMON_ALREADY_RUNNING`. The lock is SQLite's exclusive file lock, kept after the commit by the locking
 * mode. Nothing else may open the file: a POSIX lock is gone as soon as any handle of this process on the file is closed.
 */
export function claimHome(path: string): Claim {
  let database: DatabaseSync;
  try {
    database = new DatabaseSync(path, { timeout: TRY_MS });
  } catch (error) {
    throw new SimlockError("HOME_UNUSABLE", `The lock file ${path} can't be opened.`, { cause: error });
  }
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE");
    // The mode takes hold with the first lock; the write makes that lock the exclusive one, and the commit does not drop it.
    database.exec("BEGIN EXCLUSIVE");
    database.exec("CREATE TABLE IF NOT EXISTS claim (pid INTEGER NOT NULL)");
    database.exec("DELETE FROM claim");
    database.prepare("INSERT INTO claim (pid) VALUES (?)").run(process.pid);
    database.exec("COMMIT");
  } catch (error) {
    database.close();
    if (isBusy(error)) {
      throw new SimlockError("DAEMON_ALREADY_RUNNING", `Another daemon has this home: it holds ${path}.`);
    }
    throw new SimlockError("HOME_UNUSABLE", `The lock file ${path} can't be used: it is not one of Simlock's.`, {
      hint: "Move the file away if no daemon is running, then start again.",
      cause: error,
    });
  }
  held.add(database);
  return {
    release() {
      if (held.delete(database)) database.close();
    },
  };
}

/** SQLITE_BUSY is 5, SQLITE_LOCKED 6; extended codes carry them in their low byte. */
function isBusy(error: unknown): boolean {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return false;
  const code = error.errcode & 0xff;
  return code === 5 || code === 6;
}
