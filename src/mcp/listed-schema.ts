import type { z } from "zod";

/** A schema as the SDK takes it: it validates, and shows itself as JSON Schema. */
type Listable = Pick<z.ZodObject, "~standard">;

/**
 * The same schema, which turns itself into JSON Schema once. The SDK asks for it at every `tools/list`, and for five tools that costs more
 * than all the rest of the answer.
 */
export function listedOnce<T extends Listable>(schema: T): Listable {
  const standard = schema["~standard"];
  return {
    "~standard": {
      ...standard,
      jsonSchema: { input: once(standard.jsonSchema.input), output: once(standard.jsonSchema.output) },
    },
  };
}

type Convert = Listable["~standard"]["jsonSchema"]["input"];

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
