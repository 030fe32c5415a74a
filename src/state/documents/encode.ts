import type { JsonValue, Profile } from "../types.ts";
import { V1 } from "./profile-schema.ts";
import { escapePlaceholders } from "./substitute.ts";

/** The documents' keys in the order in which people write them; any other comes after. */
const ORDER = ["apiVersion", "kind", "metadata", "target", "spec", "name", "description"];

/**
 * The profile as a document: every default written out, what is unset left out. `decodeProfile` gives the same profile again; in simlock/v1 a `${`
 * is therefore written `$${`.
 */
export function encodeProfile(profile: Profile): { readonly [key: string]: JsonValue } {
  const { apiVersion, kind, metadata, target, spec } = profile;
  const escaped = apiVersion === V1 ? withEscapes : (value: JsonValue) => value;
  return {
    apiVersion,
    kind,
    metadata: plain(metadata),
    target: escaped(plain(target)),
    spec: escaped(plain(spec)),
  };
}

/** `json` is indented by two; `yaml` quotes what another reader of YAML could take for something else. Both end with a line break. */
export async function encodeProfileText(profile: Profile, form: "json" | "yaml"): Promise<string> {
  const document = encodeProfile(profile);
  if (form === "json") return `${JSON.stringify(document, undefined, 2)}\n`;
  const { stringify } = await import("yaml");
  return stringify(document, {
    // A long value stays on its line, and what YAML 1.1 reads as a number of minutes or a truth value is quoted.
    lineWidth: 0,
    compat: "yaml-1.1",
    aliasDuplicateObjects: false,
    sortMapEntries: ({ key: a }, { key: b }) => rank(a) - rank(b),
  });
}

function rank(key: unknown): number {
  const at = ORDER.indexOf(String(key));
  return at === -1 ? ORDER.length : at;
}

/** Data of our own types is JSON; its readonly interfaces lack only the index signature. */
function plain(value: object): JsonValue {
  return structuredClone(value) as JsonValue;
}

function withEscapes(value: JsonValue): JsonValue {
  if (typeof value === "string") return escapePlaceholders(value);
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map(withEscapes);
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, withEscapes(entry)]));
}

function isList(value: object): value is readonly JsonValue[] {
  return Array.isArray(value);
}
