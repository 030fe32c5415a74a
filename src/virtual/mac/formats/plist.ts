import type { PlistValue } from "./plist-value.ts";
import { readXmlPlist } from "./xml-plist.ts";

type LibraryValue = ReturnType<(typeof import("@plist/parse"))["parse"]>;

/** Reads a property list in any of its three forms. Throws `Error` where it is none. */
export async function readPlist(bytes: Uint8Array): Promise<PlistValue> {
  const head = Buffer.from(bytes.subarray(0, 64))
    .toString("latin1")
    .replace(/^\xEF\xBB\xBF/, "");
  if (/^\s*<(\?xml|!DOCTYPE|plist|!--)/.test(head)) return readXmlPlist(Buffer.from(bytes).toString("utf8"));
  const { parse } = await import("@plist/parse");
  // The library takes an ArrayBuffer for binary lists only; a text goes as a string.
  if (head.startsWith("bplist")) return fromLibrary(parse(new Uint8Array(bytes).buffer));
  return fromLibrary(parse(jsonEscapes(Buffer.from(bytes).toString("utf8"))));
}

/** The library undoes escapes with JSON's rules; an old property list has `\U00e9` and octal as well. */
function jsonEscapes(text: string): string {
  return text.replace(/\\(\\|U[0-9a-fA-F]{4}|[0-7]{3}|[av'])/g, (whole, escape: string) => {
    if (escape.startsWith("U")) return `\\u${escape.slice(1)}`;
    if (/^[0-7]/.test(escape)) return `\\u${Number.parseInt(escape, 8).toString(16).padStart(4, "0")}`;
    return { a: "\\u0007", v: "\\u000b", "'": "'" }[escape] ?? whole;
  });
}

function fromLibrary(value: LibraryValue): PlistValue {
  // The library reads an empty `<>` as null; a property list has no null.
  if (value === null) return new Uint8Array(0);
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (Array.isArray(value)) return value.map(fromLibrary);
  if (typeof value !== "object" || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fromLibrary(item)]));
}
