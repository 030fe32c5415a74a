import { z } from "zod";

/** A query string as the values that its schema asks for: numbers, yes or no, and lists that were joined by commas. */
export function readQuery(schema: z.ZodObject, params: URLSearchParams): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const [name, text] of params) {
    const field = schema.shape[name];
    read[name] = field === undefined ? text : valueOf(inner(field), text);
  }
  return read;
}

function inner(type: z.core.$ZodType): z.core.$ZodType {
  return type instanceof z.ZodOptional || type instanceof z.ZodNullable ? inner(type.unwrap()) : type;
}

function valueOf(type: z.core.$ZodType, text: string): unknown {
  if (type instanceof z.ZodArray) return text === "" ? [] : text.split(",");
  if (type instanceof z.ZodNumber) return text.trim() === "" ? text : Number(text);
  if (type instanceof z.ZodBoolean && (text === "true" || text === "false")) return text === "true";
  return text;
}
