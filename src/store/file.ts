import { closeSync, lstatSync, openSync, readSync, statSync } from "node:fs";
import { APPLICATION_ID } from "./schema.ts";
import { unusable } from "./unusable.ts";

/** Files beside a database that hold commits which the database itself may not have yet. `-shm` holds none. */
export const SIDE_FILES = ["-wal", "-journal"] as const;

const MAGIC = Buffer.from("SQLite format 3\0", "latin1");
const HEADER_BYTES = 100;
/** A write-ahead log begins with one of these, by its byte order (https://www.sqlite.org/fileformat2.html#walformat). */
const WAL_MAGIC = new Set([0x377f0682, 0x377f0683]);
const WAL_HEADER_BYTES = 32;

export interface DatabaseFile {
  readonly bytes: number;
  /** Side files that are not empty: a process ended without closing the database. */
  readonly sides: readonly string[];
}

/**
 * Looks at the file before SQLite does, since SQLite takes an empty file for a new database and repairs what it opens. Reads bytes only. It
 * must run before this process has the database open: closing any handle on a file drops the process's locks on it
 * (https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_).
 *
 * Returns undefined when there is no such file. Throws `DATABASE_UNUSABLE` when it is not a database of ours that we can read.
 */
export function inspect(path: string): DatabaseFile | undefined {
  const sides = SIDE_FILES.map((side) => path + side).filter((side) => sizeOf(path, side) > 0);
  const entry = found(path, () => lstatSync(path, { throwIfNoEntry: false }));
  if (entry === undefined) {
    if (sides.length === 0) return undefined;
    throw unusable(
      path,
      "damaged",
      `is gone, but ${sides.join(" and ")} is still there and may hold its last commits.`,
    );
  }
  const target = found(path, () => statSync(path));
  if (!target.isFile()) throw unusable(path, "foreign", "is not a file.");
  if (target.size === 0) throw unusable(path, "empty", "is empty (0 bytes). A database of Simlock never is.");
  const header = found(path, () => head(path, HEADER_BYTES));
  checkHeader(path, header);
  for (const side of sides) if (side.endsWith("-wal")) checkLog(path, side);
  return { bytes: target.size, sides };
}

function checkHeader(path: string, header: Buffer): void {
  if (!header.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw unusable(path, "foreign", "is not an SQLite database, or its first page is destroyed.");
  }
  if (header.length < HEADER_BYTES) throw unusable(path, "damaged", "is cut off in its first page.");
  // Offsets of the header: https://www.sqlite.org/fileformat2.html#the_database_header
  if (header.readUInt32BE(68) !== APPLICATION_ID) {
    throw unusable(path, "foreign", "is an SQLite database, but not one of Simlock.");
  }
}

/**
 * SQLite ignores a log that does not begin as one, and the commits in it with it. All zeros is what a power cut leaves of a log that held
 * no commit yet; anything else that is not a log means that commits are lost.
 */
function checkLog(path: string, log: string): void {
  const header = found(path, () => head(log, WAL_HEADER_BYTES));
  if (header.every((byte) => byte === 0)) return;
  if (header.length < WAL_HEADER_BYTES) return;
  if (!WAL_MAGIC.has(header.readUInt32BE(0))) {
    throw unusable(path, "damaged", `has a log, ${log}, whose beginning is destroyed: its last commits are lost.`);
  }
}

function sizeOf(path: string, side: string): number {
  return found(path, () => statSync(side, { throwIfNoEntry: false }))?.size ?? 0;
}

function head(path: string, length: number): Buffer {
  const handle = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(handle, bytes, 0, length, 0));
  } finally {
    closeSync(handle);
  }
}

/** What the file system answers, or `DATABASE_UNUSABLE` with its reason. */
function found<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw unusable(path, "unreadable", `can't be read: ${why}`, { cause: error });
  }
}
