import { readFileSync, writeFileSync } from "node:fs";
import { dateText, isDictionary, isList, openstep, readPlist, realText, writeXmlPlist } from "../../../plist/index.ts";
import type { PlistDictionary, PlistValue } from "../../../plist/index.ts";
import type { Call } from "../call.ts";
import type { Device } from "../device.ts";
import { Unreadable, writtenOf } from "./defaults-values.ts";
import type { Written } from "./defaults-values.ts";
import { Preferences } from "./preferences.ts";

const USAGE =
  "Usage: defaults [-currentHost] read [domain [key]] | read-type domain key | write domain key value | write domain plist | rename domain old new | delete domain [key] | import domain path | export domain path | domains | find word";

/** `defaults` in the device. Values keep their types: what was written as an integer is read, typed and exported as one. */
export async function defaults(call: Call, device: Device, args: readonly string[]): Promise<number> {
  const words = [...args];
  let currentHost = false;
  while (words[0] === "-currentHost" || words[0] === "-host") {
    currentHost = true;
    if (words.shift() === "-host") words.shift();
  }
  const [action = "", ...all] = words;
  const store = new Preferences(call, device, currentHost);
  const rest = all[0] === "-app" ? all.slice(1) : all;
  const [domain, key] = rest;
  try {
    if (action === "domains") return say(call, store.domains().join(", "));
    if (action === "read" && domain === undefined) return await readAll(call, store);
    if (domain === undefined) return usage(call);
    switch (action) {
      case "read":
        return await read(call, store, domain, key);
      case "read-type":
        return key === undefined ? usage(call) : await readType(call, store, domain, key);
      case "write":
        return await write(call, store, domain, rest.slice(1));
      case "rename":
        return await rename(call, store, domain, rest);
      case "delete":
      case "remove":
        return await remove(call, store, domain, key);
      case "export":
        return key === undefined ? usage(call) : await exportTo(call, store, domain, key);
      case "import":
        return key === undefined ? usage(call) : await importFrom(call, store, domain, key);
      case "find":
        return await find(call, store, domain);
      default:
        return usage(call);
    }
  } catch (error) {
    if (error instanceof Unreadable) return complain(call, error.message);
    throw error;
  }
}

function say(call: Call, text: string): number {
  call.out(`${text}\n`);
  return 0;
}

/** As the tool logs: a time, its name, and the message on the next line. */
function complain(call: Call, text: string): number {
  const time = new Date().toISOString().replace("T", " ").replace("Z", "");
  call.err(`${time} defaults[${process.pid}:1] \n${text}\n`);
  return 1;
}

function usage(call: Call): number {
  call.err(`${USAGE}\n`);
  return 255;
}

/** A value by itself: a string is printed as it is, a collection as a description. */
function described(value: PlistValue): string {
  if (typeof value === "string") return value;
  if (value instanceof Date) return dateText(value);
  return typeof value === "number" ? realText(value) : openstep(value);
}

async function readAll(call: Call, store: Preferences): Promise<number> {
  const all: Record<string, PlistValue> = {};
  for (const domain of store.domains()) all[domain] = (await store.read(domain)) ?? {};
  return say(call, openstep(all));
}

async function read(call: Call, store: Preferences, domain: string, key: string | undefined): Promise<number> {
  const values = await store.read(domain);
  if (key === undefined) {
    if (values === undefined) return complain(call, `Domain ${domain} does not exist`);
    return say(call, openstep(values));
  }
  const value = own(values, key);
  if (value === undefined) return missing(call, domain, key);
  return say(call, described(value));
}

function missing(call: Call, domain: string, key: string): number {
  return complain(call, `The domain/default pair of (${domain}, ${key}) does not exist`);
}

function own(values: PlistDictionary | undefined, key: string): PlistValue | undefined {
  return values !== undefined && Object.hasOwn(values, key) ? values[key] : undefined;
}

async function readType(call: Call, store: Preferences, domain: string, key: string): Promise<number> {
  const value = own(await store.read(domain), key);
  return value === undefined ? missing(call, domain, key) : say(call, `Type is ${typeName(value)}`);
}

