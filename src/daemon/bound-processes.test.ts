import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { BoundProcess, Input } from "../leasing/index.ts";
import { BoundProcesses } from "./bound-processes.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("processes are looked at only while something is bound to one, by pid and start", async () => {
  let bound: BoundProcess[] = [];
  const alive = new Set(["1 monday", "2 monday"]);
  const inputs: Input[] = [];
  const looked: string[] = [];
  const processes = new BoundProcesses({
    bound: () => bound,
    isAlive({ pid, startedAt }) {
      looked.push(`${pid} ${startedAt}`);
      return alive.has(`${pid} ${startedAt}`);
    },
    submit: (input) => void inputs.push(input),
  });
  processes.update();
  await vi.advanceTimersByTimeAsync(5000);
  expect(looked).toEqual([]);

  // The second pid lives on, as another process.
  bound = [
    { pid: 1, startedAt: "monday" },
    { pid: 2, startedAt: "sunday" },
  ];
  processes.update();
  await vi.advanceTimersByTimeAsync(1000);
  expect(inputs).toEqual([{ kind: "holder-gone", pid: 2, startedAt: "sunday" }]);

  bound = [];
  processes.update();
  looked.length = 0;
  await vi.advanceTimersByTimeAsync(5000);
  expect(looked).toEqual([]);
});
