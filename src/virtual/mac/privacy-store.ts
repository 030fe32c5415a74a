import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** The columns that readers of a simulator's TCC.db use; the real table has a few more. */
const SCHEMA = `CREATE TABLE IF NOT EXISTS access (
  service TEXT NOT NULL, client TEXT NOT NULL, client_type INTEGER NOT NULL, auth_value INTEGER NOT NULL, auth_reason INTEGER NOT NULL,
  auth_version INTEGER NOT NULL, csreq BLOB, policy_id INTEGER, indirect_object_identifier_type INTEGER,
  indirect_object_identifier TEXT NOT NULL DEFAULT 'UNUSED', indirect_object_code_identity BLOB, flags INTEGER,
  last_modified INTEGER NOT NULL DEFAULT (CAST(strftime('%s','now') AS INTEGER)),
  PRIMARY KEY (service, client, client_type, indirect_object_identifier)
)`;

/**
 * Permissions of a device's apps, where a simulator keeps them: `data/Library/TCC/TCC.db`, table `access`, `auth_value` 2 granted, 0 denied,
 * no row unknown. A simulator keeps location elsewhere, in locationd's own file; here it is in the same table under `location` and `location-always`.
 */
export class PrivacyStore {
  readonly #db: DatabaseSync;

  constructor(data: string) {
    const path = join(data, "Library", "TCC", "TCC.db");
    mkdirSync(dirname(path), { recursive: true });
    this.#db = new DatabaseSync(path, { timeout: 60_000 });
    this.#db.exec("PRAGMA synchronous = OFF");
    this.#db.exec(SCHEMA);
  }

  close(): void {
    this.#db.close();
  }

  /** True when something is now different. Without a bundle, `reset` forgets every app. */
  change(action: "grant" | "revoke" | "reset", services: readonly string[], bundleId: string | undefined): boolean {
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      let changed = false;
      for (const service of services) {
        const { changes } =
          action === "reset"
            ? this.#reset(service, bundleId)
            : this.#put(service, bundleId ?? "", action === "grant" ? 2 : 0);
        changed ||= Number(changes) > 0;
      }
      this.#db.exec("COMMIT");
      return changed;
    } catch (error) {
      this.#db.exec("ROLLBACK");
      throw error;
    }
  }

  #reset(service: string, bundleId: string | undefined) {
    return bundleId === undefined
      ? this.#db.prepare("DELETE FROM access WHERE service = ?").run(service)
      : this.#db.prepare("DELETE FROM access WHERE service = ? AND client = ?").run(service, bundleId);
  }

  #put(service: string, bundleId: string, value: 0 | 2) {
    return this.#db
      .prepare(
        `INSERT INTO access (service, client, client_type, auth_value, auth_reason, auth_version, flags) VALUES (?, ?, 0, ?, 4, 1, 0)
         ON CONFLICT DO UPDATE SET auth_value = excluded.auth_value WHERE auth_value <> excluded.auth_value`,
      )
      .run(service, bundleId, value);
  }
}
