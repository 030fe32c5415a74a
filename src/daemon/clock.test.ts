import { expect, test } from "vitest";
import { createClock } from "./clock.ts";

test("a clock that counts sleep stands still over a gap, and runs on after it", () => {
  let at = 1000;
  const clock = createClock({ monotonic: () => at, sleepCounts: true });
  expect(clock.now().mono).toBe(1000);
  at += 2000;
  expect(clock.now().mono).toBe(3000);
  at += 3_600_000;
  expect(clock.now().mono).toBe(3000);
  at += 500;
  expect(clock.now().mono).toBe(3500);
  clock.stop();
});

test("a clock that does not count sleep is taken as it is", () => {
  let at = 0;
  const clock = createClock({ monotonic: () => at, sleepCounts: false });
  at = 3_600_000;
  expect(clock.now().mono).toBe(3_600_000);
});
