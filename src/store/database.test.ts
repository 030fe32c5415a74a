import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { mintId, SimlockError } from "../contract/index.ts";
import { openDatabase } from "./database.ts";
import { deviceRow, putDevice, renewed } from "./rows.fixture.ts";
import { APPLICATION_ID, MIGRATIONS, type Migration, versionOf } from "./schema.ts";
import { openStore } from "./store.ts";

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync("/tmp/sl-db-");
  path = join(folder, "simlock.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = () => openStore({ path, mintEventId: () => mintId("evt") });

function refusal(act: () => unknown): SimlockError {
  try {
    act();
  } catch (error) {
    if (error instanceof SimlockError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

/** A database with a few hundred rows and events, closed: all of it is in the one file. */
function filled(devices = 200): void {
  const store = open();
  const numbers = Array.from({ length: devices }, (_, i) => i);
  store.commit(
    numbers.map((i) => putDevice(deviceRow(`dev_${i}`))),
    numbers.map((i) => renewed("lse_1", i)),
    { wall: 1 },
  );
  store.close();
}

/** The files that a killed process leaves: the last commits are in the log only. */
function filledAndKilled(): void {
  const other = mkdtempSync("/tmp/sl-db-");
  try {
    const at = join(other, "simlock.db");
    const store = openStore({ path: at, mintEventId: () => mintId("evt") });
    store.commit([putDevice(deviceRow("dev_logged"))], [], { wall: 1 });
    copyFileSync(at, path);
    copyFileSync(`${at}-wal`, `${path}-wal`);
    store.close();
  } finally {
    rmSync(other, { recursive: true, force: true });
  }
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
}

/** Every entry of the folder: its content, mode, time of change. */
function everything(): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder).map((name) => {
      const stat = lstatSync(join(folder, name));
      const content = stat.isFile()
        ? createHash("sha256")
            .update(readFileSync(join(folder, name)))
            .digest("hex")
        : "-";
      return [name, `${content} ${stat.mode} ${stat.mtimeMs} ${stat.ino}`];
    }),
  );
}

/** Overwrites part of a file in place. */
function overwrite(file: string, at: number, bytes: Buffer): void {
  const content = readFileSync(file);
  bytes.copy(content, at);
  writeFileSync(file, content);
}

const garbage = (length: number) => Buffer.from(Array.from({ length }, (_, i) => (i * 31 + 7) % 256));

/** What the hint of each reason must name. */
const NEXT_STEP: Readonly<Record<string, string>> = {
  empty: "Restore it from a backup",
  damaged: "`simlock doctor`",
  foreign: "another SIMLOCK_HOME",
  newer: "Update Simlock",
  unreadable: "permissions",
};

describe("a file that is not a whole database of ours stops the start and is left as it is", () => {
  const cases: Readonly<Record<string, { reason: string; says: string; make: () => void }>> = {
    "an empty file": { reason: "empty", says: "is empty (0 bytes)", make: () => writeFileSync(path, "") },
    "an empty file beside a log": {
      reason: "empty",
      says: "is empty (0 bytes)",
      make: () => {
        filledAndKilled();
        truncateSync(path, 0);
      },
    },
    "a text file": { reason: "foreign", says: "is not an SQLite database", make: () => writeFileSync(path, "{}") },
    "another program's database": {
      reason: "foreign",
      says: "not one of Simlock",
      make: () => {
        const db = new DatabaseSync(path);
        db.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1)");
        db.close();
      },
    },
    "a folder": { reason: "foreign", says: "is not a file", make: () => mkdirSync(path) },
    "a link to nowhere": {
      reason: "unreadable",
      says: "ENOENT",
      make: () => symlinkSync(join(folder, "nowhere"), path),
    },
    "a database that was cut off in its first page": {
      reason: "damaged",
      says: "is cut off in its first page",
      make: () => {
        filled();
        truncateSync(path, 50);
      },
    },
    "a database that lost its last half": {
      reason: "damaged",
      says: "is damaged",
      make: () => {
        filled();
        truncateSync(path, Math.floor(statSync(path).size / 8192) * 4096);
      },
    },
    "a database that lost its last bytes": {
      reason: "damaged",
      says: "is damaged",
      make: () => {
        filled();
        truncateSync(path, statSync(path).size - 1_000);
      },
    },
    "a destroyed first page": {
      reason: "foreign",
      says: "its first page is destroyed",
      make: () => {
        filled();
        overwrite(path, 0, garbage(4096));
      },
    },
    "garbage after the header of the first page": {
      reason: "damaged",
      says: "is damaged",
      make: () => {
        filled();
        overwrite(path, 100, garbage(3996));
      },
    },
    "a page of garbage in the middle": {
      reason: "damaged",
      says: "is damaged",
      make: () => {
        filled();
        overwrite(path, 4096 * 5, garbage(4096));
      },
    },
    "a page of zeros in the middle": {
      reason: "damaged",
      says: "is damaged",
      make: () => {
        filled();
        overwrite(path, 4096 * 5, Buffer.alloc(4096));
      },
    },
    "a newer schema": {
      reason: "newer",
      says: `version ${MIGRATIONS.length + 1}`,
      make: () => {
        openDatabase(path, [...MIGRATIONS, { name: "later", up: (db) => db.exec("CREATE TABLE later (x)") }]).close();
      },
    },
    "a newer schema that is still in the log": {
      reason: "newer",
      says: `version ${MIGRATIONS.length + 1}`,
      make: () => {
        const other = join(folder, "other.db");
        openDatabase(other, MIGRATIONS).close();
        const db = openDatabase(other, [...MIGRATIONS, { name: "later", up: (d) => d.exec("CREATE TABLE later (x)") }]);
        copyFileSync(other, path);
        copyFileSync(`${other}-wal`, `${path}-wal`);
        db.close();
        rmSync(other);
        expect(readFileSync(path).readUInt32BE(60)).toBe(MIGRATIONS.length);
      },
    },
    "a database of ours without a schema": {
      reason: "damaged",
      says: "has no schema",
      make: () => {
        const db = new DatabaseSync(path);
        db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
        db.close();
      },
    },
    "a log whose beginning is destroyed": {
      reason: "damaged",
      says: "whose beginning is destroyed",
      make: () => {
        filledAndKilled();
        overwrite(`${path}-wal`, 0, garbage(32));
      },
    },
    "a damaged database beside a log": {
      reason: "damaged",
      says: "is damaged",
      make: () => {
        filledAndKilled();
        // A root page that the commit in the log did not touch.
        overwrite(path, 4096 * 5, garbage(4096));
      },
    },
    "a log without its database": {
      reason: "damaged",
      says: "is gone",
      make: () => {
        filledAndKilled();
        rmSync(path);
      },
    },
  };
  for (const [what, { reason, says, make }] of Object.entries(cases)) {
    test(what, () => {
      make();
      const before = everything();
      for (let start = 0; start < 2; start += 1) {
        const error = refusal(open);
        expect(error).toMatchObject({ code: "DATABASE_UNUSABLE", details: { path, reason } });
        expect(error.message).toContain(says);
        expect(error.message).toContain(path);
        expect(error.hint).toContain(NEXT_STEP[reason]);
      }
      expect(everything()).toEqual(before);
    });
  }
});

