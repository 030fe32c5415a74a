import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { privacyOf } from "./privacy.ts";

let data = "";
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "simlock-tcc-"));
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

/** A database with the columns of a simulator's, filled with these rows. */
function database(...rows: readonly (readonly [service: string, client: string, type: number, value: number])[]): void {
  mkdirSync(join(data, "Library", "TCC"), { recursive: true });
  const db = new DatabaseSync(join(data, "Library", "TCC", "TCC.db"));
  db.exec(
    "CREATE TABLE access (service TEXT NOT NULL, client TEXT NOT NULL, client_type INTEGER NOT NULL, auth_value INTEGER NOT NULL, auth_reason INTEGER NOT NULL, auth_version INTEGER NOT NULL, PRIMARY KEY (service, client, client_type))",
  );
  for (const row of rows) db.prepare("INSERT INTO access VALUES (?, ?, ?, ?, 4, 1)").run(...row);
  db.close();
}

test("what apps were given and denied is read by simctl's names of the services", async () => {
  database(
    ["kTCCServicePhotos", "com.acme.b", 0, 3],
    ["kTCCServicePhotos", "com.acme.a", 0, 2],
    ["kTCCServiceAddressBook", "com.acme.a", 0, 0],
    // Not decided, a program by its path, and a service that simctl does not change.
    ["kTCCServiceCamera", "com.acme.a", 0, 1],
    ["kTCCServiceCamera", "/usr/bin/x", 1, 2],
    ["kTCCServiceLiverpool", "com.acme.a", 0, 2],
  );
  expect(await privacyOf(data)).toEqual([
    { service: "contacts", bundleIdentifier: "com.acme.a", access: "denied" },
    { service: "photos", bundleIdentifier: "com.acme.a", access: "granted" },
    { service: "photos", bundleIdentifier: "com.acme.b", access: "limited" },
  ]);
  expect(await privacyOf(data, ["com.acme.b"])).toHaveLength(1);
});

test("a device that was never asked has given nothing", async () => {
  expect(await privacyOf(data)).toEqual([]);
});

test("what can't be read is no empty list", async () => {
  await expect(privacyOf(join(data, "gone"))).rejects.toThrow("not there");
  mkdirSync(join(data, "Library", "TCC"), { recursive: true });
  writeFileSync(
    join(data, "Library", "TCC", "TCC.db"),
    "no database, but longer than its header would have to be".repeat(20),
  );
  await expect(privacyOf(data)).rejects.toThrow("not a database");
});
