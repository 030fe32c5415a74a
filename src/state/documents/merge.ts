import type { LayerApplication, LayerSpec, Localization, Removal, StateField, StatusBar } from "../types.ts";

/**
 * Lays one spec over another. The result is again a spec, and it does not matter which neighbours of a sequence are laid together first: what a spec
 * takes back stays in it, and holds for whatever comes to lie under it later.
 */
export function overlay(under: LayerSpec, over: LayerSpec): LayerSpec {
  const left = without(under, over.remove ?? {});
  const { applications, preferences, privacy, statusBar, localization, sensitive, remove, ...rest } = over;
  const { remove: _merged, ...kept } = left;
  const removal = mergedRemoval(under.remove ?? {}, remove ?? {});
  return {
    ...kept,
    ...rest,
    ...given("applications", laidOver(left.applications, applications, applicationKey, laidApplication)),
    ...given("preferences", laidOver(left.preferences, preferences, preferenceKey)),
    ...given("privacy", laidOver(left.privacy, privacy, privacyKey)),
    ...given("statusBar", laidFields<StatusBar>(left.statusBar, statusBar)),
    ...given("localization", laidFields<Localization>(left.localization, localization)),
    ...given("sensitive", union(left.sensitive, sensitive, String)),
    ...given("remove", Object.keys(removal).length === 0 ? undefined : removal),
  };
}

function given<K extends string, V>(field: K, value: V | undefined): { readonly [F in K]?: V } {
  return value === undefined ? {} : ({ [field]: value } as { readonly [F in K]: V });
}

type PreferenceId = NonNullable<Removal["preferences"]>[number];
type PrivacyId = NonNullable<Removal["privacy"]>[number];

/** The order is by the text that v1alpha1 orders by; the key tells pairs apart that read the same in it. */
interface Key {
  readonly order: string;
  readonly identity: string;
}

const applicationKey = ({ bundleIdentifier }: Pick<LayerApplication, "bundleIdentifier">): Key =>
  keyOf([bundleIdentifier]);
const preferenceKey = ({ domain, key }: PreferenceId): Key => keyOf([domain, key]);
const privacyKey = ({ service, bundleIdentifier }: PrivacyId): Key => keyOf([service, bundleIdentifier]);

function keyOf(parts: readonly string[]): Key {
  return { order: parts.join("::"), identity: JSON.stringify(parts) };
}

function byKey<T>(keyed: (entry: T) => Key): (a: T, b: T) => number {
  return (a, b) => {
    const [first, second] = [keyed(a), keyed(b)];
    if (first.order !== second.order) return first.order < second.order ? -1 : 1;
    return first.identity < second.identity ? -1 : first.identity === second.identity ? 0 : 1;
  };
}

/** Entries by their key, each replaced or laid over; sorted, as everything that was composed is. */
function laidOver<T>(
  under: readonly T[] | undefined,
  over: readonly T[] | undefined,
  keyed: (entry: T) => Key,
  lay: (under: T, over: T) => T = (_under, entry) => entry,
): readonly T[] | undefined {
  if (under === undefined && over === undefined) return undefined;
  const entries = new Map((under ?? []).map((entry) => [keyed(entry).identity, entry]));
  for (const entry of over ?? []) {
    const { identity } = keyed(entry);
    const there = entries.get(identity);
    entries.set(identity, there === undefined ? entry : lay(there, entry));
  }
  return [...entries.values()].toSorted(byKey(keyed));
}

function laidApplication(under: LayerApplication, over: LayerApplication): LayerApplication {
  if (over.merge !== "fields") return over;
  const { merge: _how, ...fields } = over;
  return { ...under, ...fields };
}

function laidFields<T extends object>(under: T | undefined, over: T | undefined): T | undefined {
  return under === undefined ? over : { ...under, ...over };
}

function union<T>(
  first: readonly T[] | undefined,
  second: readonly T[] | undefined,
  identity: (entry: T) => string,
): readonly T[] | undefined {
  if (first === undefined && second === undefined) return undefined;
  const entries = new Map([...(first ?? []), ...(second ?? [])].map((entry) => [identity(entry), entry]));
  return [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}

/** The spec without what a removal takes back. Keys of a status bar that is then empty leave none. */
function without(spec: LayerSpec, removal: Removal): LayerSpec {
  const gone = new Set<string>(removal.fields ?? []);
  const { sensitive, ...fields } = spec;
  const left: LayerSpec = Object.fromEntries(Object.entries(fields).filter(([field]) => !gone.has(field)));
  const { applications, preferences, privacy, statusBar, localization, ...rest } = left;
  return {
    ...rest,
    ...given(
      "applications",
      withoutEntries(applications, removal.applications, applicationKey, (bundleIdentifier) =>
        keyOf([bundleIdentifier]),
      ),
    ),
    ...given("preferences", withoutEntries(preferences, removal.preferences, preferenceKey, preferenceKey)),
    ...given("privacy", withoutEntries(privacy, removal.privacy, privacyKey, privacyKey)),
    ...given("statusBar", withoutKeys(statusBar, removal.statusBar)),
    ...given("localization", withoutKeys(localization, removal.localization)),
    ...given(
      "sensitive",
      sensitive?.filter((field) => !gone.has(field)),
    ),
  };
}

function withoutEntries<T, R>(
  entries: readonly T[] | undefined,
  taken: readonly R[] | undefined,
  keyed: (entry: T) => Key,
  takenKey: (entry: R) => Key,
): readonly T[] | undefined {
  if (entries === undefined || taken === undefined) return entries;
  const gone = new Set(taken.map((entry) => takenKey(entry).identity));
  return entries.filter((entry) => !gone.has(keyed(entry).identity));
}

function withoutKeys<T extends object>(value: T | undefined, taken: readonly (keyof T)[] | undefined): T | undefined {
  if (value === undefined || taken === undefined) return value;
  const gone = new Set<PropertyKey>(taken);
  const left = Object.entries(value).filter(([key]) => !gone.has(key));
  // Fewer of the same optional fields.
  return left.length === 0 ? undefined : (Object.fromEntries(left) as T);
}

/** What both take back. Of a field that the later one takes back whole, it no longer matters what the earlier one took. */
function mergedRemoval(earlier: Removal, later: Removal): Removal {
  const whole = new Set<StateField>(later.fields ?? []);
  const before = <T>(field: StateField, taken: T | undefined): T | undefined => (whole.has(field) ? undefined : taken);
  return {
    ...given("applications", union(before("applications", earlier.applications), later.applications, String)),
    ...given(
      "preferences",
      union(before("preferences", earlier.preferences), later.preferences, (entry) => preferenceKey(entry).identity),
    ),
    ...given(
      "privacy",
      union(before("privacy", earlier.privacy), later.privacy, (entry) => privacyKey(entry).identity),
    ),
    ...given("statusBar", union(before("statusBar", earlier.statusBar), later.statusBar, String)),
    ...given("localization", union(before("localization", earlier.localization), later.localization, String)),
    ...given("fields", union(earlier.fields, later.fields, String)),
  };
}
