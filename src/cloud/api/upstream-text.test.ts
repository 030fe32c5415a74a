import fc from "fast-check";
import { expect, test } from "vitest";
import { clean, refusalText } from "./upstream-text.ts";

test("a key of any form is taken out, wherever it stands", () => {
  expect(clean("no opaque-token here, nor opaque-token", "opaque-token")).toBe("no [key] here, nor [key]");
  expect(refusalText({ errors: [{ location: "opaque-token", message: "bad" }] }, "opaque-token")).toBe("[key]: bad");
});

test("whatever is said becomes one short line without control characters or markup", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 2000 }), (text) => {
      const line = clean(`<p>${text}</p>`, "opaque-token");
      expect(line.length).toBeLessThanOrEqual(300);
      expect(line).not.toMatch(/[\p{Cc}\u2028\u2029]|<p>/u);
    }),
  );
});

test("any JSON may be a refusal, and only sentences of it are told", () => {
  fc.assert(fc.property(fc.jsonValue(), (body) => void refusalText(body, "opaque-token")));
  expect(refusalText({ error: { message: "Nope" }, token: "t" }, "opaque-token")).toBe("Nope");
  expect(refusalText({ error: "Nope" }, "opaque-token")).toBe("Nope");
  expect(refusalText({ token: "t", message: 7 }, "opaque-token")).toBeUndefined();
});
