import type { DatabaseSync, StatementResultingChanges, StatementSync } from "node:sqlite";
import { z } from "zod";
import { badRequest, EventEnvelope, EventId, type EventFact, type SimlockError } from "../contract/index.ts";
import type { Change, StoredState, TableName, Tables } from "../leasing/index.ts";
import { openDatabase } from "./database.ts";
import { ROWS } from "./rows.ts";
import { MIGRATIONS } from "./schema.ts";
import type { EventQuery, OpenStoreOptions, Store } from "./types.ts";
import { causeOf, unusable } from "./unusable.ts";

/** Events that one call of `trimEvents` looks at: a call holds commits up for a few milliseconds at most. */
const TRIM_BATCH = 250;

/**
 * Opens the daemon's database, or makes it (mode 0600) where nothing is. The caller holds the claim on the home: this connection is the only
 * one. Throws `DATABASE_UNUSABLE` when the file is empty, foreign, damaged, newer than we are, or in use; it is then left untouched.
 */
export function openStore(options: OpenStoreOptions): Store {
  return new SqliteStore(openDatabase(options.path, MIGRATIONS), options);
}

class SqliteStore implements Store {
  readonly #db: DatabaseSync;
  readonly #path: string;
  readonly #mintEventId: () => string;
  readonly #begin: StatementSync;
  readonly #end: StatementSync;
  readonly #put: { readonly [T in TableName]: (row: Tables[T]) => StatementResultingChanges };
  readonly #remove: Readonly<Record<TableName, StatementSync>>;
  readonly #append: StatementSync;
  readonly #after: StatementSync;
  readonly #firstSince: StatementSync;
  readonly #afterSince: StatementSync;
  readonly #oldest: StatementSync;
  readonly #trim: StatementSync;
  #lastSeq: number;
  /** Set by a write that failed: what is in memory and what is on disk may differ from then on. */
  #failure: SimlockError | undefined;

