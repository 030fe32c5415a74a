import type { CapabilityName, JsonValue, ObservedApplication, ObservedState, Snapshot } from "../types.ts";
import { isGlobalDomain } from "./global-domain.ts";

/**
 * A snapshot made ready for questions. Each answer is what is there, null for "nothing", or undefined where it is not known: what was not read counts
 * neither as there nor as missing.
 */
export interface Seen {
  readonly state: ObservedState;
  /** Null: not installed. */
  application(bundleIdentifier: string): ObservedApplication | null | undefined;
  running(bundleIdentifier: string): boolean | undefined;
  /** Null: not set. */
  preference(domain: string, key: string): JsonValue | undefined;
  privacy(service: string, bundleIdentifier: string): string | undefined;
}

export function seeing(snapshot: Snapshot): Seen {
  const { state } = snapshot;
  const readable = (name: CapabilityName): boolean => snapshot.capabilities[name]?.readable !== false;
  const applications = new Map(state.applications.map((each) => [each.bundleIdentifier, each]));
  const preferences = new Map(state.preferences.map((each) => [preferenceId(each.domain, each.key), each.value]));
  const domains = new Set((state.preferenceDomains ?? []).map(sameDomain));
  const privacy = new Map(
    (state.privacy ?? []).map((each) => [`${each.service} ${each.bundleIdentifier}`, each.access]),
  );
  const services = new Set(state.privacyServices ?? []);
  const application = (id: string): ObservedApplication | null | undefined =>
    applications.get(id) ?? (readable("applications") ? null : undefined);
  return {
    state,
    application,
    running(id) {
      // Nothing runs on a device that is off.
      if (state.power === "shutdown") return false;
      const found = application(id);
      return found === null ? false : found?.running;
    },
    preference(domain, key) {
      const value = preferences.get(preferenceId(domain, key));
      return value === undefined && domains.has(sameDomain(domain)) ? null : value;
    },
    privacy(service, id) {
      const listed = privacy.get(`${service} ${id}`);
      return listed === undefined && services.has(service) ? "unset" : listed;
    },
  };
}

function sameDomain(domain: string): string {
  return isGlobalDomain(domain) ? "NSGlobalDomain" : domain;
}

/** Domain and key apart by a character that neither can hold: `a` `b.c` is not `a.b` `c`. */
function preferenceId(domain: string, key: string): string {
  return `${sameDomain(domain)}\n${key}`;
}
