import fc from "fast-check";
import { expect, test } from "vitest";
import { writeXmlPlist } from "../../plist/index.ts";
import type { PlistValue } from "../../plist/index.ts";
import type { JsonValue } from "../types.ts";
import { checkDomain, domainOf, localizationOf, preferencesOf, saysMissing } from "./preferences.ts";

const EXPORTED = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>badge</key>
	<data>
	AQID
	</data>
	<key>big</key>
	<integer>18446744073709551615</integer>
	<key>count</key>
	<integer>3</integer>
	<key>installed</key>
	<date>2026-09-01T10:00:00Z</date>
	<key>limit</key>
	<real>nan</real>
	<key>nested</key>
	<dict>
		<key>list; {x}</key>
		<array>
			<true/>
			<integer>-1</integer>
			<real>1.5</real>
			<string>  spaces &amp; "quotes" é </string>
		</array>
	</dict>
	<key>ratio</key>
	<real>0.25</real>
	<key>whole</key>
	<real>2</real>
</dict>
</plist>
`;

test("an exported domain keeps its types; what JSON has no form for says so", () => {
  expect(preferencesOf("com.acme.demo", domainOf(EXPORTED))).toEqual(
    [
      ["badge", { $data: "AQID" }],
      ["big", { $integer: "18446744073709551615" }],
      ["count", 3],
      ["installed", { $date: "2026-09-01T10:00:00.000Z" }],
      ["limit", { $real: "nan" }],
      ["nested", { "list; {x}": [true, -1, 1.5, '  spaces & "quotes" é '] }],
      ["ratio", 0.25],
      ["whole", 2],
    ].map(([key, value]) => ({ domain: "com.acme.demo", key, value })),
  );
});

/** A value of JSON as far as a document may ask for one, and the list that holds it. */
const values: fc.Arbitrary<readonly [JsonValue, PlistValue]> = fc.letrec<{ value: readonly [JsonValue, PlistValue] }>(
  (tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.string({ unit: "grapheme" }).map((text) => [text, text] as const),
      fc.boolean().map((flag) => [flag, flag] as const),
      fc.maxSafeInteger().map((number) => [number, BigInt(number)] as const),
      fc
        .double({ noNaN: true, noDefaultInfinity: true })
        .map((number) => (Object.is(number, -0) ? 0 : number))
        .map((number) => [number, number] as const),
      fc
        .array(tie("value"), { maxLength: 4 })
        .map((items) => [items.map(([a]) => a), items.map(([, b]) => b)] as const),
      fc
        .array(fc.tuple(fc.string({ unit: "grapheme" }), tie("value")), { maxLength: 4 })
        .map(
          (entries) =>
            [
              Object.fromEntries(entries.map(([key, [a]]) => [key, a])),
              Object.fromEntries(entries.map(([key, [, b]]) => [key, b])),
            ] as const,
        ),
    ),
  }),
).value;

test("any value that JSON has a form for is read as that", () => {
  fc.assert(
    fc.property(values, ([json, value]) => {
      expect(preferencesOf("d", domainOf(writeXmlPlist({ key: value })))).toEqual([
        { domain: "d", key: "key", value: json },
      ]);
    }),
    { numRuns: 300 },
  );
});

test("what is no dictionary is refused", () => {
  expect(() => domainOf("")).toThrow(Error);
  expect(() => domainOf("<plist><array/></plist>")).toThrow("not a dictionary");
});

test("a domain that nobody wrote to is told from a failure", () => {
  expect(saysMissing("2026-09-01 defaults[9:1] \nThe domain com.acme.demo does not exist\n")).toBe(true);
  expect(saysMissing("Could not connect to cfprefsd\n")).toBe(false);
});

test("language and region are the global domain's", () => {
  const values = {
    AppleLanguages: ["de-DE", "en"],
    AppleLocale: "de_DE",
    AppleTimeZone: "Europe/Berlin",
    AppleICUForce24HourTime: 1n,
  };
  expect(localizationOf(values)).toEqual({
    languages: ["de-DE", "en"],
    locale: "de_DE",
    timeZone: "Europe/Berlin",
    use24HourClock: true,
  });
  expect(localizationOf({ AppleLocale: 7n, AppleLanguages: [true], AppleICUForce24HourTime: "yes" })).toEqual({});
});

test.each(["", "-g", "~/x", "/etc/x", "a/b", "a\nb", "x".repeat(256)])("%j is no domain to read", (domain) => {
  expect(() => checkDomain(domain)).toThrow(expect.objectContaining({ code: "BAD_REQUEST" }));
});
