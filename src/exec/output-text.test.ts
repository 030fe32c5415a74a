import fc from "fast-check";
import { expect, test } from "vitest";
import { OutputText } from "./output-text.ts";

function chunksOf(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return [...chunks, bytes.subarray(at)];
}

function keepLastOf(chunks: readonly Buffer[], keep: number): OutputText {
  const text = new OutputText(keep);
  for (const chunk of chunks) text.push(chunk);
  text.end();
  return text;
}

/** What the contract says of the last N characters, said plainly. */
function expectedTail(whole: string, keep: number): { kept: string; truncated: boolean } {
  if (whole.length <= keep) return { kept: whole, truncated: false };
  const last = whole.slice(whole.length - keep);
  return { kept: /^[\udc00-\udfff]/.test(last) ? last.slice(1) : last, truncated: true };
}

const anyBytes = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }).map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc
    .array(fc.constantFrom(0x41, 0x80, 0xbf, 0xc3, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80, 0xff), { maxLength: 200 })
    .map((bytes) => Buffer.from(bytes)),
);
const anySizes = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 60 });

test("however the bytes are cut into chunks, the text is what they are as a whole", () => {
  fc.assert(
    fc.property(anyBytes, anySizes, (bytes, sizes) => {
      const text = new OutputText(undefined);
      const parts = chunksOf(bytes, sizes).map((chunk) => text.push(chunk));
      expect(parts.join("") + text.end()).toBe(bytes.toString("utf8"));
      expect(text.length).toBe(bytes.toString("utf8").length);
    }),
    { numRuns: 3000 },
  );
});

test("the kept tail is the last N characters of the whole, whatever the chunks", () => {
  fc.assert(
    fc.property(anyBytes, anySizes, fc.integer({ min: 0, max: 40 }), (bytes, sizes, keep) => {
      const text = keepLastOf(chunksOf(bytes, sizes), keep);
      const whole = bytes.toString("utf8");
      expect({ kept: text.kept, truncated: text.truncated }).toEqual(expectedTail(whole, keep));
      expect(text.length).toBe(whole.length);
    }),
    { numRuns: 5000 },
  );
});

test.each([
  [32_768, false],
  [32_769, true],
  [1_000_000, true],
])("of %i characters the last 32768 are kept, and truncated is %s", (length, truncated) => {
  const whole = Array.from({ length }, (_, index) => String(index % 10)).join("");
  const text = keepLastOf([Buffer.from(whole)], 32_768);
  expect(text.kept).toBe(whole.slice(-32_768));
  expect(text.truncated).toBe(truncated);
});

test("half of a pair that the cut leaves is dropped", () => {
  const text = keepLastOf([Buffer.from("a😀b")], 2);
  expect(text.kept).toBe("b");
  expect(text.truncated).toBe(true);
  expect(keepLastOf([Buffer.from("a😀b")], 3).kept).toBe("😀b");
});

test("text with U+FFFD in it is UTF-8; broken bytes are not", () => {
  expect(keepLastOf([Buffer.from("a\ufffdb")], 10).valid).toBe(true);
  expect(keepLastOf([Buffer.from([0x41, 0xff])], 10).valid).toBe(false);
  expect(keepLastOf([Buffer.from([0x41, 0xe2, 0x82])], 10).valid).toBe(false);
  expect(keepLastOf([Buffer.from([0x41, 0xe2]), Buffer.from([0x82, 0xac])], 10).valid).toBe(true);
});

test("line ends are left as they are", () => {
  expect(keepLastOf([Buffer.from("a\r\nb\n")], 10).kept).toBe("a\r\nb\n");
});
