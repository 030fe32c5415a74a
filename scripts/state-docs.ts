/** The published schemas of state documents, and the tables of the reference that are made of them. */
import { jsonSchemaOf, SCHEMAS } from "../src/state/index.ts";

/** What a JSON schema says of one value, as far as these use it. */
interface Shape {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly propertyNames?: Shape;
  readonly $ref?: string;
}

type Table = (headings: readonly string[], rows: readonly (readonly string[])[]) => string;

/** Path from the root of the repository, and its text before the formatter. */
export function schemaFiles(): readonly (readonly [string, string])[] {
  return SCHEMAS.map((published) => [
    `schemas/${published.name}.schema.json`,
    JSON.stringify(jsonSchemaOf(published), undefined, 2),
  ]);
}

/** A generated block for each schema: `schema NAME`. */
export function stateTables(table: Table): Readonly<Record<string, () => string>> {
  const blocks = SCHEMAS.map((published) => [
    `schema ${published.name}`,
    () =>
      table(
        ["field", "value", "default", "constraint", "meaning"],
        // The library's answer is plain JSON Schema; this names the part of it that we print.
        rowsOf(jsonSchemaOf(published) as Shape, ""),
      ),
  ]);
  return Object.fromEntries(blocks);
}

const code = (text: string): string => `\`${text}\``;

function rowsOf(shape: Shape, path: string): string[][] {
  return Object.entries(shape.properties ?? {}).flatMap(([name, field]) => {
    const at = path === "" ? name : `${path}.${name}`;
    const required = shape.required?.includes(name) === true;
    const row = [
      code(at),
      typeOf(field),
      field.default === undefined ? (required ? "required" : "–") : code(JSON.stringify(field.default)),
      constraintOf(field),
      field.description ?? "",
    ];
    const isWholePlan = name === "plan" && field.properties !== undefined;
    if (isWholePlan) return [[...row.slice(0, 4), "The plan that was carried out; its fields are above."]];
    const within = field.properties === undefined ? field.items : field;
    if (within?.properties === undefined) return [row];
    return [row, ...rowsOf(within, field.properties === undefined ? `${at}[]` : at)];
  });
}

function typeOf(shape: Shape): string {
  if (shape.$ref !== undefined) return "any JSON";
  if (shape.const !== undefined) return code(JSON.stringify(shape.const));
  if (shape.enum !== undefined) return shape.enum.map((value) => code(String(value))).join(", ");
  if (shape.anyOf !== undefined) return shape.anyOf.map(typeOf).join(" or ");
  if (shape.type === "array") return `list of ${shape.items === undefined ? "values" : `(${typeOf(shape.items)})`}`;
  if (shape.type === "integer") return "whole number";
  if (shape.type === "object" && shape.propertyNames !== undefined && shape.properties === undefined)
    return "object of texts";
  return shape.type === "string" ? "text" : (shape.type ?? "any JSON");
}

const SAFE = Number.MAX_SAFE_INTEGER;

function constraintOf(shape: Shape): string {
  const says: string[] = [];
  const { minimum, maximum } = shape;
  if (minimum !== undefined && minimum !== -SAFE) says.push(`at least ${minimum}`);
  if (shape.exclusiveMinimum !== undefined) says.push(`more than ${shape.exclusiveMinimum}`);
  if (maximum !== undefined && maximum !== SAFE) says.push(`at most ${maximum}`);
  if (shape.minLength !== undefined) says.push("not empty");
  if (shape.maxLength !== undefined) says.push(`at most ${shape.maxLength} characters`);
  if (shape.minItems !== undefined) says.push(`at least ${shape.minItems}`);
  if (shape.maxItems !== undefined) says.push(`at most ${shape.maxItems}`);
  if (shape.minProperties !== undefined) {
    says.push(shape.maxProperties === 1 ? "exactly one field" : "at least one field");
  }
  // Every text is without NUL; what is more than that is worth a word.
  if (shape.pattern !== undefined && shape.pattern !== "^[^\\u0000]*$") says.push(code(shape.pattern));
  return says.join("; ") || "–";
}
