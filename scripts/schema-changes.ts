/** What differs between two JSON Schemas, seen from the values that they take. Pure; what it does not know counts as not comparable. */

export type Schema = Readonly<Record<string, unknown>>;

/**
 * - `narrower`, `wider`: takes fewer values than before, or more.
 * - `gone`, `grown`: a field, a listed value or a form that was there is no more, or is new.
 * - `other`: can't be compared.
 * - `wording`: only what is told of it.
 */
export type Kind = "narrower" | "wider" | "gone" | "grown" | "other" | "wording";

export interface Difference {
  readonly kind: Kind;
  readonly where: string;
  readonly what: string;
}

const WORDING = ["title", "description", "deprecated", "examples", "$comment"];
/** A higher lower bound takes less; so does a lower upper bound. */
const LOWER = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
const UPPER = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
/** Where such a condition stands, less is taken than where it does not; two of them can't be compared. */
const CONDITIONS = ["pattern", "format", "multipleOf", "uniqueItems", "propertyNames", "not"];
/** Each is looked at by a function of its own. */
const APART = new Set(["properties", "required", "type", "enum", "const", "items", "additionalProperties"]);

export function schemaDifferences(before: Schema, after: Schema, where = ""): Difference[] {
  if (same(before, after)) return [];
  const [old, now] = [formsOf(before), formsOf(after)];
  if (old.length > 1 || now.length > 1)
    return [...wordingOf(before, after, where), ...formDifferences(old, now, where)];
  return [
    ...wordingOf(before, after, where),
    ...typeDifferences(before, after, where),
    ...valueDifferences(before, after, where),
    ...fieldDifferences(before, after, where),
    ...partDifferences(before["items"] ?? {}, after["items"] ?? {}, `${where}[]`),
    ...partDifferences(before["additionalProperties"] ?? {}, after["additionalProperties"] ?? {}, `${where}.*`),
    ...keywordsOf(before, after).flatMap((key) => keywordDifference(key, before[key], after[key], where)),
  ];
}

function wordingOf(before: Schema, after: Schema, where: string): Difference[] {
  return WORDING.filter((key) => !same(before[key], after[key])).map((key): Difference => {
    const what = `${key} is worded anew`;
    return deprecates(before[key], after[key])
      ? { kind: "grown", where, what: "is deprecated" }
      : { kind: "wording", where, what };
  });
}

/** Something is announced to go: `deprecated: true`, or a description that begins with the word. */
export function deprecates(before: unknown, after: unknown): boolean {
  const says = (word: unknown) => word === true || String(word).startsWith("Deprecated:");
  return says(after) && !says(before);
}

/** A schema that is nothing but a choice of forms is those forms; any other is the one form of itself. */
function formsOf(schema: Schema): readonly Schema[] {
  const keys = Object.keys(schema).filter((key) => !WORDING.includes(key));
  return keys.join() === "anyOf" ? (schema["anyOf"] as Schema[]) : [schema];
}

/** Forms that stayed are matched first; of the rest each old one with the new one that is nearest to it. */
function formDifferences(before: readonly Schema[], after: readonly Schema[], where: string): Difference[] {
  const old = before.filter((form) => !after.some((other) => same(form, other)));
  const fresh = after.filter((form) => !before.some((other) => same(form, other)));
  const found: Difference[] = [];
  for (const form of old) {
    const compared = fresh.map((other) => schemaDifferences(form, other, where));
    const nearest = compared.toSorted((a, b) => a.length - b.length)[0];
    if (nearest === undefined) {
      found.push({ kind: "gone", where, what: "a form is no more" });
      continue;
    }
    found.push(...nearest);
    fresh.splice(compared.indexOf(nearest), 1);
  }
  return [...found, ...fresh.map((): Difference => ({ kind: "grown", where, what: "a form is new" }))];
}

const ALL_TYPES = ["null", "boolean", "object", "array", "string", "number", "integer"];

function typesOf({ type }: Schema): readonly string[] {
  const types = type === undefined ? ALL_TYPES : ([type].flat() as string[]);
  return types.includes("number") ? [...types, "integer"] : types;
}

