import type { z } from "zod";

/** A rule between the fields of one object: as JSON Schema for the published file, and as a check. Side by side, so that they say the same. */
export interface Rule<T> {
  readonly says: Readonly<Record<string, unknown>>;
  /** The field at fault, if it is one, and what is wrong; undefined when the rule holds. */
  readonly check: (value: T) => { readonly field?: string; readonly message: string } | undefined;
}

/** The schema with its rules; `keywords` are JSON Schema's own that need no check beside the schema's. */
export function ruled<T extends z.ZodType>(
  schema: T,
  rules: readonly Rule<z.output<T>>[],
  keywords: Readonly<Record<string, unknown>> = {},
): T {
  const checked = schema.superRefine((value, context) => {
    for (const { check } of rules) {
      const found = check(value);
      if (found !== undefined) {
        context.addIssue({
          code: "custom",
          message: found.message,
          path: found.field === undefined ? [] : [found.field],
        });
      }
    }
  });
  const [first] = rules;
  const said =
    first === undefined ? {} : rules.length === 1 ? first.says : { allOf: rules.map(({ says }) => ({ ...says })) };
  return checked.meta({ ...said, ...keywords });
}

/** At least one field. */
export function someField(what: string): Rule<object> {
  return {
    says: { minProperties: 1 },
    check: (value) =>
      Object.keys(value).length === 0 ? { message: `${what} must have at least one field` } : undefined,
  };
}

/** A schema for every field of a type, so that a field which is added to the type is missed here by the compiler. */
export type ShapeOf<T> = { readonly [Field in keyof T]-?: z.ZodType };

/** An object that has these fields, whatever is in them. */
export function having(...fields: readonly string[]): Readonly<Record<string, unknown>> {
  return { type: "object", properties: Object.fromEntries(fields.map((field) => [field, true])), required: fields };
}

/** JSON Schema's `if` and `then`, for an object. */
export function when(condition: object, consequence: object): Readonly<Record<string, unknown>> {
  // oxlint-disable-next-line unicorn/no-thenable -- the keyword is JSON Schema's
  return { if: { type: "object", ...condition }, then: { type: "object", ...consequence } };
}
