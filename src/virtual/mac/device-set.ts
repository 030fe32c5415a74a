import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Device, DeviceState, Session, Settings } from "./device.ts";

/** An installed app. Its bundle lies in `data/Containers/Bundle/Application/<container>/`. */
export interface InstalledApp {
  readonly udid: string;
  readonly bundleId: string;
  readonly container: string;
  readonly dataContainer: string;
  /** `Name.app` */
  readonly folder: string;
  readonly displayName: string;
  readonly executable: string;
  readonly name: string;
  readonly version: string;
  readonly shortVersion: string;
  readonly urlSchemes: readonly string[];
  readonly groups: Readonly<Record<string, string>>;
}

/** A simulated process of a device. No such process runs on the host. */
export interface SimulatedProcess {
  readonly udid: string;
  readonly pid: number;
  readonly bundleId: string;
  readonly args: readonly string[];
  readonly startedAt: number;
}

export interface Pair {
  readonly id: string;
  readonly watch: string;
  readonly phone: string;
  readonly active: boolean;
}

const VERSION = 1;

const SCHEMA = `
  CREATE TABLE devices (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, udid TEXT NOT NULL UNIQUE, name TEXT NOT NULL, type_id TEXT NOT NULL, runtime_id TEXT NOT NULL,
    state TEXT NOT NULL, until REAL, last_booted_at REAL, boot_count INTEGER NOT NULL DEFAULT 0, session TEXT, settings TEXT NOT NULL
  ) STRICT;
  CREATE TABLE apps (udid TEXT NOT NULL, bundle_id TEXT NOT NULL, json TEXT NOT NULL, PRIMARY KEY (udid, bundle_id)) STRICT;
  CREATE TABLE processes (
    pid INTEGER PRIMARY KEY AUTOINCREMENT, udid TEXT NOT NULL, bundle_id TEXT NOT NULL, args TEXT NOT NULL, started_at REAL NOT NULL
  ) STRICT;
  CREATE TABLE pairs (id TEXT PRIMARY KEY, watch TEXT NOT NULL, phone TEXT NOT NULL, active INTEGER NOT NULL) STRICT;
  CREATE TABLE pasteboards (udid TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
`;

/** Far above the largest process id of Linux (4,194,304) and macOS (99,998): a `kill` of a simulated process can hit no real one. */
const FIRST_PID = 5_000_000;

export interface SetOptions {
  /** Called once, within the transaction that makes the set. */
  readonly fill?: (set: DeviceSet) => void;
  /** Called after each commit that changed something. */
  readonly committed?: () => void;
}

/**
 * A folder of simulators. Its facts are in one SQLite database in the folder, so that any number of callers are serialised by the
 * kernel's locks, a reader never sees half a change, and a caller that is killed leaves either its change or none.
 */
export class DeviceSet {
  readonly path: string;
  readonly #db: DatabaseSync;
  readonly #committed: () => void;
  #depth = 0;

