import { createHash } from "node:crypto";
import type { JsonValue } from "../types.ts";

/** JSON with sorted keys and nothing between its tokens: equal values give equal text. Keys that are undefined are left out. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) => (isRecord(each) ? sorted(each) : each));
}

/** `sha256:` and 64 hexadecimal digits, over the canonical JSON. */
export function digestOf(value: unknown): string {
  return `sha256:${createHash("sha256").update(canonicalJson(value)).digest("hex")}`;
}

/** Deep and by type: 1 is neither true nor "1". The order of keys does not count. */
export function sameJson(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  return canonicalJson(a) === canonicalJson(b);
}

/** Plain order of code units, the same on every machine. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** No prototype: a key that is called `__proto__` stays a key. */
function sorted(record: Record<string, unknown>): Record<string, unknown> {
  const result: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(record).toSorted(byText)) result[key] = record[key];
  return result;
}
