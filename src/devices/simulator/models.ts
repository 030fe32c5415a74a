import type { DeviceClass, PlatformCatalog } from "../../contract/index.ts";
import type { ApplePlatform, DeviceType, Runtime } from "../../exec/index.ts";
import { newestFirst, packed } from "./versions.ts";

/** Models for a class, most wanted first, where the configuration names none that is there. */
const BUILT_IN_MODELS: Readonly<Partial<Record<DeviceClass, readonly string[]>>> = {
  phone: ["iPhone 17", "iPhone 16", "iPhone 15", "iPhone 14", "iPhone 13"],
  tablet: [
    "iPad Pro 11-inch (M5)",
    "iPad Pro 11-inch (M4)",
    "iPad Air 11-inch (M3)",
    "iPad (A16)",
    "iPad (10th generation)",
  ],
  watch: ["Apple Watch Series 11 (46mm)", "Apple Watch Series 10 (46mm)", "Apple Watch Series 9 (45mm)"],
  tv: ["Apple TV 4K (3rd generation)", "Apple TV"],
  vision: ["Apple Vision Pro"],
};

export type DefaultModels = Readonly<Partial<Record<DeviceClass, string | readonly string[] | undefined>>>;

/** Longer names are no model of ours: the contract carries at most this many characters. */
const MAX_NAME = 256;

const FAMILIES: readonly (readonly [RegExp, DeviceClass, ApplePlatform])[] = [
  [/^(iPhone|iPod)/i, "phone", "iOS"],
  [/^iPad/i, "tablet", "iOS"],
  [/^Apple[- ]?Watch/i, "watch", "watchOS"],
  [/^Apple[- ]?TV/i, "tv", "tvOS"],
  [/^Apple[- ]?Vision/i, "vision", "xrOS"],
];

/** By its product family; before Xcode 11 device types have none, and their names begin with it. */
function familyOf(type: DeviceType): { readonly class: DeviceClass; readonly platform: ApplePlatform } | undefined {
  const found = FAMILIES.find(([pattern]) => pattern.test(type.family ?? type.name));
  return found === undefined ? undefined : { class: found[1], platform: found[2] };
}

/** Whether a device of this type can be made on this runtime: it is installed and usable, it names the type, and the version is in the type's range. */
export function pairs(type: DeviceType, runtime: Runtime): boolean {
  if (runtime.unavailable !== undefined) return false;
  const family = familyOf(type);
  if (family !== undefined && runtime.platform !== undefined && family.platform !== runtime.platform) return false;
  if (runtime.supports !== undefined && !runtime.supports.has(type.id)) return false;
  const version = packed(runtime.version);
  if (version === undefined) return runtime.supports !== undefined;
  return version >= type.minRuntime && version <= type.maxRuntime;
}

/** Everything that can be made, from one listing of device types and runtimes. */
export function catalogOf(
  deviceTypes: readonly DeviceType[],
  runtimes: readonly Runtime[],
  configured: DefaultModels,
): PlatformCatalog {
  const types = firstOfEachName(deviceTypes);
  const usable = runtimes.filter((runtime) => runtime.unavailable === undefined);
  const modelRuntimes: Record<string, string[]> = {};
  const modelClasses: Record<string, DeviceClass> = {};
  for (const type of types) {
    modelRuntimes[type.name] = versionsOf(usable.filter((runtime) => pairs(type, runtime)));
    const family = familyOf(type);
    if (family !== undefined) modelClasses[type.name] = family.class;
  }
  const phones = versionsOf(usable.filter((runtime) => runtime.platform === "iOS"));
  const all = versionsOf(usable);
  const newest = phones[0] ?? all[0];
  const modelAliases = aliasesOf(types);
  return {
    platform: "ios",
    models: types.map((type) => type.name),
    runtimes: all,
    ...(newest === undefined ? {} : { defaultRuntime: newest }),
    modelRuntimes,
    modelAliases,
    modelClasses,
    classDefaults: classDefaultsOf({ types, modelClasses, modelRuntimes, modelAliases, configured }),
  };
}

function firstOfEachName(deviceTypes: readonly DeviceType[]): readonly DeviceType[] {
  const names = new Map<string, DeviceType>();
  for (const type of deviceTypes) {
    if (type.name.length <= MAX_NAME && !names.has(type.name)) names.set(type.name, type);
  }
  return [...names.values()];
}

