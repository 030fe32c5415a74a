import { closeSync, constants, copyFileSync, fsyncSync, linkSync, mkdirSync, openSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { SimlockError } from "../contract/index.ts";
import { inspect, SIDE_FILES, type DatabaseFile } from "./file.ts";
import { APPLICATION_ID, migrate, pragma, versionOf, type Migration } from "./schema.ts";
import { causeOf, unusable } from "./unusable.ts";

/** How long opening waits for another process to let go of the database. */
const BUSY_TIMEOUT_MS = 2_000;
/** Above this size the check leaves out what each index holds: it must not keep a start waiting for seconds. */
const FULL_CHECK_BYTES = 256 * 1024 * 1024;
/** What is kept of the write-ahead log once its commits are in the database. */
const LOG_BYTES = 16 * 1024 * 1024;

/**
 * Opens the database at `path`, or makes it where no file is. Only a file that passed every check is opened for writing: one that is empty,
 * foreign, damaged or newer than `migrations` throws `DATABASE_UNUSABLE` and is left as it is, its side files too.
 */
export function openDatabase(path: string, migrations: readonly Migration[]): DatabaseSync {
  const file = inspect(path);
  if (file === undefined) create(path, migrations);
  else verify(path, file, migrations.length);

  return orUnusable(path, () => {
    const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
    try {
      // One process, one connection: nobody else can hold up a commit or a checkpoint, and no shared index (-shm) is needed.
      db.exec("PRAGMA locking_mode = EXCLUSIVE");
      db.exec("PRAGMA journal_mode = WAL");
      db.exec("PRAGMA synchronous = FULL");
      db.exec(`PRAGMA journal_size_limit = ${LOG_BYTES}`);
      // The lock takes hold at the first transaction; a database that can't be written fails here and not at the first lease.
      db.exec("BEGIN IMMEDIATE; COMMIT");
      migrate(db, migrations);
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  });
}

/** Reads the whole database without a lock, a log or any other trace, and throws when it is damaged or newer than we are. */
function verify(path: string, file: DatabaseFile, supported: number): void {
  // A start that was killed here left its copy.
  const folder = `${path}.check`;
  rmSync(folder, { recursive: true, force: true });
  if (file.sides.length === 0) {
    // `immutable` keeps SQLite from making side files and from taking locks; nobody writes, since a writer leaves a log.
    const url = pathToFileURL(path);
    url.searchParams.set("immutable", "1");
    check(path, url, file.bytes, supported);
    return;
  }
  // Commits are still in the log, and reading them there would already change the files: a copy shows what recovery gives.
  try {
    const copy = join(folder, "copy.db");
    orUnusable(path, () => {
      mkdirSync(folder, { mode: 0o700 });
      copyFileSync(path, copy, constants.COPYFILE_FICLONE);
      for (const side of file.sides) copyFileSync(side, copy + side.slice(path.length), constants.COPYFILE_FICLONE);
    });
    check(path, copy, file.bytes, supported);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function check(path: string, database: string | URL, bytes: number, supported: number): void {
  orUnusable(path, () => {
    const db = new DatabaseSync(database, { readOnly: database instanceof URL });
    try {
      const how = bytes > FULL_CHECK_BYTES ? "quick_check" : "integrity_check";
      const verdict = db.prepare(`PRAGMA ${how}(1)`).get()?.[how];
      if (verdict !== "ok") throw unusable(path, "damaged", `is damaged: ${String(verdict)}`);
      const application = pragma(db, "application_id");
      if (application !== APPLICATION_ID)
        throw unusable(path, "foreign", "is an SQLite database, but not one of Simlock.");
      const version = versionOf(db);
      if (version > supported) {
        const why = `its schema is version ${version}, and this Simlock knows versions up to ${supported}`;
        throw unusable(path, "newer", `was written by a newer Simlock: ${why}.`, { details: { version, supported } });
      }
      if (version < 1) throw unusable(path, "damaged", "has no schema: it was not made whole.");
    } finally {
      db.close();
    }
  });
}

/** Builds the database aside and gives it its name when it is whole and on disk: a crash leaves no half of one, and no file is replaced. */
function create(path: string, migrations: readonly Migration[]): void {
  const building = `${path}.new`;
  const leftovers = [building, ...SIDE_FILES.map((side) => building + side)];
  for (const file of leftovers) rmSync(file, { force: true });
  try {
    orUnusable(path, () => {
      closeSync(openSync(building, "wx", 0o600));
      const db = new DatabaseSync(building);
      try {
        db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
        migrate(db, migrations);
        db.exec("PRAGMA journal_mode = WAL");
      } finally {
        db.close();
      }
      flush(building);
      linkSync(building, path);
    });
  } finally {
    for (const file of leftovers) rmSync(file, { force: true });
  }
  orUnusable(path, () => flush(dirname(path)));
}

function flush(path: string): void {
  const handle = openSync(path, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Runs what opens the database; whatever SQLite or the file system throws becomes `DATABASE_UNUSABLE`. */
function orUnusable<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (error instanceof SimlockError) throw error;
    const { reason, text } = causeOf(error);
    const why =
      { "in-use": "is in use by another process", damaged: "is damaged" }[String(reason)] ?? "can't be opened";
    throw unusable(path, reason, `${why}: ${text}`, { cause: error });
  }
}
