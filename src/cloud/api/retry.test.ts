import fc from "fast-check";
import { expect, test } from "vitest";
import { DEFAULT_LIMITS } from "./limits.ts";
import { delayBeforeRetry, readRetryAfter } from "./retry.ts";

const failure = fc.oneof(
  fc.record({
    kind: fc.constant("status" as const),
    status: fc.integer({ min: 300, max: 599 }),
    retryAfterMs: fc.option(fc.nat(100_000), { nil: undefined }),
  }),
  fc.constant({ kind: "connection" as const }),
  fc.constant({ kind: "answer" as const }),
);

test("no wait is longer than the limits, and there are never more attempts than allowed", () => {
  const longest = Math.max(DEFAULT_LIMITS.maxBackoffMs, DEFAULT_LIMITS.retryAfterMs);
  fc.assert(
    fc.property(
      failure,
      fc.integer({ min: 1, max: 50 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (what, attempt, random) => {
        const delay = delayBeforeRetry(what, attempt, { ...DEFAULT_LIMITS, attempts: 40 }, random);
        if (attempt >= 40) expect(delay).toBeUndefined();
        if (delay !== undefined) expect(delay).toBeLessThanOrEqual(longest);
      },
    ),
  );
});

test("an answer that is none, a conflict or a refusal does not pass by itself", () => {
  const after = (status: number) =>
    delayBeforeRetry({ kind: "status", status, retryAfterMs: undefined }, 1, DEFAULT_LIMITS, 0);
  expect([400, 401, 402, 404, 409, 418, 501].map(after)).toEqual(Array(7).fill(undefined));
  expect([408, 429, 500, 502, 503, 504].map(after)).toEqual(Array(6).fill(250));
  expect(delayBeforeRetry({ kind: "answer" }, 1, DEFAULT_LIMITS, 0)).toBeUndefined();
});

test("Retry-After is read as seconds or as a date", () => {
  const now = Date.parse("2026-03-01T09:00:00Z");
  expect(readRetryAfter("7", now)).toBe(7000);
  expect(readRetryAfter("Sun, 01 Mar 2026 09:00:30 GMT", now)).toBe(30_000);
  expect(readRetryAfter("Sun, 01 Mar 2026 08:00:00 GMT", now)).toBe(0);
  expect(readRetryAfter("soon", now)).toBeUndefined();
  expect(readRetryAfter(undefined, now)).toBeUndefined();
});
