import { isList } from "./plist-value.ts";
import type { PlistDictionary, PlistValue } from "./plist-value.ts";

const HEAD = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
`;

export function writeXmlPlist(value: PlistValue): string {
  return `${HEAD}${element(value, "")}\n</plist>\n`;
}

function element(value: PlistValue, indent: string): string {
  if (typeof value === "string") return `${indent}<string>${escaped(value)}</string>`;
  if (typeof value === "boolean") return `${indent}<${value}/>`;
  if (typeof value === "bigint") return `${indent}<integer>${value}</integer>`;
  if (typeof value === "number") return `${indent}<real>${realOf(value)}</real>`;
  if (value instanceof Date) return `${indent}<date>${value.toISOString().slice(0, 19)}Z</date>`;
  if (value instanceof Uint8Array) {
    return `${indent}<data>\n${indent}${Buffer.from(value).toString("base64")}\n${indent}</data>`;
  }
  if (isList(value)) {
    if (value.length === 0) return `${indent}<array/>`;
    return `${indent}<array>\n${value.map((item) => element(item, `${indent}\t`)).join("\n")}\n${indent}</array>`;
  }
  const keys = Object.keys(value).toSorted();
  if (keys.length === 0) return `${indent}<dict/>`;
  const members = keys.map(
    (key) => `${indent}\t<key>${escaped(key)}</key>\n${element(value[key] ?? "", `${indent}\t`)}`,
  );
  return `${indent}<dict>\n${members.join("\n")}\n${indent}</dict>`;
}

function realOf(value: number): string {
  if (Number.isNaN(value)) return "nan";
  return Number.isFinite(value) ? String(value) : value > 0 ? "+infinity" : "-infinity";
}

/** A carriage return would come back as a line feed from any XML reader, so it goes as a reference. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\r", "&#13;");
}

/**
 * Reads an XML property list. The library (`@plist/parse`) is for binary and OpenStep lists: of XML it trims each string, reads no numeric
 * references and tells a whole real from no integer, so a value would not come back as it was written. Throws `Error`.
 */
export function readXmlPlist(text: string): PlistValue {
  const tokens = tokensOf(text);
  let at = 0;
  const next = (): Token => {
    const token = tokens[at++];
    if (token === undefined) throw new Error("the property list ends too early");
    return token;
  };
  const first = next();
  if (first.tag !== "plist" || first.kind !== "open") throw new Error("there is no <plist>");
  const value = valueOf(next(), next);
  const last = next();
  if (last.tag !== "plist" || last.kind !== "close") throw new Error("<plist> holds more than one value");
  return value;
}

interface Token {
  readonly kind: "open" | "close" | "empty";
  readonly tag: string;
  /** The text between this tag and the next, references resolved. */
  readonly text: string;
}

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  // Prolog, comments and CDATA sections; then tags with the text that follows each.
  const pattern =
    /<\?[\s\S]*?\?>|<!--[\s\S]*?-->|<!\[CDATA\[([\s\S]*?)\]\]>|<!DOCTYPE[^>[]*(?:\[[^\]]*\])?[^>]*>|<(\/?)([A-Za-z]+)[^>]*?(\/?)>|([^<]+)|</g;
  for (const match of text.replace(/^\uFEFF/, "").matchAll(pattern)) {
    const [whole, cdata, slash, tag, empty, run] = match;
    if (whole === "<") throw new Error(`a stray "<" at ${match.index}`);
    const piece = cdata ?? (run === undefined ? undefined : resolved(run));
    const last = tokens.at(-1);
    if (tag !== undefined)
      tokens.push({ kind: slash === "/" ? "close" : empty === "/" ? "empty" : "open", tag, text: "" });
    else if (piece !== undefined && last !== undefined)
      tokens[tokens.length - 1] = { ...last, text: last.text + piece };
  }
  return tokens;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function resolved(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(/&(#x[0-9a-fA-F]+|#[0-9]+|[a-z]+);/g, (whole, name: string) => {
    if (name.startsWith("#x")) return String.fromCodePoint(Number.parseInt(name.slice(2), 16));
    if (name.startsWith("#")) return String.fromCodePoint(Number(name.slice(1)));
    const known = ENTITIES[name];
    if (known === undefined) throw new Error(`the entity ${whole} is not known`);
    return known;
  });
}

function valueOf(token: Token, next: () => Token): PlistValue {
  if (token.kind === "close") throw new Error(`</${token.tag}> where a value should be`);
  if (token.tag === "true" || token.tag === "false") {
    if (token.kind === "open") closed(next(), token.tag);
    return token.tag === "true";
  }
  if (token.tag === "array") return token.kind === "empty" ? [] : listOf(next);
  if (token.tag === "dict") return token.kind === "empty" ? {} : dictionaryOf(next);
  const { text } = token;
  if (token.kind === "open") closed(next(), token.tag);
  return leafOf(token.tag, text);
}

function closed(token: Token, tag: string): void {
  if (token.kind !== "close" || token.tag !== tag) throw new Error(`<${tag}> is not closed`);
}

function listOf(next: () => Token): readonly PlistValue[] {
  const items: PlistValue[] = [];
  for (let token = next(); token.kind !== "close"; token = next()) items.push(valueOf(token, next));
  return items;
}

function dictionaryOf(next: () => Token): PlistDictionary {
  const entries = new Map<string, PlistValue>();
  for (let token = next(); token.kind !== "close"; token = next()) {
    if (token.tag !== "key") throw new Error(`<${token.tag}> where a <key> should be`);
    const { text, kind } = token;
    if (kind === "open") closed(next(), "key");
    entries.set(text, valueOf(next(), next));
  }
  // Object.fromEntries defines own properties, so a key named __proto__ stays a key.
  return Object.fromEntries(entries);
}

function leafOf(tag: string, text: string): PlistValue {
  switch (tag) {
    case "string":
      return text;
    case "integer":
      return BigInt(text.trim());
    case "real":
      return realFrom(text.trim());
    case "data":
      return new Uint8Array(Buffer.from(text.replace(/\s+/g, ""), "base64"));
    case "date": {
      const date = new Date(text.trim());
      if (Number.isNaN(date.getTime())) throw new Error(`"${text}" is no date`);
      return date;
    }
    default:
      throw new Error(`<${tag}> is no element of a property list`);
  }
}

function realFrom(text: string): number {
  if (/^nan$/i.test(text)) return Number.NaN;
  const infinite = /^([+-]?)inf(inity)?$/i.exec(text);
  if (infinite !== null) return infinite[1] === "-" ? -Infinity : Infinity;
  const value = Number(text);
  if (text === "" || Number.isNaN(value)) throw new Error(`"${text}" is no number`);
  return value;
}
