import type { DesiredState, LayerApplication, LayerSpec } from "../types.ts";
import { type Path, pointerTo } from "./problems.ts";

/** The document that a value came from; `default`: none said anything. */
export interface Source {
  readonly kind: "profile" | "layer" | "preset" | "default";
  readonly name?: string;
  readonly file?: string;
}

export interface Said {
  readonly source: Source;
  readonly spec: LayerSpec;
}

export interface ProvenanceEntry {
  /** Of the value in the composed profile. */
  readonly pointer: string;
  /** The same for people, as in a diff: `spec.applications[com.acme.demo].running`. */
  readonly path: string;
  readonly source: Source;
}

export type Provenance = readonly ProvenanceEntry[];

/** What one document says and takes back, by what identifies an entry. */
interface Index {
  readonly source: Source;
  readonly spec: LayerSpec;
  readonly applications: ReadonlyMap<string, LayerApplication>;
  readonly entries: ReadonlySet<string>;
  readonly removed: ReadonlySet<string>;
}

const DEFAULT: Source = { kind: "default" };
const idOf = (...parts: readonly string[]): string => JSON.stringify(parts);

function indexOf({ source, spec }: Said): Index {
  const { applications = [], preferences = [], privacy = [], remove = {} } = spec;
  return {
    source,
    spec,
    applications: new Map(applications.map((entry) => [entry.bundleIdentifier, entry])),
    entries: new Set([
      ...preferences.map(({ domain, key }) => idOf("preferences", domain, key)),
      ...privacy.map(({ service, bundleIdentifier }) => idOf("privacy", service, bundleIdentifier)),
      ...Object.keys(spec.statusBar ?? {}).map((key) => idOf("statusBar", key)),
      ...Object.keys(spec.localization ?? {}).map((key) => idOf("localization", key)),
    ]),
    removed: new Set([
      ...(remove.fields ?? []).map((field) => idOf(field)),
      ...(remove.applications ?? []).map((id) => idOf("applications", id)),
      ...(remove.preferences ?? []).map(({ domain, key }) => idOf("preferences", domain, key)),
      ...(remove.privacy ?? []).map(({ service, bundleIdentifier }) => idOf("privacy", service, bundleIdentifier)),
      ...(remove.statusBar ?? []).map((key) => idOf("statusBar", key)),
      ...(remove.localization ?? []).map((key) => idOf("localization", key)),
    ]),
  };
}

/** For each value of a composed state, the document that said it: the last one, unless a later one took it back. */
export function provenanceOf(state: DesiredState, documents: readonly Said[]): Provenance {
  const newest = documents.map(indexOf).toReversed();
  const found: ProvenanceEntry[] = [];
  const trace = (path: Path, shown: string, removals: readonly string[], says: (document: Index) => boolean): void => {
    found.push({
      pointer: pointerTo(["spec", ...path]),
      path: `spec.${shown}`,
      source: sourceOf(newest, removals, says),
    });
  };

  for (const [field, value] of Object.entries(state)) {
    const whole = idOf(field);
    if (field === "applications") {
      for (const [index, entry] of state.applications.entries()) {
        const id = entry.bundleIdentifier;
        for (const key of Object.keys(entry)) {
          trace([field, index, key], `applications[${id}].${key}`, [whole, idOf(field, id)], (document) =>
            saysOfApplication(document.applications.get(id), key),
          );
        }
      }
    } else if (field === "preferences") {
      for (const [index, { domain, key }] of state.preferences.entries()) {
        const id = idOf(field, domain, key);
        trace([field, index], `preferences[${domain}.${key}]`, [whole, id], (document) => document.entries.has(id));
      }
    } else if (field === "privacy") {
      for (const [index, { service, bundleIdentifier }] of (state.privacy ?? []).entries()) {
        const id = idOf(field, service, bundleIdentifier);
        trace([field, index], `privacy[${service}.${bundleIdentifier}]`, [whole, id], (document) =>
          document.entries.has(id),
        );
      }
    } else if (field === "statusBar" || field === "localization") {
      for (const key of Object.keys(Object(value))) {
        const id = idOf(field, key);
        trace([field, key], `${field}.${key}`, [whole, id], (document) => document.entries.has(id));
      }
    } else if (field !== "sensitive") {
      trace([field], field, [whole], (document) => Object.hasOwn(document.spec, field));
    }
  }
  return found;
}

/** An entry that replaces says every field of itself, those it leaves out too. */
function saysOfApplication(entry: LayerApplication | undefined, key: string): boolean {
  return entry !== undefined && (entry.merge !== "fields" || Object.hasOwn(entry, key));
}

function sourceOf(newest: readonly Index[], removals: readonly string[], says: (document: Index) => boolean): Source {
  for (const document of newest) {
    if (says(document)) return document.source;
    if (removals.some((id) => document.removed.has(id))) return DEFAULT;
  }
  return DEFAULT;
}
