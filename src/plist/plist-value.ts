/**
 * A property list in memory. The types that JavaScript blurs are told apart: an integer is a bigint and a real is a number, as a
 * value that was written as `-int 1` must not come back as `-float 1`.
 */
export type PlistValue =
  | string
  | boolean
  | bigint
  | number
  | Date
  | Uint8Array
  | readonly PlistValue[]
  | { readonly [key: string]: PlistValue };

export type PlistDictionary = { readonly [key: string]: PlistValue };

export function isDictionary(value: PlistValue | undefined): value is PlistDictionary {
  return (
    typeof value === "object" && !Array.isArray(value) && !(value instanceof Date) && !(value instanceof Uint8Array)
  );
}

export function isList(value: PlistValue): value is readonly PlistValue[] {
  return Array.isArray(value);
}
