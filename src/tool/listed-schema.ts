import { z } from "zod";
import type { Tool } from "./tool.ts";

type Schema = Readonly<Record<string, unknown>>;
type Side = "input" | "output";

export interface ListedSchemas {
  readonly inputSchema: Schema & { readonly type: "object" };
  readonly outputSchema: Schema & { readonly type: "object" };
}

/** Both schemas of a tool as clients are sent them. Each client's model reads all of them, so they say nothing twice and nothing that goes without saying. */
export function listedSchemas({ input, output }: Pick<Tool, "input" | "output">): ListedSchemas {
  return { inputSchema: listedSchema(input, "input"), outputSchema: listedSchema(output, "output") };
}

/** One of the two. */
export function listedSchema(schema: z.ZodObject, io: Side): ListedSchemas["inputSchema"] {
  // An object's schema has its type at the root.
  return { ...terse(z.toJSONSchema(schema, { io, unrepresentable: "any" }), io), type: "object" };
}

/**
 * The same schema in fewer words: what it takes is what it took before. Of an output the closing of objects is left out too: answers gain fields,
 * and a client that holds an answer against a schema that it kept should not refuse it for one.
 */
export function terse(schema: Schema, side: Side): Schema {
  const kept = Object.entries(schema).filter(([key, value]) => !isNoise(key, value, side));
  return merged(Object.fromEntries(kept.map(([key, value]) => [key, inner(key, value, side)])));
}

/** Without it MCP takes a schema for one of 2020-12. Integers beyond these bounds are not exact, and keys are text anyway. */
function isNoise(key: string, value: unknown, side: Side): boolean {
  if (key === "$schema") return true;
  if (key === "minimum" || key === "maximum") return Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER;
  if (key === "propertyNames") return isSchema(value) && Object.keys(value).join() === "type";
  if (key === "additionalProperties" && value === false) return side === "output";
  return (key === "additionalProperties" || key === "items") && isSchema(value) && Object.keys(value).length === 0;
}

function inner(key: string, value: unknown, side: Side): unknown {
  const within = (part: unknown) => (isSchema(part) ? terse(part, side) : part);
  if (key === "properties" || key === "dependentSchemas") {
    return isSchema(value)
      ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, within(part)]))
      : value;
  }
  if (key === "anyOf" || key === "oneOf") return Array.isArray(value) ? value.map(within) : value;
  return key === "items" || key === "additionalProperties" ? within(value) : value;
}

/** Forms within forms stand beside each other, each once; "or null" is a type of the first form that can take it. */
function merged(schema: Schema): Schema {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const flat = anyOf.flatMap((form: Schema) => (onlyForms(form) ? (form["anyOf"] as Schema[]) : [form]));
  const split = flat.map(withoutNull);
  const forms = distinct(split.flatMap(({ form }) => (form === undefined ? [] : [form])));
  const taker = split.some(({ nullable }) => nullable) ? forms.findIndex(mayBeTyped) : undefined;
  const all = forms.map((form, at) => (at === taker ? { ...form, type: [form["type"], "null"].flat() } : form));
  if (taker === -1) all.push({ type: "null" });
  const [only, ...others] = all;
  const alone = only !== undefined && others.length === 0 && Object.keys(only).every((key) => !(key in rest));
  return alone ? { ...only, ...rest } : { anyOf: all, ...rest };
}

function withoutNull(form: Schema): { readonly form?: Schema; readonly nullable: boolean } {
  if (form["type"] === "null") return { nullable: true };
  const types = form["type"];
  if (!Array.isArray(types) || !types.includes("null") || !mayBeTyped(form)) return { form, nullable: false };
  const [only, ...others] = types.filter((type) => type !== "null");
  return { form: { ...form, type: others.length === 0 ? only : [only, ...others] }, nullable: true };
}

/** What else such a form asks for would have to take null too. */
const ASKS_MORE = ["enum", "const", "anyOf", "oneOf", "allOf", "not", "$ref"];
const mayBeTyped = (form: Schema): boolean => "type" in form && !ASKS_MORE.some((key) => key in form);
const distinct = (forms: readonly Schema[]): Schema[] => [
  ...new Map(forms.map((form) => [JSON.stringify(form), form])).values(),
];
const onlyForms = (form: Schema): boolean => Object.keys(form).join() === "anyOf";
const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
