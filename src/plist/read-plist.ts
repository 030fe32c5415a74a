import type { PlistValue } from "./plist-value.ts";
import { readXmlPlist } from "./xml-plist.ts";

type LibraryValue = ReturnType<(typeof import("@plist/parse"))["parse"]>;

/** Reads a property list in any of its three forms. Throws `Error` where it is none. An old-style list holds strings and data only. */
export async function readPlist(bytes: Uint8Array): Promise<PlistValue> {
  const head = Buffer.from(bytes.subarray(0, 64))
    .toString("latin1")
    .replace(/^\xEF\xBB\xBF/, "");
  if (/^\s*<(\?xml|!DOCTYPE|plist|!--)/.test(head)) return readXmlPlist(Buffer.from(bytes).toString("utf8"));
  const { parse } = await import("@plist/parse");
  // The library takes an ArrayBuffer for binary lists only; a text goes as a string.
  if (head.startsWith("bplist")) return fromLibrary(parse(new Uint8Array(bytes).buffer));
  return fromLibrary(parse(asJsonStrings(Buffer.from(bytes).toString("utf8"))));
}

const QUOTED = /"((?:[^"\\]|\\[\s\S])*)"|'((?:[^'\\]|\\[\s\S])*)'/;
/** How Foundation describes data since macOS 10.15. A long one has `...` in its middle, so it stays the text that it is. */
const DESCRIBED_DATA = /\{length = \d+, bytes = 0x([^}]*)\}/;
const COMMENT = /\/\*[\s\S]*?\*\/|\/\/[^\n]*/;
const BARE = /([\w$+/:.-]+)/;
const TOKENS = new RegExp([QUOTED, DESCRIBED_DATA, COMMENT, BARE].map((each) => each.source).join("|"), "g");

/**
 * The library undoes escapes with JSON's rules: it fails on `\\U00e9`, on octal, on a line break in a string, on `'a"b'` and on a bare path. So each string is
 * read here, and handed on as JSON writes it.
 */
function asJsonStrings(text: string): string {
  return text.replace(TOKENS, (token: string, double?: string, single?: string, bytes?: string, bare?: string) => {
    if (bytes !== undefined) return /^[0-9a-f ]*$/i.test(bytes) ? `<${bytes}>` : asciiJson(token);
    if (bare !== undefined) return bare.startsWith("/") ? asciiJson(bare) : bare;
    const quoted = double ?? single;
    return quoted === undefined ? " " : asciiJson(unescaped(quoted));
  });
}

/** In ASCII, as the library tells an old-style list by its first characters. */
function asciiJson(text: string): string {
  return JSON.stringify(text).replace(/[^\p{ASCII}]/gu, (character) =>
    Array.from({ length: character.length }, (_, at) => hexEscape(character.charCodeAt(at))).join(""),
  );
}

const hexEscape = (unit: number): string => `\\u${unit.toString(16).padStart(4, "0")}`;

const ESCAPES: Readonly<Record<string, string>> = {
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

function unescaped(text: string): string {
  return text.replace(/\\(U[0-9a-fA-F]{4}|u[0-9a-fA-F]{4}|[0-7]{1,3}|[\s\S])/g, (_, escape: string) => {
    if (/^[Uu]./.test(escape)) return String.fromCharCode(Number.parseInt(escape.slice(1), 16));
    if (/^[0-7]/.test(escape)) return String.fromCharCode(Number.parseInt(escape, 8));
    return ESCAPES[escape] ?? escape;
  });
}

function fromLibrary(value: LibraryValue): PlistValue {
  // The library reads an empty `<>` as null; a property list has no null.
  if (value === null) return new Uint8Array(0);
  // In a binary list a whole real reads as the integer: the library gives both as the same number.
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (Array.isArray(value)) return value.map(fromLibrary);
  if (typeof value !== "object" || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fromLibrary(item)]));
}
