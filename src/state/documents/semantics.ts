import { type Path, type Problem, problemAt } from "./problems.ts";
import type { ParsedSpec, ParsedTarget } from "./profile-schema.ts";

/**
 * What JSON Schema can't say of a state: that entries are unique by their keys, that a push fits into one notification, that a time zone and a URL
 * are ones. A pair of keys is compared as a pair, so `a` with `b::c` is not `a::b` with `c`.
 */
export function semanticProblems(spec: ParsedSpec): readonly Problem[] {
  return [
    ...repeated(spec.applications, "applications", ({ bundleIdentifier }) => [bundleIdentifier]),
    ...repeated(spec.preferences, "preferences", ({ domain, key }) => [domain, key]),
    ...repeated(spec.privacy, "privacy", ({ service, bundleIdentifier }) => [service, bundleIdentifier]),
    ...(spec.push ?? []).flatMap(({ payload }, index) =>
      payload === undefined ? [] : pushProblems(payload, ["spec", "push", index, "payload"]),
    ),
    ...timeZoneProblems(spec.localization?.timeZone),
    ...(spec.openURL !== undefined && !URL.canParse(spec.openURL)
      ? [problemAt(["spec", "openURL"], "is not a URL that can be parsed")]
      : []),
  ];
}

export function repeatedTargets(targets: readonly ParsedTarget[]): readonly Problem[] {
  return repeatedAt(targets, ["targets"], (target) => Object.entries(target).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function repeated<T>(
  entries: readonly T[] | undefined,
  field: string,
  identity: (entry: T) => readonly string[],
): readonly Problem[] {
  return repeatedAt(entries ?? [], ["spec", field], identity);
}

function repeatedAt<T>(entries: readonly T[], path: Path, identity: (entry: T) => unknown): readonly Problem[] {
  const seen = new Map<string, number>();
  return entries.flatMap((entry, index) => {
    const key = JSON.stringify(identity(entry));
    const first = seen.get(key);
    if (first === undefined) {
      seen.set(key, index);
      return [];
    }
    return [problemAt([...path, index], `is the same entry as number ${first} of the list; entries are unique`)];
  });
}

const MAX_PUSH_BYTES = 4096;

export function pushProblems(payload: object, path: Path): readonly Problem[] {
  const bytes = Buffer.byteLength(JSON.stringify(payload));
  return bytes <= MAX_PUSH_BYTES
    ? []
    : [problemAt(path, `is ${bytes} bytes as JSON; at most ${MAX_PUSH_BYTES} are delivered`)];
}

const UNKNOWN_ZONE = [problemAt(["spec", "localization", "timeZone"], "is no time zone that is known by this name")];

function timeZoneProblems(timeZone: string | undefined): readonly Problem[] {
  if (timeZone === undefined) return [];
  try {
    return new Intl.DateTimeFormat("en", { timeZone }).resolvedOptions().timeZone === "" ? UNKNOWN_ZONE : [];
  } catch {
    return UNKNOWN_ZONE;
  }
}