describe("opening", () => {
  test("a killed process's database gives every commit back", () => {
    filledAndKilled();
    const store = open();
    expect(store.load().devices.map((device) => device.id)).toEqual(["dev_logged"]);
    store.close();
    expect(readdirSync(folder)).toEqual(["simlock.db"]);
  });

  test("a log of nothing but zeros, as a power cut leaves it, does not stop the start", () => {
    filled(3);
    writeFileSync(`${path}-wal`, Buffer.alloc(8192));
    const store = open();
    expect(store.load().devices).toHaveLength(3);
    store.close();
  });

  test("leftovers of a start that was killed while it made or checked the database are no obstacle", () => {
    writeFileSync(`${path}.new`, "half");
    writeFileSync(`${path}.new-journal`, "half");
    mkdirSync(`${path}.check`);
    writeFileSync(join(`${path}.check`, "copy.db"), "half");
    open().close();
    open().close();
    expect(readdirSync(folder)).toEqual(["simlock.db"]);
    rmSync(path);
    filledAndKilled();
    mkdirSync(`${path}.check`);
    writeFileSync(join(`${path}.check`, "copy.db-wal"), "half");
    open().close();
    expect(readdirSync(folder)).toEqual(["simlock.db"]);
  });

  test("a folder that does not exist is named, and not made", () => {
    path = join(folder, "nowhere", "simlock.db");
    const error = refusal(open);
    expect(error).toMatchObject({ code: "DATABASE_UNUSABLE", details: { reason: "unreadable" } });
    expect(error.message).toContain("ENOENT");
    expect(readdirSync(folder)).toEqual([]);
  });

  test("a database that another process holds open is refused as in use, and works once it is free", () => {
    const store = open();
    const script = `
      const { openStore } = await import(${JSON.stringify(join(import.meta.dirname, "index.ts"))});
      try { openStore({ path: ${JSON.stringify(path)}, mintEventId: () => "evt_1" }); console.log("opened"); }
      catch (error) { console.log(JSON.stringify(error.toWire())); }`;
    const other = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      encoding: "utf8",
      timeout: 20_000,
    });
    expect(JSON.parse(other.stdout)).toMatchObject({
      code: "DATABASE_UNUSABLE",
      details: { reason: "in-use" },
      message: expect.stringContaining("in use by another process"),
    });
    expect(store.commit([], [renewed("lse_1", 1)], { wall: 1 })).toHaveLength(1);
    store.close();
    open().close();
  });

  test("writes are on disk before they are answered: the log is synced at every commit", () => {
    const db = openDatabase(path, MIGRATIONS);
    expect(db.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: 2 });
    expect(db.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    expect(db.prepare("PRAGMA foreign_keys").get()).toEqual({ foreign_keys: 1 });
    expect(db.prepare("PRAGMA application_id").get()).toEqual({ application_id: APPLICATION_ID });
    db.close();
  });
});

