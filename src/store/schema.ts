import type { DatabaseSync } from "node:sqlite";

/** "SIML", in the header of every database of ours (`PRAGMA application_id`): what tells it from other people's SQLite files. */
export const APPLICATION_ID = 0x53494d4c;

/** One step of the schema. A released step is never edited: `PRAGMA user_version` of a database says how many were taken. */
export interface Migration {
  readonly name: string;
  readonly up: (db: DatabaseSync) => void;
}

/**
 * Rows are JSON bodies; the columns beside them are those that a rule or an order needs. The unique columns hold invariants of the leasing
 * state a second time, where no fault of ours can write past them: a device has one lease, a requester one lease and one open request, and a
 * lease's device exists. References are checked at the commit, so that the order of changes in it does not matter.
 */
const FIRST = `
  CREATE TABLE devices (
    id TEXT PRIMARY KEY,
    body TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE leases (
    id TEXT PRIMARY KEY,
    device_id TEXT NOT NULL UNIQUE REFERENCES devices (id) DEFERRABLE INITIALLY DEFERRED,
    requester_id TEXT NOT NULL UNIQUE,
    body TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE requests (
    id TEXT PRIMARY KEY,
    seq INTEGER NOT NULL UNIQUE,
    requester_id TEXT NOT NULL,
    state TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX requests_open ON requests (requester_id) WHERE state = 'open';
  CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    ts INTEGER NOT NULL,
    name TEXT NOT NULL,
    module TEXT NOT NULL,
    payload TEXT NOT NULL
  ) STRICT;
  CREATE INDEX events_ts ON events (ts);
`;

/** In order; the position plus one is the version that a step leads to. */
export const MIGRATIONS: readonly Migration[] = [{ name: "first", up: (db) => db.exec(FIRST) }];

export function versionOf(db: DatabaseSync): number {
  return pragma(db, "user_version");
}

/** The one number that a pragma answers. */
export function pragma(db: DatabaseSync, name: "user_version" | "application_id"): number {
  const value = db.prepare(`PRAGMA ${name}`).get()?.[name];
  if (typeof value !== "number") throw new Error(`PRAGMA ${name} answered no number.`);
  return value;
}

/** Takes the steps that are missing, each in one transaction with the version that it leads to: a step is taken whole or not at all. */
export function migrate(db: DatabaseSync, migrations: readonly Migration[]): void {
  for (const [index, migration] of migrations.entries()) {
    if (index < versionOf(db)) continue;
    db.exec("BEGIN IMMEDIATE");
    try {
      migration.up(db);
      db.exec(`PRAGMA user_version = ${index + 1}`);
      db.exec("COMMIT");
    } catch (error) {
      if (db.isTransaction) db.exec("ROLLBACK");
      throw error;
    }
  }
}
