import { expect, test } from "vitest";
import { MeasuredEstimates } from "./estimates.ts";

test("before anything was measured the estimates are those of a loaded Mac", () => {
  expect(new MeasuredEstimates().get()).toEqual({ provisionMs: 500, bootMs: 60_000, reclaimMs: 34_000 });
});

test("a measured step replaces the first guess, and the others keep it", () => {
  const estimates = new MeasuredEstimates();
  estimates.took("bootMs", 20_000);
  expect(estimates.get()).toEqual({ provisionMs: 500, bootMs: 30_000, reclaimMs: 34_000 });
});

test("the estimate lies above the average of what was measured", () => {
  const estimates = new MeasuredEstimates();
  for (let round = 0; round < 50; round += 1) estimates.took("bootMs", round % 2 === 0 ? 20_000 : 40_000);
  expect(estimates.get().bootMs).toBeGreaterThan(32_000);
  expect(estimates.get().bootMs).toBeLessThan(50_000);
});

test("it follows a host that gets slower, and stays within its bounds", () => {
  const estimates = new MeasuredEstimates();
  for (let round = 0; round < 50; round += 1) estimates.took("reclaimMs", 1);
  expect(estimates.get().reclaimMs).toBe(100);
  for (let round = 0; round < 50; round += 1) estimates.took("reclaimMs", 3_600_000);
  expect(estimates.get().reclaimMs).toBe(600_000);
});