function typeName(value: PlistValue): string {
  if (typeof value === "string" || typeof value === "boolean") return typeof value;
  if (typeof value === "bigint") return "integer";
  if (typeof value === "number") return "float";
  if (value instanceof Date) return "date";
  if (value instanceof Uint8Array) return "data";
  return isList(value) ? "array" : "dictionary";
}

async function write(call: Call, store: Preferences, domain: string, words: readonly string[]): Promise<number> {
  const [first, ...values] = words;
  if (first === undefined) return usage(call);
  if (values.length === 0) {
    const written = await writtenOf([first]);
    if (written.kind !== "set" || !isDictionary(written.value)) {
      return complain(call, `Rep argument is not a dictionary\nDefaults have not been changed.`);
    }
    const whole = written.value;
    await store.change(domain, () => whole);
    return 0;
  }
  const written = await writtenOf(values);
  await store.change(domain, (before) => withEntry(before, first, combined(own(before, first), written)));
  return 0;
}

/** Spread first and define after, so that a key named __proto__ is a key. */
function withEntry(values: PlistDictionary | undefined, key: string, value: PlistValue): PlistDictionary {
  return Object.fromEntries([...Object.entries(values ?? {}).filter(([each]) => each !== key), [key, value]]);
}

function combined(before: PlistValue | undefined, written: Written): PlistValue {
  switch (written.kind) {
    case "set":
      return written.value;
    case "array-add":
      if (before !== undefined && !isList(before))
        throw new Unreadable("Value for key is not an array; leaving defaults unchanged.");
      return [...(before ?? []), ...written.items];
    case "dict-add":
      if (before !== undefined && !isDictionary(before)) {
        throw new Unreadable("Value for key is not a dictionary; leaving defaults unchanged.");
      }
      return Object.entries(written.entries).reduce((all, [key, value]) => withEntry(all, key, value), before ?? {});
  }
}

async function rename(call: Call, store: Preferences, domain: string, rest: readonly string[]): Promise<number> {
  const [, from, to] = rest;
  if (from === undefined || to === undefined) return usage(call);
  const value = own(await store.read(domain), from);
  if (value === undefined)
    return complain(call, `Key ${from} does not exist in domain ${domain}; leaving defaults unchanged`);
  await store.change(domain, (before) => withEntry(without(before, from), to, value));
  return 0;
}

function without(values: PlistDictionary | undefined, key: string): PlistDictionary {
  return Object.fromEntries(Object.entries(values ?? {}).filter(([each]) => each !== key));
}

async function remove(call: Call, store: Preferences, domain: string, key: string | undefined): Promise<number> {
  const values = await store.read(domain);
  if (values === undefined || (key !== undefined && own(values, key) === undefined)) {
    return complain(call, `Domain (${domain}) not found.\nDefaults have not been changed.`);
  }
  await store.change(domain, (before) => (key === undefined ? undefined : without(before, key)));
  return 0;
}

async function exportTo(call: Call, store: Preferences, domain: string, path: string): Promise<number> {
  const values = await store.read(domain);
  if (values === undefined) return complain(call, `The domain ${domain} does not exist`);
  const xml = writeXmlPlist(values);
  if (path === "-") {
    call.out(xml);
    return 0;
  }
  writeFileSync(path, xml);
  return 0;
}

async function importFrom(call: Call, store: Preferences, domain: string, path: string): Promise<number> {
  const bytes = path === "-" ? await call.stdin(64 << 20) : readFileSync(path);
  const value = bytes === undefined ? undefined : await readPlist(bytes).catch(() => undefined);
  if (!isDictionary(value))
    return complain(call, `Could not read a dictionary from ${path}; leaving defaults unchanged.`);
  await store.change(domain, () => value);
  return 0;
}

async function find(call: Call, store: Preferences, word: string): Promise<number> {
  const lower = word.toLowerCase();
  let found = 0;
  for (const domain of store.domains()) {
    const values = (await store.read(domain)) ?? {};
    const hits = Object.entries(values).filter(([key, value]) =>
      `${key} ${described(value)}`.toLowerCase().includes(lower),
    );
    if (hits.length === 0) continue;
    found += hits.length;
    call.out(`Found ${hits.length} keys in domain '${domain}': ${openstep(Object.fromEntries(hits))}\n`);
  }
  if (found === 0) call.out(`No domain, key, nor value containing '${word}'\n`);
  return 0;
}
