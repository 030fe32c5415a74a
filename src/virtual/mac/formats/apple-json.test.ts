import fc from "fast-check";
import { expect, test } from "vitest";
import { appleJson } from "./apple-json.ts";
import type { Json } from "./apple-json.ts";

test("JSON is printed as Foundation prints it, and parses to what it was", () => {
  const value: Json = { a: [], b: {}, c: [1, { d: "/x" }], e: true };
  expect(appleJson(value)).toBe(`{
  "a" : [

  ],
  "b" : {

  },
  "c" : [
    1,
    {
      "d" : "\\/x"
    }
  ],
  "e" : true
}`);
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (json) => {
      const known: Json = JSON.parse(JSON.stringify(json));
      expect(JSON.parse(appleJson(known))).toEqual(known);
    }),
  );
});