  constructor(db: DatabaseSync, options: OpenStoreOptions) {
    this.#db = db;
    this.#path = options.path;
    this.#mintEventId = options.mintEventId;
    this.#begin = db.prepare("BEGIN IMMEDIATE");
    this.#end = db.prepare("COMMIT");
    const device = db.prepare(
      "INSERT INTO devices (id, body) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body",
    );
    // What an index holds of a row never changes, but for a request's state: a commit that keeps it writes no page of the index.
    const lease = db.prepare(
      `INSERT INTO leases (id, device_id, requester_id, body) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body
       WHERE device_id = excluded.device_id AND requester_id = excluded.requester_id`,
    );
    const request = db.prepare(
      `INSERT INTO requests (id, seq, requester_id, state, body) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET state = excluded.state, body = excluded.body
       WHERE seq = excluded.seq AND requester_id = excluded.requester_id`,
    );
    this.#put = {
      devices: (row) => device.run(row.id, JSON.stringify(row)),
      leases: (row) => lease.run(row.id, row.deviceId, row.requesterId, JSON.stringify(row)),
      requests: (row) => request.run(row.id, row.seq, row.requesterId, row.state, JSON.stringify(row)),
    };
    this.#remove = {
      devices: db.prepare("DELETE FROM devices WHERE id = ?"),
      leases: db.prepare("DELETE FROM leases WHERE id = ?"),
      requests: db.prepare("DELETE FROM requests WHERE id = ?"),
    };
    this.#append = db.prepare("INSERT INTO events (seq, id, ts, name, module, payload) VALUES (?, ?, ?, ?, ?, ?)");
    const columns = "seq, id, ts, name, module, payload";
    this.#after = db.prepare(`SELECT ${columns} FROM events WHERE seq > ? ORDER BY seq LIMIT ?`);
    this.#firstSince = db.prepare("SELECT min(seq) AS seq FROM events WHERE ts >= ?");
    this.#afterSince = db.prepare(`SELECT ${columns} FROM events WHERE seq > ? AND +ts >= ? ORDER BY seq LIMIT ?`);
    this.#oldest = db.prepare("SELECT seq, ts FROM events ORDER BY seq LIMIT 1");
    this.#trim = db.prepare(
      `DELETE FROM events WHERE seq IN (
         SELECT seq FROM (SELECT seq, ts FROM events ORDER BY seq LIMIT ${TRIM_BATCH}) WHERE seq < ? AND (seq <= ? OR ts < ?))`,
    );
    this.#lastSeq = numberOf(db.prepare("SELECT max(seq) AS seq FROM events").get()?.["seq"]) ?? 0;
  }

  load(): StoredState {
    this.#usable();
    return {
      devices: this.#read("devices", "id"),
      leases: this.#read("leases", "id"),
      requests: this.#read("requests", "seq"),
    };
  }

  commit(
    changes: readonly Change[],
    events: readonly EventFact[],
    at: { readonly wall: number },
  ): readonly EventEnvelope[] {
    this.#usable();
    if (changes.length === 0 && events.length === 0) return [];
    return this.#transaction(() => {
      this.#write(changes);
      return events.map((fact) => this.#tell(fact, Math.trunc(at.wall)));
    });
  }

  events(query: EventQuery): { readonly events: readonly EventEnvelope[]; readonly more: boolean } {
    this.#usable();
    const { sinceTs, afterSeq = 0, limit } = query;
    const rows = this.#reading(() =>
      sinceTs === undefined ? this.#after.all(afterSeq, limit + 1) : this.#since(sinceTs, afterSeq, limit + 1),
    );
    return { events: rows.slice(0, limit).map((row) => this.#envelope(row)), more: rows.length > limit };
  }

  trimEvents(limits: { readonly before: number; readonly keep: number }): number {
    // Most calls find nothing: they must not cost a commit. The newest event stays: its number is what the next one is counted from.
    const doomed = (row: Record<string, unknown> | undefined): boolean => {
      const [seq, ts] = [numberOf(row?.["seq"]), numberOf(row?.["ts"])];
      return (
        seq !== undefined &&
        ts !== undefined &&
        seq < this.#lastSeq &&
        (seq <= this.#lastSeq - limits.keep || ts < limits.before)
      );
    };
    this.#usable();
    if (!doomed(this.#reading(() => this.#oldest.get()))) return 0;
    return this.#transaction(() =>
      Number(this.#trim.run(this.#lastSeq, this.#lastSeq - limits.keep, limits.before).changes),
    );
  }

  lastSeq(): number {
    return this.#lastSeq;
  }

  close(): void {
    if (this.#db.isOpen) this.#db.close();
  }

  /** All of `work` in one transaction, on disk when this returns. What fails is rolled back, and the store takes no more work. */
  #transaction<T>(work: () => T): T {
    this.#usable();
    const lastSeq = this.#lastSeq;
    try {
      this.#begin.run();
      const result = work();
      this.#end.run();
      return result;
    } catch (error) {
      this.#lastSeq = lastSeq;
      this.#failure = this.#failed(error);
      // SQLite has rolled back by itself after some errors (disk full, I/O); a rollback that fails leaves nothing committed either.
      try {
        if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
      } catch {
        // The failure that is thrown already says what is wrong.
      }
      throw this.#failure;
    }
  }

  #failed(error: unknown): SimlockError {
    const why = error instanceof Error ? error.message : String(error);
    return unusable(this.#path, "write", `could not be written: ${why}. Nothing of this step was kept.`, {
      cause: error,
    });
  }

  #usable(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (!this.#db.isOpen) throw unusable(this.#path, "unreadable", "was closed by this daemon.");
  }

  /**
   * Removals first: a device whose lease ends and which is granted again in the same step must not have two leases on the way. A row that
   * changed more than once is written once, as it is at the end.
   */
  #write(changes: readonly Change[]): void {
    const last = new Map<string, Change>();
    for (const change of changes) last.set(`${change.table}/${change.key}`, change);
    for (const change of last.values()) if (change.row === undefined) this.#remove[change.table].run(change.key);
    for (const change of last.values()) this.#upsert(change);
  }

  #upsert(change: Change): void {
    if (change.row === undefined) return;
    if (change.row.id !== change.key)
      throw new Error(`${change.table}: the row of ${change.key} is named ${change.row.id}`);
    const { changes } =
      change.table === "devices"
        ? this.#put.devices(change.row)
        : change.table === "leases"
          ? this.#put.leases(change.row)
          : this.#put.requests(change.row);
    if (Number(changes) !== 1) throw new Error(`${change.table}: ${change.key} must not change what it is of.`);
  }

  #tell(fact: EventFact, ts: number): EventEnvelope {
    const id = EventId.parse(this.#mintEventId());
    const module = moduleOf(fact.event);
    const seq = this.#lastSeq + 1;
    this.#append.run(seq, id, ts, fact.event, module, JSON.stringify(fact.payload));
    this.#lastSeq = seq;
    return { id, seq, timestamp: ts, event: fact.event, payload: { ...fact.payload }, module };
  }

  #since(sinceTs: number, afterSeq: number, limit: number): Row[] {
    // The wall clock can be set back, so that `ts` need not rise with `seq`.
    const first = numberOf(this.#firstSince.get(sinceTs)?.["seq"]);
    return first === undefined ? [] : this.#afterSince.all(Math.max(afterSeq, first - 1), sinceTs, limit);
  }

  #read<T extends TableName>(table: T, order: "id" | "seq"): Tables[T][] {
    const rows = this.#reading(() => this.#db.prepare(`SELECT id, body FROM ${table} ORDER BY ${order}`).all());
    return rows.map((stored) => {
      const key = String(stored["id"]);
      const row = this.#parsed(table, key, stored["body"], ROWS[table]);
      if (row.id !== key) throw this.#badRow(table, key, `its body is named ${row.id}`);
      return row;
    });
  }

  #envelope(row: Row): EventEnvelope {
    const key = String(row["seq"]);
    const payload = this.#parsed("events", key, row["payload"], Payload.parse);
    return this.#parsed("events", key, undefined, () =>
      EventEnvelope.parse({
        id: row["id"],
        seq: row["seq"],
        timestamp: row["ts"],
        event: row["name"],
        payload,
        module: row["module"],
      }),
    );
  }

  /** A row that can't be understood stops everything: guessing at who holds which device would give one away twice. */
  #parsed<T>(table: string, key: string, body: unknown, read: (body: unknown) => T): T {
    try {
      return read(body === undefined ? undefined : JSON.parse(String(body)));
    } catch (error) {
      if (error instanceof z.ZodError) throw this.#badRow(table, key, badRequest(error).message);
      if (error instanceof SyntaxError) throw this.#badRow(table, key, "its body is not JSON");
      throw error;
    }
  }

  #badRow(table: string, key: string, why: string): SimlockError {
    return unusable(this.#path, "row", `has a row that can't be understood: ${table} ${key}: ${why}`, {
      details: { table, key },
    });
  }

  #reading<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      const { reason, text } = causeOf(error);
      throw unusable(this.#path, reason, `can't be read: ${text}`, { cause: error });
    }
  }
}

type Row = Readonly<Record<string, unknown>>;
const Payload = z.record(z.string(), z.unknown());

const numberOf = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

/** Whose fact an event is: the part before the dot names it, and all that is about devices and leases is decided in one place. */
function moduleOf(event: EventFact["event"]): string {
  const subject = event.slice(0, event.indexOf("."));
  return subject === "daemon" || subject === "doctor" ? "daemon" : "leasing";
}
