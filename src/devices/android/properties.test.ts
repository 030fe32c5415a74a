import { expect, test } from "vitest";
import { parseProperties } from "./properties.ts";

test("each entry is a name and a value", () => {
  expect([...parseProperties("[ro.serialno]: [A1]\n[ro.product.model]: [Pixel 8]\n")]).toEqual([
    ["ro.serialno", "A1"],
    ["ro.product.model", "Pixel 8"],
  ]);
});

test("a value may span lines", () => {
  const read = parseProperties("[persist.a]: [one\ntwo\n\nthree]\n[ro.b]: [x]\n");
  expect(read.get("persist.a")).toBe("one\ntwo\n\nthree");
  expect(read.get("ro.b")).toBe("x");
});

test("a value may be a bracket, end in one, or hold what looks like a pair", () => {
  const read = parseProperties("[a]: []]\n[b]: [x]]\n[c]: [y: [z]]\n");
  expect([...read]).toEqual([
    ["a", "]"],
    ["b", "x]"],
    ["c", "y: [z]"],
  ]);
});

test("a value may be empty", () => {
  expect([...parseProperties("[a]: []\n[b]: [1]")]).toEqual([
    ["a", ""],
    ["b", "1"],
  ]);
});

test("carriage returns are no part of it", () => {
  expect([...parseProperties("[a]: [1]\r\n[b]: []\r\n")]).toEqual([
    ["a", "1"],
    ["b", ""],
  ]);
});

test("nothing gives nothing", () => {
  expect(parseProperties("").size).toBe(0);
  expect(parseProperties("/system/bin/sh: getprop: inaccessible or not found\n").size).toBe(0);
});
