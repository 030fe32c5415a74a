import fc from "fast-check";
import { expect, test } from "vitest";
import { openstep } from "./openstep.ts";
import { readPlist } from "./read-plist.ts";
import type { PlistValue } from "./plist-value.ts";
import { readXmlPlist, writeXmlPlist } from "./xml-plist.ts";

const text = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: fc.constantFrom(..."\"'\\;{}()<>=,/ \n\t\r\u0001\u007f日é🙂&") }),
  fc.constantFrom("", " ", "__proto__", "constructor", "a b", "UIKitApplication:x[1]", "]]>", "<!--"),
);
const leaf = fc.oneof(
  text,
  fc.boolean(),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n }),
  fc.double({ noNaN: true }).map((value) => (Object.is(value, -0) ? 0 : value)),
  fc.uint8Array({ maxLength: 20 }),
  fc
    .date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true })
    .map((date) => new Date(Math.floor(date.getTime() / 1000) * 1000)),
);
/** Property lists of any shape, their leaves drawn from `leaves`. */
function lists(leaves: fc.Arbitrary<PlistValue>): fc.Arbitrary<PlistValue> {
  return fc.letrec<{ value: PlistValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      leaves,
      fc.array(tie("value"), { maxLength: 4 }),
      fc.array(fc.tuple(text, tie("value")), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
    ),
  })).value;
}

test("any property list comes back from XML as it was written", () => {
  fc.assert(
    fc.property(lists(leaf), (value) => {
      expect(readXmlPlist(writeXmlPlist(value))).toEqual(value);
    }),
    { numRuns: 500 },
  );
});

test("any list of strings and data comes back from the old form as it was written", async () => {
  // The library refuses the key __proto__; a device's listing has none.
  const strings = lists(fc.oneof(text, fc.uint8Array({ maxLength: 20 }))).filter(
    (value) => !JSON.stringify(value).includes("__proto__"),
  );
  await fc.assert(
    fc.asyncProperty(strings, async (value) => {
      expect(await readPlist(Buffer.from(`${openstep(value)}\n`))).toEqual(value);
    }),
    { numRuns: 300 },
  );
});

test("XML of other writers is read: comments, CDATA, references, a byte order mark, empty elements", () => {
  const xml = `\uFEFF<?xml version="1.0"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- one --><plist version="1.0"><dict>
  <key>a</key><string><![CDATA[<b> & ]]>c &lt;&#233;&#x1F642;&quot;</string>
  <key>t</key><true></true><key>e</key><string/><key>d</key><dict/><key>l</key><array></array>
  <key>i</key><integer> -7 </integer><key>x</key><data> AA
 == </data>
</dict></plist>`;
  expect(readXmlPlist(xml)).toEqual({
    a: '<b> & c <é🙂"',
    t: true,
    e: "",
    d: {},
    l: [],
    i: -7n,
    x: new Uint8Array([0]),
  });
});

test.each([
  ["nothing", ""],
  ["no plist", "<dict/>"],
  ["a value without a key", "<plist><dict><string>a</string></dict></plist>"],
  ["a key without a value", "<plist><dict><key>a</key></dict></plist>"],
  ["two values", "<plist><true/><true/></plist>"],
  ["an element that is none", "<plist><set/></plist>"],
  ["a cut file", "<plist><array><string>a</string>"],
  ["a wrong number", "<plist><integer>seven</integer></plist>"],
  ["an unknown entity", "<plist><string>&nbsp;</string></plist>"],
])("a broken list is refused: %s", (_, xml) => {
  expect(() => readXmlPlist(xml)).toThrow(Error);
});

test.each([
  ["punctuation of the form itself", '{ a = "x;{}()=,"; }', { a: "x;{}()=," }],
  ["escapes of four kinds", String.raw`{ a = "caf\U00e9 \Ud83d\Ude42\t\"q\"\\\101"; }`, { a: 'café 🙂\t"q"\\A' }],
  ["line breaks and tabs as they are", '{ a = "one\n\ttwo"; }', { a: "one\n\ttwo" }],
  ["single quotes around double ones", `{ a = 'x"y'; }`, { a: 'x"y' }],
  ["bare words with dots and slashes", "{ com.acme.demo = /a/b-c:d; }", { "com.acme.demo": "/a/b-c:d" }],
  ["data, written out and described", "{ a = <0a 0B>; b = {length = 2, bytes = 0x0a0b}; }", { a: ab(), b: ab() }],
  [
    "a long description of data",
    "{ a = {length = 99, bytes = 0x0a ... 0b}; }",
    { a: "{length = 99, bytes = 0x0a ... 0b}" },
  ],
  ["no members and no items", "{ a = {\n}; b = (\n); }", { a: {}, b: [] }],
])("the old form is read: %s", async (_, source, value) => {
  expect(await readPlist(Buffer.from(source))).toEqual(value);
});

function ab(): Uint8Array {
  return new Uint8Array([0x0a, 0x0b]);
}
