import { expect, test } from "vitest";
import { RecentIds } from "./recent-ids.ts";

test("a repeat is known while it is recent, and only so many are kept", () => {
  const ids = new RecentIds(2);
  expect([ids.add("a"), ids.add("a"), ids.add("b")]).toEqual([true, false, true]);
  expect([ids.has("a"), ids.has("b"), ids.has("c")]).toEqual([true, true, false]);
  expect(ids.add("c")).toBe(true);
  expect([ids.has("a"), ids.has("b"), ids.has("c")]).toEqual([false, true, true]);
});
