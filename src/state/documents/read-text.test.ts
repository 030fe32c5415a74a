import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { refusalOf } from "./documents.fixture.ts";
import { readDocumentText } from "./read-text.ts";

const read = (text: string) => readDocumentText(text, "profile");

describe("a document's text", () => {
  test("may be JSON, indented as anyone likes", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.jsonValue({ noUnicodeString: false, maxDepth: 4 }),
        fc.constantFrom("", "  ", "\t"),
        async (value, indent) => {
          const text = JSON.stringify(value, undefined, indent);
          expect(await read(text)).toEqual(JSON.parse(text));
        },
      ),
    );
  });

  test("in YAML keeps as text what is one: times, networks, no and yes", async () => {
    expect(await read("time: 09:41\nnetwork: 3g\nlocale: no\nyes: on\n12: x\n")).toEqual({
      time: "09:41",
      network: "3g",
      locale: "no",
      yes: "on",
      "12": "x",
    });
  });

  test("may have a whole number of any size that can be kept", async () => {
    expect(await read("[-9007199254740992, 1152921504606847000, +5]")).toEqual([-9007199254740992, 2 ** 60, 5]);
  });

  test("may have anchors", async () => {
    expect(await read("a: &x [1, 2]\nb: *x\n")).toEqual({ a: [1, 2], b: [1, 2] });
  });

  test.each([
    [
      "a key that stands twice in JSON",
      '{"power": "booted", "power": "shutdown"}',
      "line 1, column 21: this key stands there twice",
    ],
    ["a key that stands twice in YAML", "a: 1\nb: 2\na: 3\n", "line 3, column 1: this key"],
    ["two documents", "a: 1\n---\nb: 2\n", "second document"],
    ["a tag", "a: !!binary aGk=\n", "tags are not known"],
    ["a key that is no text", "? [a]\n: 1\n", "a key must be a text"],
    ["text that breaks off", '{"a": [1', "line 1"],
    [
      "a number that can't be kept",
      '{"spec": {"n": [0, 9007199254740993]}}',
      "/spec/n/1: is a whole number that can't be kept exactly",
    ],
    ["an alias for nothing", "a: *b\n", "aliases"],
    ["too much text", " ".repeat(8 * 1024 * 1024 + 1), "characters long"],
    ["nesting without end", "[".repeat(20_000), "nested too deep"],
  ])("is refused with %s", async (_what, text, says) => {
    expect((await refusalOf(read(text))).message).toContain(says);
  });

  test("is refused where its aliases multiply", async () => {
    const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
    for (let level = 1; level < 9; level += 1) {
      const alias = `*a${level - 1}`;
      lines.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => alias).join(", ")}]`);
    }
    expect((await refusalOf(read(lines.join("\n")))).message).toContain("aliases");
  });

  test("is not repeated in an error", async () => {
    const error = await refusalOf(read('token: "s3cret\nother: [s3cret'));
    expect(JSON.stringify(error.toWire())).not.toContain("s3cret");
  });
});
