import { expect, test } from "vitest";
import { typedValue, valueAt, withValue } from "./config-keys.ts";

test("a value is put at its path and the rest is left as it is", () => {
  const tree = { lease: { defaultTtlMs: 1, other: 2 }, mine: [1] };
  expect(withValue(tree, "lease.defaultTtlMs", 5)).toEqual({ lease: { defaultTtlMs: 5, other: 2 }, mine: [1] });
  expect(withValue({}, "a.b.c", true)).toEqual({ a: { b: { c: true } } });
  expect(tree.lease.defaultTtlMs).toBe(1);
});

test("null removes a value and the branches that it leaves empty", () => {
  expect(withValue({ a: { b: { c: 1 } }, d: 2 }, "a.b.c", null)).toEqual({ d: 2 });
  expect(withValue({ a: { b: 1, c: 2 } }, "a.b", null)).toEqual({ a: { c: 2 } });
  expect(withValue({}, "a.b", null)).toEqual({});
});

test("a path through a value that has no keys, an empty name, or the prototype is refused", () => {
  expect(() => withValue({ a: 1 }, "a.b", 1)).toThrow(/no keys/);
  expect(() => withValue({}, "a..b", 1)).toThrow(/not a key/);
  expect(() => withValue({}, "__proto__.x", 1)).toThrow(/not a key/);
  expect(Object.hasOwn(Object.prototype, "x")).toBe(false);
});

test("reading a path sees own values only", () => {
  expect(valueAt({ a: { b: 0 } }, "a.b")).toBe(0);
  expect(valueAt({ a: {} }, "a.b")).toBeUndefined();
  expect(valueAt({}, "constructor.name")).toBeUndefined();
});

test("what is typed is JSON where it is JSON", () => {
  expect(typedValue("5")).toBe(5);
  expect(typedValue("true")).toBe(true);
  expect(typedValue("null")).toBeNull();
  expect(typedValue('["a"]')).toEqual(["a"]);
  expect(typedValue("iPhone 17")).toBe("iPhone 17");
});
