import { createHash } from "node:crypto";
import type { JsonValue } from "../types.ts";

/** JSON with sorted keys and nothing between its tokens: equal values give equal text. Keys that are undefined are left out. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value)) ?? "null";
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

/** A copy in the order of each item's text, which is made once: a comparison that makes it anew costs more than the sort. */
export function sortedBy<T>(items: readonly T[], textOf: (item: T) => string): T[] {
  return items
    .map((item) => ({ item, text: textOf(item) }))
    .sort((a, b) => byText(a.text, b.text))
    .map(({ item }) => item);
}

/** The value itself where its keys are in order already, as in what the planner makes: to copy a large plan costs more than to hash it. */
function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    for (const each of value) if (sorted(each) !== each) return value.map(sorted);
    return value;
  }
  const record: Readonly<Record<string, unknown>> = value as Record<string, unknown>;
  let before = "";
  for (const key in record) {
    const each = record[key];
    if (key < before || (typeof each === "object" && sorted(each) !== each)) return copied(record);
    before = key;
  }
  return value;
}

function copied(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(record).sort()) {
    const each = sorted(record[key]);
    // Assigned, it would become the object's prototype.
    if (key === "__proto__") Object.defineProperty(result, key, { value: each, enumerable: true });
    else result[key] = each;
  }
  return result;
}
