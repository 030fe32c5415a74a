import { expect, test } from "vitest";
import { paintFor, plain } from "./paint.ts";
import { safe, table } from "./table.ts";

test("columns line up, coloured or not, and nothing trails", () => {
  const colours = paintFor({ isTTY: true }, {});
  const rows = (paint: typeof plain) =>
    table(
      ["A", "B", "C"],
      [
        ["long cell", paint("red", "x"), "1"],
        ["s", "yy", ""],
      ],
      plain,
    );
  expect(rows(plain)).toEqual(["  A          B   C", "  long cell  x   1", "  s          yy"]);
  expect(rows(colours)[1]?.replaceAll("\u001b[31m", "").replaceAll("\u001b[39m", "")).toBe("  long cell  x   1");
});

test("colours are for terminals, and for nobody who said no", () => {
  expect(paintFor({ isTTY: true }, {})("red", "x")).toBe("\u001b[31mx\u001b[39m");
  expect(paintFor({ isTTY: false }, {})("red", "x")).toBe("x");
  expect(paintFor({}, {})("red", "x")).toBe("x");
  expect(paintFor({ isTTY: true }, { NO_COLOR: "1" })("red", "x")).toBe("x");
  expect(paintFor({ isTTY: true }, { TERM: "dumb" })("red", "x")).toBe("x");
});

test("control and bidirectional characters are shown as a question mark, letters of any script are kept", () => {
  expect(safe("a\u001b[31mb\nc\u009bd\u202ee\u2066f")).toBe("a?[31mb?c?d?e?f");
  expect(safe("Télé 电话 iPhone")).toBe("Télé 电话 iPhone");
});
