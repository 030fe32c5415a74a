import type { z } from "zod";
import { listedSchema, type Tool } from "../tool/index.ts";

/** A schema as the SDK takes it: it validates, and shows itself as JSON Schema. */
type SdkSchema = Pick<z.ZodObject, "~standard">;

const SHOWN = { input: new WeakMap<z.ZodObject, SdkSchema>(), output: new WeakMap<z.ZodObject, SdkSchema>() };

/**
 * The schemas of a tool for the SDK, for the list alone: anything passes, for the gate judges it. They turn themselves into JSON Schema once in the process: the
 * SDK asks for that at every `tools/list`, and for five tools it costs more than all the rest of the answer.
 */
export function shownSchemas({ input, output }: Pick<Tool, "input" | "output">) {
  return { inputSchema: shown(input, "input"), outputSchema: shown(output, "output") };
}

function shown(schema: z.ZodObject, side: "input" | "output"): SdkSchema {
  const known = SHOWN[side].get(schema);
  if (known !== undefined) return known;
  let listed: ReturnType<typeof listedSchema> | undefined;
  const show = () => (listed ??= listedSchema(schema, side));
  const made: SdkSchema = {
    "~standard": {
      ...schema["~standard"],
      validate: (value) => ({ value: value as Record<string, unknown> }),
      jsonSchema: { input: show, output: show },
    },
  };
  SHOWN[side].set(schema, made);
  return made;
}
