import fc from "fast-check";
import { expect, test } from "vitest";
import { Lines, type Line } from "./lines.ts";

const textOf = (line: Line): string => (line.kind === "line" ? line.bytes.toString() : "<too long>");
const cut = (max: number, ...chunks: string[]): string[] => {
  const lines = new Lines(max);
  return [...chunks.flatMap((chunk) => lines.push(Buffer.from(chunk))), ...lines.end()].map(textOf);
};

test("lines are put together across chunks, blank ones and line ends of any kind left out", () => {
  expect(cut(100, '{"a"', ":1}\r\n\n  \n{", '"b":2}\n{"c"', ":3}")).toEqual(['{"a":1}\r', '{"b":2}', '{"c":3}']);
});

test("a line over the limit is reported once and skipped; the next one is read", () => {
  expect(cut(5, "123456", "789", "0\nabc\n")).toEqual(["<too long>", "abc"]);
  expect(cut(5, "12345\n123456\nabc")).toEqual(["12345", "<too long>", "abc"]);
  expect(cut(5, "123456")).toEqual(["<too long>"]);
});

test("how the stream is cut into chunks changes nothing", () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[ab\n]{0,6}$/)), fc.integer({ min: 1, max: 4 }), (chunks, max) => {
      expect(cut(max, ...chunks)).toEqual(cut(max, chunks.join("")));
    }),
  );
});