describe("migrations", () => {
  const one: Migration = { name: "one", up: (db) => db.exec("CREATE TABLE t (id TEXT PRIMARY KEY, body TEXT) STRICT") };
  const two: Migration = {
    name: "two",
    up: (db) =>
      db.exec(
        "ALTER TABLE t ADD COLUMN size INTEGER; UPDATE t SET size = length(body); CREATE INDEX t_size ON t (size)",
      ),
  };
  const three: Migration = { name: "three", up: (db) => db.exec("UPDATE t SET body = json_set('{}', '$.was', body)") };

  function first(): void {
    const db = openDatabase(path, [one]);
    db.exec("INSERT INTO t VALUES ('a', 'four')");
    db.close();
  }

  test("an earlier version's rows are carried over, step by step, and only the steps that are missing", () => {
    first();
    const second = openDatabase(path, [one, two]);
    expect([versionOf(second), { ...second.prepare("SELECT * FROM t").get() }]).toEqual([
      2,
      { id: "a", body: "four", size: 4 },
    ]);
    second.close();
    const third = openDatabase(path, [one, two, three]);
    expect({ ...third.prepare("SELECT * FROM t").get() }).toEqual({ id: "a", body: '{"was":"four"}', size: 4 });
    third.close();
    const again = openDatabase(path, [one, two, three]);
    expect({ ...again.prepare("SELECT * FROM t").get() }).toEqual({ id: "a", body: '{"was":"four"}', size: 4 });
    again.close();
  });

  test("a new database takes every step", () => {
    const db = openDatabase(path, [one, two, three]);
    expect(versionOf(db)).toBe(3);
    db.close();
  });

  test("a step that fails is undone whole, and the version before it still opens", () => {
    first();
    const broken: Migration = {
      name: "broken",
      up: (db) => {
        db.exec("DELETE FROM t");
        db.exec("INSERT INTO nowhere VALUES (1)");
      },
    };
    const error = refusal(() => openDatabase(path, [one, two, broken]));
    expect(error).toMatchObject({ code: "DATABASE_UNUSABLE" });
    expect(error.message).toContain("nowhere");
    const db = openDatabase(path, [one, two]);
    expect([versionOf(db), { ...db.prepare("SELECT * FROM t").get() }]).toEqual([
      2,
      { id: "a", body: "four", size: 4 },
    ]);
    db.close();
  });

  test("the first version's schema stays as it was released", () => {
    const schemaOf = (db: DatabaseSync): string[] => {
      const rows = db.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name").all();
      db.close();
      return rows.map((row) => String(row["sql"]).replaceAll(/\s+/g, " "));
    };
    const released = new DatabaseSync(":memory:");
    released.exec(readFileSync(join(import.meta.dirname, "schema-1.fixture.sql"), "utf8"));
    const expected = schemaOf(released);
    expect(expected.length).toBeGreaterThan(5);
    expect(schemaOf(openDatabase(path, MIGRATIONS.slice(0, 1)))).toEqual(expected);
  });

  test("the first version, as it was released, still opens and its rows still read", () => {
    const db = new DatabaseSync(path);
    db.exec(readFileSync(join(import.meta.dirname, "schema-1.fixture.sql"), "utf8"));
    db.close();
    const store = open();
    expect(store.load()).toMatchObject({
      devices: [{ id: "dev_1", state: "leased" }],
      leases: [{ id: "lse_1", deviceId: "dev_1" }],
      requests: [{ id: "req_1", state: "granted" }],
    });
    expect(store.events({ limit: 5 }).events).toMatchObject([{ seq: 4, event: "lease.granted" }]);
    expect(store.lastSeq()).toBe(4);
    store.close();
  });
});
