import { isDictionary, isList } from "../../plist/index.ts";
import type { PlistValue } from "../../plist/index.ts";
import type { JsonValue } from "../types.ts";

/**
 * A value of a property list as JSON, with `{"$data": base64}`, `{"$date": ISO 8601}`, `{"$integer": digits}` for one beyond 2^53, and `{"$real": …}` for
 * what is no number in JSON.
 */
export function jsonOf(value: PlistValue): JsonValue {
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : { $integer: String(value) };
  }
  if (typeof value === "number") {
    if (Number.isNaN(value)) return { $real: "nan" };
    if (!Number.isFinite(value)) return { $real: value > 0 ? "inf" : "-inf" };
    return Object.is(value, -0) ? 0 : value;
  }
  if (value instanceof Date) return { $date: value.toISOString() };
  if (value instanceof Uint8Array) return { $data: Buffer.from(value).toString("base64") };
  if (isList(value)) return value.map(jsonOf);
  if (!isDictionary(value)) throw new Error("a property list holds no such value");
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, jsonOf(item)]));
}