  constructor(path: string, options: SetOptions = {}) {
    this.path = path;
    this.#committed = options.committed ?? (() => {});
    mkdirSync(path, { recursive: true });
    this.#db = new DatabaseSync(join(path, "virtual.db"), { timeout: 60_000 });
    // Nothing here needs to survive a power cut, only a killed process, and for that the rollback journal is enough without any fsync.
    this.#db.exec("PRAGMA synchronous = OFF");
    if (this.#version() === 0) this.write(() => this.#make(options.fill));
    if (this.#version() !== VERSION) throw new Error(`${path} was made by another version of the virtual Mac`);
  }

  #version(): number {
    return Number(this.#db.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);
  }

  #make(fill: ((set: DeviceSet) => void) | undefined): void {
    if (this.#version() !== 0) return;
    this.#db.exec(SCHEMA);
    this.#db.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES ('processes', ?)").run(FIRST_PID);
    this.#db.exec(`PRAGMA user_version = ${VERSION}`);
    fill?.(this);
  }

  close(): void {
    this.#db.close();
  }

  /** Runs `change` alone in this set, all or nothing. It may not wait for anything. */
  write<T>(change: () => T): T {
    if (this.#depth > 0) return change();
    this.#db.exec("BEGIN IMMEDIATE");
    this.#depth = 1;
    let result: T;
    try {
      result = change();
      this.#db.exec("COMMIT");
    } catch (error) {
      this.#db.exec("ROLLBACK");
      throw error;
    } finally {
      this.#depth = 0;
    }
    this.#committed();
    return result;
  }

  /** All devices in the order in which they were made. */
  devices(): readonly Device[] {
    return this.#db.prepare("SELECT * FROM devices ORDER BY seq").all().map(deviceOf);
  }

  device(udid: string): Device | undefined {
    const row = this.#db.prepare("SELECT * FROM devices WHERE udid = ?").get(udid);
    return row === undefined ? undefined : deviceOf(row);
  }

  add(device: Device): void {
    this.#db
      .prepare(
        "INSERT INTO devices (udid, name, type_id, runtime_id, state, until, last_booted_at, boot_count, session, settings) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      )
      .run(device.udid, device.name, device.typeId, device.runtimeId, ...changing(device));
  }

  put(device: Device): void {
    this.#db
      .prepare(
        "UPDATE devices SET name = ?, runtime_id = ?, state = ?, until = ?, last_booted_at = ?, boot_count = ?, session = ?, settings = ? WHERE udid = ?",
      )
      .run(device.name, device.runtimeId, ...changing(device), device.udid);
  }

  /** Takes the device and all that belongs to it out of the set. Its folder is left to the caller. */
  remove(udid: string): void {
    this.forgetContents(udid);
    this.#db.prepare("DELETE FROM pairs WHERE watch = ? OR phone = ?").run(udid, udid);
    this.#db.prepare("DELETE FROM devices WHERE udid = ?").run(udid);
  }

  forgetContents(udid: string): void {
    this.#db.prepare("DELETE FROM apps WHERE udid = ?").run(udid);
    this.forgetSession(udid);
  }

  /** What does not outlive a shutdown: processes and the pasteboard. */
  forgetSession(udid: string): void {
    this.#db.prepare("DELETE FROM processes WHERE udid = ?").run(udid);
    this.#db.prepare("DELETE FROM pasteboards WHERE udid = ?").run(udid);
  }

  apps(udid: string): readonly InstalledApp[] {
    return this.#db.prepare("SELECT json FROM apps WHERE udid = ? ORDER BY bundle_id").all(udid).map(appOf);
  }

  app(udid: string, bundleId: string): InstalledApp | undefined {
    const row = this.#db.prepare("SELECT json FROM apps WHERE udid = ? AND bundle_id = ?").get(udid, bundleId);
    return row === undefined ? undefined : appOf(row);
  }

  putApp(app: InstalledApp): void {
    this.#db
      .prepare("INSERT OR REPLACE INTO apps (udid, bundle_id, json) VALUES (?, ?, ?)")
      .run(app.udid, app.bundleId, JSON.stringify(app));
  }

  removeApp(udid: string, bundleId: string): void {
    this.#db.prepare("DELETE FROM apps WHERE udid = ? AND bundle_id = ?").run(udid, bundleId);
  }

  processes(udid: string): readonly SimulatedProcess[] {
    return this.#db
      .prepare("SELECT * FROM processes WHERE udid = ? ORDER BY pid")
      .all(udid)
      .map((row) => ({
        udid,
        pid: Number(row["pid"]),
        bundleId: String(row["bundle_id"]),
        args: JSON.parse(String(row["args"])),
        startedAt: Number(row["started_at"]),
      }));
  }

  startProcess(udid: string, bundleId: string, args: readonly string[], now: number): number {
    const made = this.#db
      .prepare("INSERT INTO processes (udid, bundle_id, args, started_at) VALUES (?, ?, ?, ?)")
      .run(udid, bundleId, JSON.stringify(args), now);
    return Number(made.lastInsertRowid);
  }

  endProcess(pid: number): void {
    this.#db.prepare("DELETE FROM processes WHERE pid = ?").run(pid);
  }

  pairs(): readonly Pair[] {
    return this.#db
      .prepare("SELECT * FROM pairs ORDER BY rowid")
      .all()
      .map((row) => ({
        id: String(row["id"]),
        watch: String(row["watch"]),
        phone: String(row["phone"]),
        active: row["active"] === 1,
      }));
  }

  putPair(pair: Pair): void {
    this.#db
      .prepare("INSERT OR REPLACE INTO pairs (id, watch, phone, active) VALUES (?, ?, ?, ?)")
      .run(pair.id, pair.watch, pair.phone, pair.active ? 1 : 0);
  }

  removePair(id: string): void {
    this.#db.prepare("DELETE FROM pairs WHERE id = ?").run(id);
  }

  pasteboard(udid: string): Uint8Array {
    const bytes = this.#db.prepare("SELECT bytes FROM pasteboards WHERE udid = ?").get(udid)?.["bytes"];
    return bytes instanceof Uint8Array ? bytes : new Uint8Array(0);
  }

  putPasteboard(udid: string, bytes: Uint8Array): void {
    this.#db.prepare("INSERT OR REPLACE INTO pasteboards (udid, bytes) VALUES (?, ?)").run(udid, bytes);
  }
}

type Row = Record<string, unknown>;

function changing(device: Device) {
  return [
    device.state,
    device.until,
    device.lastBootedAt,
    device.bootCount,
    device.session === null ? null : JSON.stringify(device.session),
    JSON.stringify(device.settings),
  ] as const;
}

function deviceOf(row: Row): Device {
  const session: Session | null = row["session"] === null ? null : JSON.parse(String(row["session"]));
  const settings: Settings = JSON.parse(String(row["settings"]));
  return {
    udid: String(row["udid"]),
    name: String(row["name"]),
    typeId: String(row["type_id"]),
    runtimeId: String(row["runtime_id"]),
    state: stateOf(row["state"]),
    until: numberOrNull(row["until"]),
    lastBootedAt: numberOrNull(row["last_booted_at"]),
    bootCount: Number(row["boot_count"]),
    session,
    settings,
  };
}

function appOf(row: Row): InstalledApp {
  const app: InstalledApp = JSON.parse(String(row["json"]));
  return app;
}

function numberOrNull(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

const STATES: readonly DeviceState[] = ["Creating", "Shutdown", "Booting", "Booted", "Shutting Down"];

function stateOf(value: unknown): DeviceState {
  const known = STATES.find((state) => state === value);
  if (known === undefined) throw new Error(`the device set holds an unknown state: ${String(value)}`);
  return known;
}