function typeDifferences(before: Schema, after: Schema, where: string): Difference[] {
  const [old, now] = [typesOf(before), typesOf(after)];
  return [
    ...listed(
      "narrower",
      where,
      "no longer takes",
      old.filter((type) => !now.includes(type)),
    ),
    ...listed(
      "wider",
      where,
      "also takes",
      now.filter((type) => !old.includes(type)),
    ),
  ];
}

function valuesOf(schema: Schema): readonly string[] | undefined {
  const values = "const" in schema ? [schema["const"]] : (schema["enum"] as unknown[] | undefined);
  return values?.map((value) => JSON.stringify(value));
}

function valueDifferences(before: Schema, after: Schema, where: string): Difference[] {
  const [old, now] = [valuesOf(before), valuesOf(after)];
  if (old === undefined && now === undefined) return [];
  if (old === undefined) return [{ kind: "narrower", where, what: "takes listed values only" }];
  if (now === undefined) return [{ kind: "wider", where, what: "takes more than the values that were listed" }];
  return [
    ...listed(
      "gone",
      where,
      "no longer has the value",
      old.filter((value) => !now.includes(value)),
    ),
    ...listed(
      "grown",
      where,
      "has the new value",
      now.filter((value) => !old.includes(value)),
    ),
  ];
}

function fieldDifferences(before: Schema, after: Schema, where: string): Difference[] {
  const [old, now] = [partsOf(before["properties"]), partsOf(after["properties"])];
  const [needed, needs] = [(before["required"] ?? []) as string[], (after["required"] ?? []) as string[]];
  const kept = Object.keys(old).filter((field) => field in now);
  const fresh = Object.keys(now).filter((field) => !(field in old));
  // Where any field was taken before, a new one is taken no more in every form.
  const bound = before["additionalProperties"] === false ? [] : fresh.filter((field) => !same(now[field], {}));
  const gone = Object.keys(old).filter((field) => !(field in now));
  return [
    ...listed("gone", where, "no longer has the field", gone),
    ...listed("grown", where, "has the new field", fresh),
    ...listed("narrower", where, "was open to any form of", bound),
    ...listed(
      "narrower",
      where,
      "now requires",
      needs.filter((field) => !needed.includes(field)),
    ),
    ...listed(
      "wider",
      where,
      "no longer requires",
      needed.filter((field) => !needs.includes(field)),
    ),
    ...kept.flatMap((field) => schemaDifferences(old[field] ?? {}, now[field] ?? {}, `${where}.${field}`)),
  ];
}

/** A part that is a schema, or false where nothing may stand. */
function partDifferences(before: unknown, after: unknown, where: string): Difference[] {
  if (same(before, after)) return [];
  if (before === false) return [{ kind: "wider", where, what: "is open now" }];
  if (after === false) return [{ kind: "narrower", where, what: "is closed now" }];
  return schemaDifferences(schemaOf(before), schemaOf(after), where);
}

function keywordsOf(before: Schema, after: Schema): string[] {
  const all = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return all.filter((key) => !WORDING.includes(key) && !APART.has(key));
}

function keywordDifference(key: string, before: unknown, after: unknown, where: string): Difference[] {
  if (same(before, after)) return [];
  const at = (kind: Kind): Difference[] => [
    {
      kind,
      where,
      what: `${key} was ${JSON.stringify(before) ?? "not there"} and is ${JSON.stringify(after) ?? "not there"}`,
    },
  ];
  if (![...LOWER, ...UPPER, ...CONDITIONS, "anyOf"].includes(key)) return at("other");
  if (before === undefined) return at("narrower");
  if (after === undefined) return at("wider");
  if (key === "anyOf") return formDifferences(before as Schema[], after as Schema[], where);
  if (CONDITIONS.includes(key)) return at("other");
  return at(Number(after) > Number(before) === LOWER.includes(key) ? "narrower" : "wider");
}

function listed(kind: Kind, where: string, what: string, names: readonly string[]): Difference[] {
  return names.map((name) => ({ kind, where, what: `${what} ${name}` }));
}

const partsOf = (value: unknown) => (value ?? {}) as Readonly<Record<string, Schema>>;
const schemaOf = (value: unknown): Schema => (typeof value === "object" && value !== null ? (value as Schema) : {});
/** Both come from JSON whose keys stand in the order of the same source. */
const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
