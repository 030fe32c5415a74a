import { SimlockError } from "../contract/index.ts";

/** Why a database can't be used, for callers that react to the case and not to the text. */
export type UnusableReason = "empty" | "foreign" | "damaged" | "newer" | "unreadable" | "in-use" | "row" | "write";

/** Said of a file whose content is lost or was never ours. Nothing here touches the file: what to do with it is the user's choice. */
const RESTORE_OR_MOVE =
  "Restore it from a backup, or move it and its -wal file out of the home: Simlock then starts with no leases and no devices, " +
  "and `simlock doctor` shows the devices that are left.";

const HINTS: Readonly<Record<UnusableReason, string>> = {
  empty: RESTORE_OR_MOVE,
  foreign: `If it belongs to something else, give Simlock another SIMLOCK_HOME. If it was ours: ${RESTORE_OR_MOVE}`,
  damaged: RESTORE_OR_MOVE,
  newer: "Update Simlock to the version that wrote it, or use another SIMLOCK_HOME.",
  unreadable: "Check the owner and the permissions of the file and of its folder, and that the disk works.",
  "in-use": "End the other process: a second daemon, or an sqlite3 shell that was left open.",
  row: RESTORE_OR_MOVE,
  write: "Check the free disk space and the disk, then run `simlock daemon start`: what was answered is kept.",
};

export function unusable(
  path: string,
  reason: UnusableReason,
  why: string,
  more: { readonly cause?: unknown; readonly details?: Readonly<Record<string, unknown>> } = {},
): SimlockError {
  return new SimlockError("DATABASE_UNUSABLE", `The database ${path} ${why}`, {
    hint: HINTS[reason],
    details: { path, reason, ...more.details },
    ...(more.cause === undefined ? {} : { cause: more.cause }),
  });
}

/** SQLite's own primary result codes (https://www.sqlite.org/rescode.html) that tell one case from another. */
const SQLITE = { BUSY: 5, LOCKED: 6, CORRUPT: 11, NOTADB: 26 } as const;

/** What an error of `node:sqlite` or `fs` says of the database. */
export function causeOf(error: unknown): { readonly reason: UnusableReason; readonly text: string } {
  const text = error instanceof Error ? error.message : String(error);
  const code = sqliteCodeOf(error);
  if (code === SQLITE.BUSY || code === SQLITE.LOCKED) return { reason: "in-use", text };
  if (code === SQLITE.CORRUPT || code === SQLITE.NOTADB) return { reason: "damaged", text };
  return { reason: "unreadable", text };
}

/** The primary code: the low byte of the extended one. */
function sqliteCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return undefined;
  return error.errcode & 0xff;
}
