import { isDictionary, isList } from "./plist-value.ts";
import type { PlistValue } from "./plist-value.ts";

/** The old property list as Foundation describes a dictionary: what `listapps`, `appinfo` and `defaults read` print. */
export function openstep(value: PlistValue, indent = ""): string {
  const inner = `${indent}    `;
  if (isList(value)) {
    const items = value.map((item) => `${inner}${member(item, inner)}`);
    return items.length === 0 ? `(\n${indent})` : `(\n${items.join(",\n")}\n${indent})`;
  }
  if (isDictionary(value)) {
    const lines = Object.keys(value)
      .toSorted()
      .map((key) => `${inner}${word(key)} = ${member(value[key], inner)};\n`);
    return `{\n${lines.join("")}${indent}}`;
  }
  return scalar(value);
}

/** A collection in another one starts with the blanks of its own line once more: `Key =     {`. */
function member(value: PlistValue | undefined, indent: string): string {
  if (value === undefined) return '""';
  return isList(value) || isDictionary(value) ? indent + openstep(value, indent) : scalar(value);
}

function scalar(value: string | boolean | bigint | number | Date | Uint8Array | PlistValue): string {
  if (typeof value === "string") return word(value);
  if (typeof value === "boolean") return value ? "1" : "0";
  if (typeof value === "bigint") return word(String(value));
  if (typeof value === "number") return word(realText(value));
  if (value instanceof Date) return word(dateText(value));
  if (value instanceof Uint8Array) {
    return `{length = ${value.length}, bytes = 0x${Buffer.from(value).toString("hex")}}`;
  }
  return openstep(value);
}

/** A real number as a description shows it: `1` for 1.0, as Foundation does. */
export function realText(value: number): string {
  if (value === Infinity) return "inf";
  if (value === -Infinity) return "-inf";
  return Number.isNaN(value) ? "nan" : String(value);
}

export function dateText(value: Date): string {
  return `${value.toISOString().slice(0, 19).replace("T", " ")} +0000`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\n": "\\n",
  "\t": "\\t",
  "\r": "\\r",
  "\b": "\\b",
  "\f": "\\f",
};

/** Bare where only letters, digits and `_` occur, else in quotes: anything beyond ASCII as `\U` and four hex digits, controls in octal. */
function word(text: string): string {
  if (/^[A-Za-z0-9_]+$/.test(text)) return text;
  return `"${text.replace(/["\\\p{Cc}]|[^\p{ASCII}]/gu, escaped)}"`;
}

function escaped(character: string): string {
  const known = ESCAPES[character];
  if (known !== undefined) return known;
  return character
    .split("")
    .map((unit) => {
      const code = unit.charCodeAt(0);
      return code < 0x80 ? `\\${code.toString(8).padStart(3, "0")}` : `\\U${code.toString(16).padStart(4, "0")}`;
    })
    .join("");
}
