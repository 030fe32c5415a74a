import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { schemaDifferences, type Kind, type Schema } from "../../scripts/schema-changes.ts";
import {
  bumpOf,
  changesBetween,
  isAtLeast,
  versionAfter,
  versionProblem,
  type Surface,
  type ToolSurface,
} from "../../scripts/tool-changes.ts";
import { isReleased, packageVersion, snapshotSurface } from "../../scripts/tool-contract.ts";
import { currentSurface } from "../../scripts/tool-surface.ts";

/** The rules of docs/tool-contract.md, and the tools held against them. */

const surface = currentSurface("1.4.2");

/** The surface with one of its tools changed. */
function withTool(name: string, edit: (tool: ToolSurface) => Partial<ToolSurface>): Surface {
  return { ...surface, tools: surface.tools.map((tool) => (tool.name === name ? { ...tool, ...edit(tool) } : tool)) };
}
const bumpTo = (after: Surface) => bumpOf(changesBetween(surface, after));
const bumpFrom = (before: Surface) => bumpOf(changesBetween(before, surface));

const input = (name: string, edit: (schema: Schema) => Schema) =>
  withTool(name, ({ inputSchema }) => ({ inputSchema: edit(inputSchema) }));
const output = (name: string, edit: (schema: Schema) => Schema) =>
  withTool(name, ({ outputSchema }) => ({ outputSchema: edit(outputSchema) }));
const withField = (field: string, type: Schema | undefined) => (schema: Schema) => {
  const { [field]: _old, ...others } = schema["properties"] as Record<string, Schema>;
  return { ...schema, properties: type === undefined ? others : { ...others, [field]: type } };
};
const operation = (tool: string, name: string, facts: object) =>
  withTool(tool, ({ operations }) => {
    const known = operations[name];
    if (known === undefined) throw new Error(`${tool} has no operation ${name}`);
    return { operations: { ...operations, [name]: { ...known, ...facts } } };
  });
const branches = (tool: string, edit: (branch: Schema) => Schema) =>
  input(tool, (schema) => {
    const { operation: of } = schema["dependentSchemas"] as { operation: { oneOf: Schema[] } };
    return { ...schema, dependentSchemas: { operation: { oneOf: of.oneOf.map(edit) } } };
  });

test("the tools changed by no more since the last release than the version says", () => {
  expect(versionProblem(snapshotSurface(), currentSurface(""), packageVersion()) ?? "").toBe("");
});

test("nothing changed when nothing did, and only words when only words did", () => {
  expect(changesBetween(surface, surface)).toEqual([]);
  const words = JSON.stringify(surface).replaceAll(/"(title|description)":"[^"\\]*"/g, '"$1":"In other words."');
  expect(bumpTo(JSON.parse(words) as Surface)).toBe("patch");
});

test("a tool, an operation or a code that goes is major, one that comes is minor", () => {
  for (const { name, by, operations } of surface.tools) {
    const without = { ...surface, tools: surface.tools.filter((tool) => tool.name !== name) };
    expect([name, bumpTo(without), bumpFrom(without)]).toEqual([name, "major", "minor"]);
    if (by === undefined) continue;
    for (const one of Object.keys(operations)) {
      const fewer = withTool(name, (tool) => {
        const { [one]: _gone, ...others } = tool.operations;
        return { operations: others };
      });
      expect([one, bumpTo(fewer), bumpFrom(fewer)]).toEqual([one, "major", "minor"]);
    }
  }
  const fewerCodes = { ...surface, codes: surface.codes.slice(1) };
  expect([bumpTo(fewerCodes), bumpFrom(fewerCodes)]).toEqual(["major", "minor"]);
});

