import type { z } from "zod";

/** A schema as the SDK takes it: it validates, and shows itself as JSON Schema. */
type Listable = Pick<z.ZodObject, "~standard">;
type Standard = Listable["~standard"];

const listed = new WeakMap<Listable, Listable>();
const shown = new WeakMap<Listable, Listable>();

/**
 * The same schema, which turns itself into JSON Schema once. The SDK asks for it at every `tools/list`, and for five tools that costs more
 * than all the rest of the answer.
 */
export function listedOnce(schema: Listable): Listable {
  return kept(listed, schema, (standard) => standard.validate);
}

/** The same for the list alone: anything passes, for somebody else judges it. */
export function shownOnly(schema: Listable): Listable {
  return kept(shown, schema, () => (value) => ({ value: value as Record<string, unknown> }));
}

function kept(
  made: WeakMap<Listable, Listable>,
  schema: Listable,
  validateOf: (standard: Standard) => Standard["validate"],
): Listable {
  const known = made.get(schema);
  if (known !== undefined) return known;
  const standard = schema["~standard"];
  const { input, output } = standard.jsonSchema;
  const wrapped: Listable = {
    "~standard": {
      ...standard,
      validate: validateOf(standard),
      jsonSchema: { input: once(input), output: once(output) },
    },
  };
  made.set(schema, wrapped);
  return wrapped;
}

type Convert = Standard["jsonSchema"]["input"];

function once(convert: Convert): Convert {
  const made = new Map<string, ReturnType<Convert>>();
  return (options) => {
    const known = made.get(options.target);
    if (known !== undefined) return known;
    const schema = convert(options);
    made.set(options.target, schema);
    return schema;
  };
}
