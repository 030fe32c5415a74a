export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export interface JsonStyle {
  /** Foundation writes `/` as `\/` unless told otherwise (`list -e`). */
  readonly escapeSlashes: boolean;
}

/** JSON as Foundation prints it for people: two blanks an indent, ` : ` between key and value, an empty line in what is empty. */
export function appleJson(value: Json, style: JsonStyle = { escapeSlashes: true }, indent = ""): string {
  if (typeof value === "string") return quoted(value, style);
  if (value === null || typeof value !== "object") return String(value);
  const inner = `${indent}  `;
  const [open, close, parts] = isArray(value)
    ? ["[", "]", value.map((item) => appleJson(item, style, inner))]
    : [
        "{",
        "}",
        Object.entries(value).map(([key, item]) => `${quoted(key, style)} : ${appleJson(item, style, inner)}`),
      ];
  if (parts.length === 0) return `${open}\n\n${indent}${close}`;
  return `${open}\n${parts.map((part) => inner + part).join(",\n")}\n${indent}${close}`;
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function quoted(text: string, style: JsonStyle): string {
  const json = JSON.stringify(text);
  return style.escapeSlashes ? json.replaceAll("/", "\\/") : json;
}
