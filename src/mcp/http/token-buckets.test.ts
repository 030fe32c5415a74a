import fc from "fast-check";
import { expect, test } from "vitest";
import { TokenBuckets } from "./token-buckets.ts";

test("a bucket starts full, empties one by one, and says when there is a token again", () => {
  let now = 0;
  const buckets = new TokenBuckets(60, () => now);
  for (let taken = 0; taken < 60; taken += 1) expect(buckets.take("a")).toBeUndefined();
  expect(buckets.take("a")).toEqual({ retryAfterSeconds: 1 });
  expect(buckets.take("b")).toBeUndefined();
  now = 1_000;
  expect(buckets.take("a")).toBeUndefined();
  expect(buckets.take("a")).toEqual({ retryAfterSeconds: 1 });
});

test("waiting as long as it says is long enough, and never more than the limit passes in a burst", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 600 }), fc.array(fc.nat(90_000), { maxLength: 60 }), (limit, pauses) => {
      let now = 0;
      const buckets = new TokenBuckets(limit, () => now);
      let passed = 0;
      for (const pause of pauses) {
        now += pause;
        const refused = buckets.take("key");
        if (refused === undefined) passed += 1;
        else {
          now += refused.retryAfterSeconds * 1000;
          expect(buckets.take("key")).toBeUndefined();
          passed += 1;
        }
      }
      expect(passed).toBeLessThanOrEqual(limit + (now / 60_000) * limit + 1e-6);
    }),
  );
});

test("a clock that goes back takes nothing away", () => {
  let now = 10_000;
  const buckets = new TokenBuckets(2, () => now);
  buckets.take("a");
  now = 0;
  expect(buckets.take("a")).toBeUndefined();
  expect(buckets.take("a")).toEqual({ retryAfterSeconds: 30 });
});

test("keys that are made up fill no memory", () => {
  const buckets = new TokenBuckets(60, () => 0);
  for (let made = 0; made < 30_000; made += 1) buckets.take(`key-${made}`);
  expect(buckets.size).toBe(20_000);
});
