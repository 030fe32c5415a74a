import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SimlockError } from "../contract/index.ts";
import { agoOf, parseDuration, spanOf, untilOf } from "./duration.ts";

describe("parsing a length of time", () => {
  test.each([
    ["250ms", 250],
    ["90s", 90_000],
    ["15m", 900_000],
    ["1h30m", 5_400_000],
    ["1.5h", 5_400_000],
    ["2d", 172_800_000],
    ["1m500ms", 60_500],
  ])("%s is %i ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each(["", "30", "s", "-5s", "5 s", "5x", "5s!", "1e3s", "0s", "0.1ms", "25d", "١s", "5S"])(
    "%j is refused",
    (text) => {
      expect(() => parseDuration(text)).toThrow(SimlockError);
    },
  );

  test("a length of time of two units is told and read back exactly", () => {
    const units = [
      [86_400_000, 24, 3_600_000],
      [3_600_000, 60, 60_000],
      [60_000, 60, 1000],
    ] as const;
    fc.assert(
      fc.property(
        fc.constantFrom(...units),
        fc.integer({ min: 1, max: 23 }),
        fc.nat(),
        ([large, parts, small], whole, rest) => {
          const ms = whole * large + (rest % parts) * small;
          expect(parseDuration(spanOf(ms).replaceAll(" ", ""))).toBe(ms);
        },
      ),
    );
  });
});

describe("telling a length of time", () => {
  test.each([
    [0, "0ms"],
    [999, "999ms"],
    [1000, "1s"],
    [59_600, "1m"],
    [61_000, "1m 1s"],
    [3_600_000, "1h"],
    [3_661_000, "1h 1m"],
    [90_000_000, "1d 1h"],
    [86_401_000, "1d"],
  ])("%i ms is %s", (ms, text) => {
    expect(spanOf(ms)).toBe(text);
  });

  test("past and future", () => {
    expect(agoOf(1000, 1500)).toBe("just now");
    expect(agoOf(0, 180_000)).toBe("3m ago");
    expect(untilOf(180_000, 0)).toBe("in 3m");
    expect(untilOf(0, 1)).toBe("overdue");
  });
});
