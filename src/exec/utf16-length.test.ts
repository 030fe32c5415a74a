import fc from "fast-check";
import { expect, test } from "vitest";
import { lengthOfAny, lengthOfValid } from "./utf16-length.ts";

/** Bytes that meet at the borders of what a decoder accepts. */
const borders = fc.constantFrom(
  ...[0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef],
  ...[0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff],
);

test("any bytes are as long as what the decoder makes of them", () => {
  fc.assert(
    fc.property(fc.array(borders, { maxLength: 24 }), (bytes) => {
      expect(lengthOfAny(Buffer.from(bytes))).toBe(Buffer.from(bytes).toString("utf8").length);
    }),
    { numRuns: 5000 },
  );
});

test("valid text is as long as it is, wherever it lies in memory", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 3000 }).map((text) => text.toWellFormed()),
      fc.nat({ max: 7 }),
      (text, offset) => {
        const bytes = Buffer.alloc(offset + Buffer.byteLength(text));
        bytes.write(text, offset);
        expect(lengthOfValid(bytes.subarray(offset))).toBe(text.length);
        expect(lengthOfAny(bytes.subarray(offset))).toBe(text.length);
      },
    ),
  );
});

test("a long text with every lane full is counted without overflow", () => {
  for (const character of ["a", "é", "漢", "😀"]) {
    const text = character.repeat(10_000);
    expect(lengthOfValid(Buffer.from(text))).toBe(text.length);
  }
});
