import type { z } from "zod";
import { listedSchema, type Tool } from "../tool/index.ts";

/** A schema as the SDK takes it: it validates, and shows itself as JSON Schema. */
type SdkSchema = Pick<z.ZodObject, "~standard">;
type Validate = SdkSchema["~standard"]["validate"];
type Schemas = WeakMap<z.ZodObject, SdkSchema>;

const JUDGED = { input: new WeakMap() as Schemas, output: new WeakMap() as Schemas };
const SHOWN = { input: new WeakMap() as Schemas, output: new WeakMap() as Schemas };

/**
 * The schemas of a tool for the SDK, which turn themselves into JSON Schema once in the process. The SDK asks for that at every `tools/list`, and for five tools
 * it costs more than all the rest of the answer.
 */
export function judgedSchemas(tool: Pick<Tool, "input" | "output">) {
  return bothOf(tool, JUDGED, (schema) => schema["~standard"].validate);
}

/** The same for the list alone: anything passes, for somebody else judges it. */
export function shownSchemas(tool: Pick<Tool, "input" | "output">) {
  return bothOf(tool, SHOWN, () => (value) => ({ value: value as Record<string, unknown> }));
}

function bothOf(
  { input, output }: Pick<Tool, "input" | "output">,
  made: typeof JUDGED,
  validateOf: (schema: z.ZodObject) => Validate,
): { readonly inputSchema: SdkSchema; readonly outputSchema: SdkSchema } {
  const kept = (schema: z.ZodObject, side: "input" | "output"): SdkSchema => {
    const known = made[side].get(schema);
    if (known !== undefined) return known;
    let listed: ReturnType<typeof listedSchema> | undefined;
    const show = () => (listed ??= listedSchema(schema, side));
    const jsonSchema = { input: show, output: show };
    const shown = { "~standard": { ...schema["~standard"], validate: validateOf(schema), jsonSchema } };
    made[side].set(schema, shown);
    return shown;
  };
  return { inputSchema: kept(input, "input"), outputSchema: kept(output, "output") };
}