describe("one change each", () => {
  const CASES: readonly (readonly [string, Surface, to: string, back: string])[] = [
    ["an optional input", input("get_device", withField("detail", { type: "boolean" })), "minor", "major"],
    [
      "an input that is required",
      input("get_device", (schema) => ({
        ...withField("detail", { type: "boolean" })(schema),
        required: ["deviceId", "detail"],
      })),
      "major",
      "major",
    ],
    ["a new value of an input", input("list_devices", withField("type", { type: "string" })), "minor", "major"],
    [
      "a lower bound that rises",
      input("list_tasks", withField("page", { type: "integer", minimum: 2 })),
      "major",
      "major",
    ],
    ["another output field", output("get_device", withField("colour", { type: "string" })), "minor", "major"],
    [
      "an output that may be null",
      output("get_device", withField("id", { type: ["string", "null"] })),
      "major",
      "minor",
    ],
    [
      "an output that is now always there",
      output("get_device", (schema) => ({ ...schema, required: ["id"] })),
      "minor",
      "major",
    ],
    [
      "a keyword that nobody knows",
      input("get_device", (schema) => ({ ...schema, unevaluatedProperties: false })),
      "major",
      "major",
    ],
    [
      "an operation that can't do without one more field",
      branches("manage_device", (branch) => ({
        ...branch,
        required: [...((branch["required"] ?? []) as string[]), "name"],
      })),
      "major",
      "minor",
    ],
    [
      "an operation that takes one more field",
      branches("manage_device", (branch) => ({
        ...branch,
        properties: { ...(branch["properties"] as object), note: {} },
      })),
      "minor",
      "major",
    ],
    [
      "an effect that takes an operation out of a profile",
      operation("device_action", "tap", { effects: ["write", "destructive"], profiles: ["no-commerce", "full"] }),
      "major",
      "major",
    ],
    ["an operation that costs", operation("connect", "cancel_proxy", { marks: ["billed"] }), "minor", "minor"],
    [
      "a tool that will go",
      withTool("get_device", () => ({ description: "Deprecated: since 1.5.0." })),
      "minor",
      "patch",
    ],
    [
      "a field that will go",
      output("get_device", withField("id", { type: "string", deprecated: true })),
      "minor",
      "patch",
    ],
    ["a hint", withTool("get_device", () => ({ annotations: { readOnlyHint: false } })), "minor", "minor"],
  ];
  test.each(CASES)("%s", (_, changed, to, back) => {
    expect([bumpTo(changed), bumpFrom(changed)]).toEqual([to, back]);
  });
});

test("how operations share branches is nobody's business", () => {
  const apart = input("manage_device", (schema) => {
    const { operation: of } = schema["dependentSchemas"] as { operation: { oneOf: Schema[] } };
    const oneOf = of.oneOf.flatMap((branch) => {
      const { operation: choice, ...fields } = branch["properties"] as Record<string, { enum?: string[] }>;
      return (choice?.enum ?? [undefined]).map((name) => ({
        ...branch,
        properties: { operation: name === undefined ? choice : { const: name }, ...fields },
      }));
    });
    expect(oneOf.length).toBeGreaterThan(of.oneOf.length);
    return { ...schema, dependentSchemas: { operation: { oneOf } } };
  });
  expect(changesBetween(surface, apart)).toEqual([]);
});

const part = fc.constantFrom<Schema>(
  {},
  { type: "string" },
  { type: ["string", "null"], minLength: 2 },
  { type: "string", enum: ["a", "bb"] },
  { const: 1 },
  { type: "integer", minimum: 1 },
  { type: "integer", minimum: 2 },
  { type: "number", maximum: 1 },
  { type: "number", maximum: 0 },
);
const { schema } = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small" },
    part,
    tie("schema").map((items) => ({ type: "array", items })),
    fc.array(tie("schema"), { minLength: 1, maxLength: 2 }).map((anyOf) => ({ anyOf })),
    fc.record(
      {
        type: fc.constant("object"),
        properties: fc.dictionary(fc.constantFrom("a", "b"), tie("schema")),
        required: fc.constantFrom(["a"], ["b"], ["a", "b"]),
        additionalProperties: fc.oneof(fc.constant(false), part),
      },
      { requiredKeys: ["type"] },
    ),
  ),
}));
/** Two that differ in one place. */
const near = fc
  .tuple(
    part,
    part,
    fc.constantFrom<(x: Schema, y: Schema) => [Schema, Schema]>(
      (x, y) => [x, y],
      (x, y) => [x, { anyOf: [x, y] }],
      (x, y) => [
        { type: "array", items: x },
        { type: "array", items: y },
      ],
      (x, y) => [
        { type: "object", properties: { a: x } },
        { type: "object", properties: { a: x, b: y } },
      ],
      (x, y) => [
        { type: "object", properties: { a: x }, additionalProperties: y },
        { type: "object", properties: { a: y }, additionalProperties: y },
      ],
    ),
    fc.boolean(),
  )
  .map(([x, y, of, turned]) => (turned ? of(x, y).toReversed() : of(x, y)) as [Schema, Schema]);
