import { expect, test } from "vitest";
import { newestFirst, packed } from "./versions.ts";

test("versions are ordered by number and not by letter", () => {
  expect(["18.5", "26.0", "9.3", "26.10", "26.9", "17.0.1", "17.0", "beta"].toSorted(newestFirst)).toEqual([
    "26.10",
    "26.9",
    "26.0",
    "18.5",
    "17.0.1",
    "17.0",
    "9.3",
    "beta",
  ]);
});

test("a version is packed as 0xAABBCC", () => {
  expect(packed("26.0")).toBe(0x1a0000);
  expect(packed("17.0.1")).toBe(0x110001);
  expect(packed("beta")).toBeUndefined();
});
