import type { ObservedApplication } from "../types.ts";
import { isGlobalDomain } from "./global-domain.ts";
import type { Seen } from "./seen.ts";

/**
 * What a device has once it is erased: nothing of the user's. Its own apps stay, and what the system sets at its first boot (the global domain, the
 * look of it) is not known.
 */
export function afterErase(before: Seen): Seen {
  return {
    ...NOTHING,
    application(id) {
      const found = before.application(id);
      if (found === undefined) return NOTHING.application(id);
      return found !== null && isSystemApp(found) ? found : null;
    },
  };
}

/** A device that was just made is as after an erase. */
export const NOTHING: Seen = {
  state: { power: "shutdown", applications: [], preferences: [], statusBar: {} },
  application: (id) => (isAppleIdentifier(id) ? undefined : null),
  running: () => false,
  preference: (domain) => (isGlobalDomain(domain) ? undefined : null),
  privacy: () => "unset",
};

/** A copy of another device: off, and with contents that nobody has read. */
export const UNREAD: Seen = {
  state: { power: "shutdown", applications: [], preferences: [] },
  application: () => undefined,
  running: () => false,
  preference: () => undefined,
  privacy: () => undefined,
};

function isSystemApp(app: ObservedApplication): boolean {
  return app.type === undefined ? isAppleIdentifier(app.bundleIdentifier) : app.type === "System";
}

function isAppleIdentifier(id: string): boolean {
  return id.startsWith("com.apple.");
}
