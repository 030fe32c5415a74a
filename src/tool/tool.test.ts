import fc from "fast-check";
import { expect, test } from "vitest";
import { annotationsOf, type Effect } from "./tool.ts";

const effects = fc.uniqueArray(fc.constantFrom<Effect>("read", "write", "destructive", "commerce"));

test("a tool is read-only when nothing it does is more than reading", () => {
  expect(annotationsOf({ effects: ["read"] })).toMatchObject({ readOnlyHint: true, destructiveHint: false });
  expect(annotationsOf({ effects: ["read", "write"] })).toMatchObject({ readOnlyHint: false, destructiveHint: false });
  expect(annotationsOf({ effects: ["write", "destructive"] })).toMatchObject({ destructiveHint: true });
});

test("a tool that was not classified may destroy, for all a client knows", () => {
  expect(annotationsOf({ effects: [] })).toMatchObject({ readOnlyHint: false, destructiveHint: true });
});

test("reading is repeatable; anything else only where the tool says so", () => {
  expect(annotationsOf({ effects: ["read"] }).idempotentHint).toBe(true);
  expect(annotationsOf({ effects: ["write"] }).idempotentHint).toBe(false);
  expect(annotationsOf({ effects: ["write"], idempotent: true }).idempotentHint).toBe(true);
});

test("one more effect never makes a tool look safer", () => {
  fc.assert(
    fc.property(effects, fc.constantFrom<Effect>("write", "destructive", "commerce"), (some, more) => {
      const before = annotationsOf({ effects: some });
      const after = annotationsOf({ effects: [...some, more] });
      expect(after.readOnlyHint).toBe(false);
      if (some.length > 0) expect(after.destructiveHint).toBe(before.destructiveHint || more === "destructive");
    }),
  );
});
