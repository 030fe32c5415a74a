import { readPlist } from "../../../plist/index.ts";
import type { PlistDictionary, PlistValue } from "../../../plist/index.ts";

/** What `defaults write DOMAIN KEY …` says: a value, or what to add to the one that is there. */
export type Written =
  | { readonly kind: "set"; readonly value: PlistValue }
  | { readonly kind: "array-add"; readonly items: readonly PlistValue[] }
  | { readonly kind: "dict-add"; readonly entries: PlistDictionary };

/** Words that can't be read; the message is the tool's. */
export class Unreadable extends Error {}

const SINGLE: ReadonlySet<string> = new Set(["string", "data", "int", "integer", "float", "bool", "boolean", "date"]);

/** Reads the words behind the key: a type flag and its value, or a value without a flag. Throws `Unreadable`. */
export async function writtenOf(words: readonly string[]): Promise<Written> {
  const [first, ...rest] = words;
  if (first === undefined) throw new Unreadable("Unexpected number of arguments; leaving defaults unchanged.");
  switch (first) {
    case "-array":
      return { kind: "set", value: await itemsOf(rest) };
    case "-array-add":
      return { kind: "array-add", items: await itemsOf(rest) };
    case "-dict":
      return { kind: "set", value: await entriesOf(rest) };
    case "-dict-add":
      return { kind: "dict-add", entries: await entriesOf(rest) };
    default: {
      const [value, left] = await oneValue(words);
      if (left.length > 0) throw new Unreadable(`Unexpected argument ${left[0] ?? ""}; leaving defaults unchanged.`);
      return { kind: "set", value };
    }
  }
}

async function itemsOf(words: readonly string[]): Promise<readonly PlistValue[]> {
  const items: PlistValue[] = [];
  let left = words;
  while (left.length > 0) {
    const [value, rest] = await oneValue(left);
    items.push(value);
    left = rest;
  }
  return items;
}

async function entriesOf(words: readonly string[]): Promise<PlistDictionary> {
  const entries = new Map<string, PlistValue>();
  let left = words;
  while (left.length > 0) {
    const [key, ...behind] = left;
    if (key === undefined || behind.length === 0) {
      throw new Unreadable("Key with no value; leaving defaults unchanged.");
    }
    const [value, rest] = await oneValue(behind);
    entries.set(key, value);
    left = rest;
  }
  return Object.fromEntries(entries);
}

async function oneValue(words: readonly string[]): Promise<readonly [PlistValue, readonly string[]]> {
  const [first = "", second, ...rest] = words;
  const type = first.startsWith("-") ? first.slice(1) : undefined;
  if (type !== undefined && SINGLE.has(type)) {
    if (second === undefined) throw new Unreadable(`Missing value for ${first}; leaving defaults unchanged.`);
    return [typedValue(type, second), rest];
  }
  return [await untypedValue(first), words.slice(1)];
}

function typedValue(type: string, text: string): PlistValue {
  const refuse = (): never => {
    throw new Unreadable(`Unexpected value "${text}" for -${type}; leaving defaults unchanged.`);
  };
  switch (type) {
    case "int":
    case "integer":
      return /^[+-]?\d+$/.test(text) ? BigInt(text) : refuse();
    case "float":
      return text.trim() !== "" && !Number.isNaN(Number(text)) ? Number(text) : refuse();
    case "bool":
    case "boolean":
      if (/^(1|yes|true)$/i.test(text)) return true;
      return /^(0|no|false)$/i.test(text) ? false : refuse();
    case "data":
      return /^([0-9a-fA-F]{2})*$/.test(text) ? new Uint8Array(Buffer.from(text, "hex")) : refuse();
    case "date": {
      const date = new Date(/^\d{4}-\d{2}-\d{2} /.test(text) ? text.replace(" ", "T").replace(" +0000", "Z") : text);
      return Number.isNaN(date.getTime()) ? refuse() : date;
    }
    default:
      return text;
  }
}

/** Without a flag, what looks like a property list is read as one, and anything else is a string. Every scalar in it is a string. */
async function untypedValue(text: string): Promise<PlistValue> {
  if (!/^\s*[({<"]/.test(text)) return text;
  const whole = /^\s*<[a-z]/i.test(text) && !/^\s*<plist/i.test(text) ? `<plist>${text}</plist>` : text;
  try {
    return await readPlist(Buffer.from(whole));
  } catch {
    throw new Unreadable(`Could not parse: ${text}.  Try single-quoting it.`);
  }
}