function versionsOf(runtimes: readonly Runtime[]): string[] {
  return [...new Set(runtimes.map((runtime) => runtime.version))].toSorted(newestFirst);
}

/** By their lower case. */
function spellings(type: DeviceType): ReadonlyMap<string, string> {
  const short = type.id.slice(type.id.lastIndexOf(".") + 1);
  const dashed = type.name.replaceAll(/[^\p{L}\p{N}]+/gu, "-").replace(/-$/, "");
  const all = [type.id, short, dashed, type.modelIdentifier ?? short];
  return new Map(all.filter((alias) => alias.length <= MAX_NAME).map((alias) => [alias.toLowerCase(), alias]));
}

/**
 * What else a model answers to: its identifier, the last part of it, its name with dashes, the hardware's own name. Never another model's name,
 * and never two models.
 */
function aliasesOf(types: readonly DeviceType[]): Record<string, string[]> {
  const names = new Set(types.map((type) => type.name.toLowerCase()));
  const owners = new Map<string, number>();
  for (const type of types) {
    for (const alias of spellings(type).keys()) owners.set(alias, (owners.get(alias) ?? 0) + 1);
  }
  const own = ([alias]: readonly [string, string]) => owners.get(alias) === 1 && !names.has(alias);
  return Object.fromEntries(
    types.map((type) => [type.name, [...spellings(type)].filter(own).map(([, alias]) => alias)]),
  );
}

interface ClassSources {
  readonly types: readonly DeviceType[];
  readonly modelClasses: Readonly<Record<string, DeviceClass>>;
  readonly modelRuntimes: Readonly<Record<string, readonly string[]>>;
  readonly modelAliases: Readonly<Record<string, readonly string[]>>;
  readonly configured: DefaultModels;
}

/**
 * The first wanted model of each class that pairs with an installed runtime. Where some are known but none pairs, the first of those: the
 * answer is then that its runtime is missing, and not that there is no such model.
 */
function classDefaultsOf(sources: ClassSources): Partial<Record<DeviceClass, string>> {
  const { types, modelClasses, modelRuntimes, modelAliases, configured } = sources;
  const defaults: Partial<Record<DeviceClass, string>> = {};
  for (const wanted of ["phone", "tablet", "watch", "tv", "vision"] as const) {
    const named = configured[wanted];
    const own = named === undefined ? [] : typeof named === "string" ? [named] : named;
    const listed = [...own, ...(BUILT_IN_MODELS[wanted] ?? [])].flatMap((model) => {
      const type = types.find((candidate) => answersTo(candidate.name, modelAliases[candidate.name] ?? [], model));
      return type !== undefined && modelClasses[type.name] === wanted ? [type.name] : [];
    });
    const chosen = listed.find((model) => (modelRuntimes[model] ?? []).length > 0) ?? listed[0];
    if (chosen !== undefined) defaults[wanted] = chosen;
  }
  return defaults;
}

function answersTo(name: string, aliases: readonly string[], wanted: string): boolean {
  const text = wanted.toLowerCase();
  return name.toLowerCase() === text || aliases.some((alias) => alias.toLowerCase() === text);
}

/** The device type and runtime that a spec stands for, or which of the two is not there. */
export type Pairing =
  | { readonly kind: "pair"; readonly type: DeviceType; readonly runtime: Runtime }
  | { readonly kind: "unknown-model" }
  | { readonly kind: "no-runtime"; readonly type: DeviceType; readonly paired: readonly string[] };

export function pairingOf(
  spec: { readonly model: string; readonly osVersion: string },
  deviceTypes: readonly DeviceType[],
  runtimes: readonly Runtime[],
): Pairing {
  const types = firstOfEachName(deviceTypes);
  const aliases = aliasesOf(types);
  const type =
    types.find((candidate) => candidate.name === spec.model) ??
    types.find((candidate) => answersTo(candidate.name, aliases[candidate.name] ?? [], spec.model));
  if (type === undefined) return { kind: "unknown-model" };
  const paired = runtimes.filter((runtime) => pairs(type, runtime));
  const runtime = paired.find((candidate) => candidate.version === spec.osVersion);
  if (runtime === undefined) return { kind: "no-runtime", type, paired: versionsOf(paired) };
  return { kind: "pair", type, runtime };
}
