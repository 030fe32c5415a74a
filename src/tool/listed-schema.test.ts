import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { listedSchemas, terse } from "./listed-schema.ts";

const listed = (type: z.ZodType) => {
  const of = z.strictObject({ a: type });
  const { inputSchema, outputSchema } = listedSchemas({ input: of, output: of });
  const a = ({ properties }: typeof inputSchema) => (properties as Record<string, unknown>)["a"];
  return { input: a(inputSchema), output: a(outputSchema) };
};

test("what goes without saying is left out", () => {
  expect(listed(z.int().min(1)).input).toEqual({ type: "integer", minimum: 1 });
  expect(listed(z.record(z.string(), z.unknown())).input).toEqual({ type: "object" });
  expect(listed(z.array(z.string()).nullable()).input).toEqual({ type: ["array", "null"], items: { type: "string" } });
  expect(listed(z.enum(["a", "b"]).nullable()).input).toEqual({
    anyOf: [{ type: "string", enum: ["a", "b"] }, { type: "null" }],
  });
  expect(listedSchemas({ input: z.strictObject({}), output: z.object({}) }).inputSchema).not.toHaveProperty("$schema");
});

test("inputs stay closed to what they do not name; answers are left open to fields to come", () => {
  const { input, output } = listed(z.strictObject({ b: z.string() }));
  expect(input).toMatchObject({ additionalProperties: false });
  expect(output).not.toHaveProperty("additionalProperties");
});

test("a form that is there twice, or once with null and once without, is said once", () => {
  const item = z.object({ id: z.string() });
  expect(
    listed(z.union([z.array(item).nullable(), z.array(item), z.union([z.array(item), z.string()])])).output,
  ).toEqual({
    anyOf: [
      { type: ["array", "null"], items: { type: "object", properties: { id: { type: "string" } }, required: ["id"] } },
      { type: "string" },
    ],
  });
});

/** Numbers that are exact: what lies beyond is no more said of integers. */
const value = fc.anything({ maxDepth: 2, values: [fc.integer(), fc.string(), fc.boolean(), fc.constant(null)] });
const { schema } = fc.letrec<{ schema: Record<string, unknown> }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<Record<string, unknown>>(
      { type: "null" },
      { type: "string", minLength: 1 },
      { type: ["string", "null"] },
      { type: "integer", minimum: -Number.MAX_SAFE_INTEGER, maximum: 3 },
      { const: 1, type: "number" },
      { type: "string", enum: ["a", "b"] },
      {},
    ),
    fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    fc.record({
      anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
      type: fc.constantFrom("string", "object"),
    }),
    tie("schema").map((items) => ({ type: "array", items })),
    fc.record({
      type: fc.constant("object"),
      properties: fc.dictionary(fc.constantFrom("a", "b", "items"), tie("schema"), { maxKeys: 2 }),
      additionalProperties: fc.constantFrom({}, false),
      propertyNames: fc.constant({ type: "string" }),
    }),
  ),
}));

test("in fewer words an input's schema takes exactly what it took", () => {
  const ajv = new Ajv2020({ strict: false });
  const candidate = fc.oneof(
    value,
    fc.dictionary(fc.constantFrom("a", "b", "c"), value),
    fc.constantFrom(null, "", "a", 1),
  );
  fc.assert(
    fc.property(schema, fc.array(candidate, { minLength: 5, maxLength: 12 }), (given, candidates) => {
      const [before, after] = [ajv.compile(given), ajv.compile(terse(given, "input"))];
      for (const one of candidates) expect(after(one)).toBe(before(one));
    }),
    { numRuns: 200 },
  );
});