const leaf = fc.constantFrom<unknown>(null, "", "a", "bb", "ccc", 0, 1, 2, 0.5, true);
const sample = fc.oneof(
  leaf,
  fc.array(leaf, { maxLength: 2 }),
  fc.dictionary(fc.constantFrom("a", "b", "c"), fc.oneof(leaf, fc.array(leaf, { maxLength: 1 })), { maxKeys: 3 }),
);

test("a value that is taken no more, or that is new, is never passed over", () => {
  const ajv = new Ajv2020({ strict: false });
  const values = fc.array(sample, { minLength: 20, maxLength: 20 });
  let told = 0;
  fc.assert(
    fc.property(fc.oneof(near, fc.tuple(schema, schema)), values, ([before, after], candidates) => {
      const kinds = new Set<Kind>(schemaDifferences(before, after).map(({ kind }) => kind));
      const [old, now] = [ajv.compile(before), ajv.compile(after)];
      const any = (...some: readonly Kind[]) => some.some((kind) => kinds.has(kind));
      for (const value of candidates) {
        if (old(value) === now(value)) continue;
        told += 1;
        expect(old(value) ? any("narrower", "gone", "other") : any("wider", "grown", "gone", "other")).toBe(true);
      }
    }),
    { numRuns: 300 },
  );
  expect(told).toBeGreaterThan(200);
});

test("versions: before 1.0.0 what is major asks for the second number, all else for the third", () => {
  expect((["major", "minor", "patch"] as const).map((bump) => versionAfter("1.4.2", bump))).toEqual([
    "2.0.0",
    "1.5.0",
    "1.4.3",
  ]);
  expect((["major", "minor", "patch"] as const).map((bump) => versionAfter("0.4.2", bump))).toEqual([
    "0.5.0",
    "0.4.3",
    "0.4.3",
  ]);
  for (const [version, least, enough] of [
    ["1.10.0", "1.9.9", true],
    ["1.4.3", "1.4.3", true],
    ["1.4.2", "1.4.3", false],
    ["2.0.0", "1.99.0", true],
    ["0.9.9", "1.0.0", false],
  ] as const) {
    expect([version, isAtLeast(version, least)]).toEqual([version, enough]);
  }
});

test("a version that is too low is refused with what changed and the version that it takes", () => {
  const changed = input("get_device", withField("detail", { type: "boolean" }));
  expect(versionProblem(surface, changed, "1.4.3")).toBe(
    "The cloud tools differ from those of 1.4.2:\n" +
      "  minor: get_device: input: has the new field detail\n" +
      "This is minor: it needs version 1.5.0, and package.json says 1.4.3.",
  );
  expect(versionProblem(surface, changed, "1.5.0")).toBeUndefined();
});

test("a version is out once the changelog has a heading for it", () => {
  const changelog = "# Changelog\n\n## Unreleased\n\n## [0.2.0] - 2026-12-01\n\n## 0.1.0\n";
  expect(["0.2.0", "0.1.0", "0.3.0", "0.2"].map((version) => isReleased(version, changelog))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
