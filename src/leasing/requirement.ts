import type { DeviceClass, DeviceSpec, LeaseRequestInput, Platform, PlatformCatalog } from "../contract/index.ts";
import { acceptsOs, parseOsRequirement, type OsRequirement } from "./os-version.ts";
import type { Device } from "./state.ts";

/** What a request accepts. Requests with the same key want the same thing and wait in one line. */
export interface Requirement {
  readonly key: string;
  readonly platform: Platform;
  /** Lower case; undefined when a class is wanted. */
  readonly model: string | undefined;
  /** The model as the first who asked for it wrote it, for messages. */
  readonly modelText: string | undefined;
  readonly class: DeviceClass | undefined;
  readonly os: OsRequirement | undefined;
  readonly imageTag: string | undefined;
  readonly physical: boolean | undefined;
  readonly noWait: boolean;
}

const known = new WeakMap<LeaseRequestInput, Requirement>();

/** What an input asks for, read once. Throws `BAD_REQUEST` when the OS range is malformed. */
export function requirementOf(input: LeaseRequestInput): Requirement {
  const before = known.get(input);
  if (before !== undefined) return before;
  const requirement = readRequirement(input);
  known.set(input, requirement);
  return requirement;
}

function readRequirement(input: LeaseRequestInput): Requirement {
  const model = input.model?.toLowerCase();
  const deviceClass = model === undefined ? (input.class ?? "phone") : undefined;
  const parts = [
    input.platform,
    model ?? "",
    deviceClass ?? "",
    input.osVersion ?? "",
    input.imageTag ?? "",
    String(input.physical ?? ""),
    input.noWait === true ? "no-wait" : "",
  ];
  return {
    key: JSON.stringify(parts),
    platform: input.platform,
    model,
    modelText: input.model,
    class: deviceClass,
    os: input.osVersion === undefined ? undefined : parseOsRequirement(input.osVersion),
    imageTag: input.imageTag,
    physical: input.physical,
    noWait: input.noWait === true,
  };
}

/** The part of a device that decides whom it can serve. */
export type Shape = Pick<Device, "kind" | "spec" | "class" | "physical" | "shared">;

export function shapeKey(shape: Shape): string {
  const { spec } = shape;
  return JSON.stringify([shape.kind, spec.model, spec.osVersion, spec.imageTag ?? "", shape.class ?? "", shape.shared]);
}

/** Other names of a model, lower case. */
export type Aliases = ReadonlyMap<string, ReadonlySet<string>>;

export function aliasesOf(catalogs: Iterable<PlatformCatalog>): Aliases {
  const all = new Map<string, Set<string>>();
  for (const catalog of catalogs) {
    for (const [model, names] of Object.entries(catalog.modelAliases)) {
      const key = model.toLowerCase();
      const known = all.get(key) ?? new Set();
      for (const name of names) known.add(name.toLowerCase());
      all.set(key, known);
    }
  }
  return all;
}

/** Whether a device of this shape is what the request accepts. */
export function fits(requirement: Requirement, shape: Shape, aliases: Aliases): boolean {
  if (shape.spec.platform !== requirement.platform) return false;
  const sameModel = requirement.model !== undefined && namesModel(requirement.model, shape.spec.model, aliases);
  if (requirement.physical !== undefined && requirement.physical !== shape.physical) return false;
  // An attached device is somebody's phone: unless it was shared it serves only those who ask for one, or for just this model.
  if (shape.physical && requirement.physical !== true && !shape.shared && !sameModel) return false;
  if (requirement.model !== undefined ? !sameModel : (shape.class ?? "phone") !== requirement.class) return false;
  if (requirement.os !== undefined && !acceptsOs(requirement.os, shape.spec.osVersion)) return false;
  // Attached devices have no image: a tag asks for an emulator.
  return requirement.imageTag === shape.spec.imageTag;
}

function namesModel(wanted: string, model: string, aliases: Aliases): boolean {
  const name = model.toLowerCase();
  return wanted === name || aliases.get(name)?.has(wanted) === true;
}

export type Resolution =
  | { readonly kind: "make"; readonly spec: DeviceSpec; readonly class: DeviceClass | undefined }
  | { readonly kind: "unknown-model" }
  | { readonly kind: "runtime-missing"; readonly model: string }
  | { readonly kind: "not-made" };

/** The device to make for a request: the model it names or its class's default, on the newest OS that pairs with it and is accepted. */
export function resolve(requirement: Requirement, catalog: PlatformCatalog, aliases: Aliases): Resolution {
  if (requirement.physical === true) return { kind: "not-made" };
  const candidates = modelsFor(requirement, catalog, aliases);
  const [first] = candidates;
  if (first === undefined) return { kind: "unknown-model" };
  for (const model of candidates) {
    const osVersion = (catalog.modelRuntimes[model] ?? []).find(
      (version) => requirement.os === undefined || acceptsOs(requirement.os, version),
    );
    if (osVersion === undefined) continue;
    const tag = requirement.imageTag === undefined ? {} : { imageTag: requirement.imageTag };
    return {
      kind: "make",
      spec: { platform: requirement.platform, model, osVersion, ...tag },
      class: catalog.modelClasses[model],
    };
  }
  return { kind: "runtime-missing", model: first };
}

function modelsFor(requirement: Requirement, catalog: PlatformCatalog, aliases: Aliases): readonly string[] {
  const { model, class: wanted } = requirement;
  if (model !== undefined) return catalog.models.filter((name) => namesModel(model, name, aliases));
  const preferred = wanted === undefined ? undefined : catalog.classDefaults[wanted];
  // The default of the class first; where the OS that is asked for does not pair with it, another model of the class does.
  const others = catalog.models.filter((name) => catalog.modelClasses[name] === wanted && name !== preferred);
  return preferred === undefined ? others : [preferred, ...others];
}
