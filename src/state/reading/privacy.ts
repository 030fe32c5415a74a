import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ObservedPrivacy } from "../types.ts";

/** The services of `simctl privacy` as the device's privacy database names them. Location is kept elsewhere, by another daemon. */
const SERVICES: ReadonlyMap<string, string> = new Map([
  ["kTCCServiceAddressBook", "contacts"],
  ["kTCCServiceCalendar", "calendar"],
  ["kTCCServiceCamera", "camera"],
  ["kTCCServiceContactsLimited", "contacts-limited"],
  ["kTCCServiceMediaLibrary", "media-library"],
  ["kTCCServiceMicrophone", "microphone"],
  ["kTCCServiceMotion", "motion"],
  ["kTCCServicePhotos", "photos"],
  ["kTCCServicePhotosAdd", "photos-add"],
  ["kTCCServiceReminders", "reminders"],
  ["kTCCServiceSiri", "siri"],
]);

export const READ_SERVICES: readonly string[] = [...SERVICES.values()].toSorted();

/** Of `auth_value`; 1 is not decided, which is as good as no row. */
const ACCESS: ReadonlyMap<unknown, ObservedPrivacy["access"]> = new Map([
  [0, "denied"],
  [2, "granted"],
  [3, "limited"],
]);

/**
 * The access that a device's apps were given or denied, from its privacy database: simctl has no verb that asks. A device whose database is not made yet
 * has given none. Throws `Error` where it can't be read, and where its data is not on this host.
 */
export async function privacyOf(dataPath: string, apps?: readonly string[]): Promise<readonly ObservedPrivacy[]> {
  if (!existsSync(dataPath)) throw new Error("the device's data folder is not there");
  const path = join(dataPath, "Library", "TCC", "TCC.db");
  if (!existsSync(path)) return [];
  // Loaded when it is needed: starting the MCP server must not pay for it.
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(path, { readOnly: true, timeout: 1_000 });
  try {
    const wanted = apps === undefined ? undefined : new Set<unknown>(apps);
    return database
      .prepare("SELECT service, client, auth_value FROM access WHERE client_type = 0 ORDER BY client, service")
      .all()
      .flatMap((row) => {
        const service = SERVICES.get(String(row["service"]));
        const access = ACCESS.get(row["auth_value"]);
        if (service === undefined || access === undefined) return [];
        if (wanted !== undefined && !wanted.has(row["client"])) return [];
        return [{ service, bundleIdentifier: String(row["client"]), access }];
      });
  } finally {
    database.close();
  }
}
