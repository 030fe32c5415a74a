import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openSet } from "./call.ts";
import type { Call } from "./call.ts";
import { isRunning } from "./device.ts";
import { failure } from "./failure.ts";

/**
 * One recording a host. A recorder that is killed leaves the slot taken, as on a Mac, and the next one exits 16. What frees it there is not
 * known; here it is free again when the device that was recorded is no longer in the same boot.
 */
export function takeRecordingSlot(call: Call, udid: string): void {
  withSlot(call.root, (db) => {
    const taken = db.prepare("SELECT set_path, udid, boot FROM slot").get();
    if (
      taken !== undefined &&
      stillBooted(call, String(taken["set_path"]), String(taken["udid"]), Number(taken["boot"]))
    ) {
      throw failure("recordingBusy");
    }
    db.exec("DELETE FROM slot");
    db.prepare("INSERT INTO slot (set_path, udid, boot, pid) VALUES (?, ?, ?, ?)").run(
      call.set.path,
      udid,
      call.set.device(udid)?.bootCount ?? 0,
      process.pid,
    );
  });
}

export function freeRecordingSlot(call: Call): void {
  withSlot(call.root, (db) => db.prepare("DELETE FROM slot WHERE pid = ?").run(process.pid));
}

function stillBooted(call: Call, setPath: string, udid: string, boot: number): boolean {
  const own = setPath === call.set.path;
  const set = own ? call.set : openSet(call.root, setPath);
  try {
    const device = set.device(udid);
    return device !== undefined && device.bootCount === boot && isRunning(device, Date.now());
  } finally {
    if (!own) set.close();
  }
}

function withSlot(root: string, act: (db: DatabaseSync) => void): void {
  mkdirSync(root, { recursive: true });
  const db = new DatabaseSync(join(root, "recording.db"), { timeout: 60_000 });
  try {
    db.exec("PRAGMA synchronous = OFF");
    db.exec("BEGIN IMMEDIATE");
    db.exec("CREATE TABLE IF NOT EXISTS slot (set_path TEXT, udid TEXT, boot INTEGER, pid INTEGER)");
    try {
      act(db);
      db.exec("COMMIT");
    } catch (error) {
      db.exec("ROLLBACK");
      throw error;
    }
  } finally {
    db.close();
  }
}
