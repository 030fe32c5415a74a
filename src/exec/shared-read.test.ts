import { expect, test } from "vitest";
import { SharedRead } from "./shared-read.ts";

/** A reading whose end the test decides. */
function readings() {
  const open: { resolve: (value: number) => void; reject: (error: Error) => void; signal: AbortSignal }[] = [];
  const read = (signal: AbortSignal) =>
    new Promise<number>((resolve, reject) => {
      open.push({ resolve, reject, signal });
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  const at = async (index: number) => {
    for (let turn = 0; turn < 50; turn += 1) {
      const found = open[index];
      if (found !== undefined) return found;
      await Promise.resolve();
    }
    throw new Error(`reading ${index} never began`);
  };
  return { open, at, shared: new SharedRead(read) };
}

test("all who ask while a reading runs share it", async () => {
  const { open, at, shared } = readings();
  const askers = Array.from({ length: 20 }, () => shared.join());
  (await at(0)).resolve(7);
  expect(await Promise.all(askers)).toEqual(Array.from({ length: 20 }, () => 7));
  expect(open).toHaveLength(1);
});

test("a reading that has ended is not given to the next asker", async () => {
  const { at, shared } = readings();
  const first = shared.join();
  (await at(0)).resolve(1);
  await first;
  const second = shared.join();
  (await at(1)).resolve(2);
  expect(await second).toBe(2);
});

test("a fresh reading begins only after the question, and after the running one has ended", async () => {
  const { open, at, shared } = readings();
  const old = shared.join();
  await at(0);
  const fresh = [shared.fresh(), shared.fresh()];
  expect(open).toHaveLength(1);
  (await at(0)).resolve(1);
  (await at(1)).resolve(2);
  expect(await old).toBe(1);
  expect(await Promise.all(fresh)).toEqual([2, 2]);
  expect(open).toHaveLength(2);
});

test("a failed reading fails its askers and not those of the next", async () => {
  const { at, shared } = readings();
  const old = shared.join();
  await at(0);
  const fresh = shared.fresh();
  (await at(0)).reject(new Error("broken"));
  (await at(1)).resolve(2);
  await expect(old).rejects.toThrow("broken");
  expect(await fresh).toBe(2);
});

test("one asker that leaves does not end the reading of the others; the last one does", async () => {
  const { at, shared } = readings();
  const first = new AbortController();
  const second = new AbortController();
  const one = shared.join(first.signal);
  const other = shared.join(second.signal);
  const reading = await at(0);
  first.abort(new Error("first left"));
  await expect(one).rejects.toThrow("first left");
  expect(reading.signal.aborted).toBe(false);
  second.abort(new Error("second left"));
  await expect(other).rejects.toThrow("second left");
  expect(reading.signal.aborted).toBe(true);
});

test("whoever asks while a reading is being cancelled gets a new one", async () => {
  const open: AbortSignal[] = [];
  const gate = Promise.withResolvers<void>();
  const shared = new SharedRead<number>(async (signal) => {
    open.push(signal);
    if (open.length > 1) return 2;
    await gate.promise;
    throw signal.reason;
  });
  const only = new AbortController();
  const cancelled = shared.join(only.signal);
  await Promise.resolve();
  await Promise.resolve();
  only.abort(new Error("left"));
  const next = shared.join();
  await expect(cancelled).rejects.toThrow("left");
  gate.resolve();
  expect(await next).toBe(2);
});

test("a waiting fresh reading that nobody wants any more is never begun", async () => {
  const { open, at, shared } = readings();
  const old = shared.join();
  await at(0);
  const left = new AbortController();
  const fresh = shared.fresh(left.signal);
  left.abort(new Error("left"));
  await expect(fresh).rejects.toThrow("left");
  (await at(0)).resolve(1);
  await old;
  const next = shared.join();
  (await at(1)).resolve(3);
  expect(await next).toBe(3);
  expect(open).toHaveLength(2);
});

test("whoever asks after a waiting reading was given up gets another one", async () => {
  const { open, at, shared } = readings();
  const old = shared.join();
  await at(0);
  const left = new AbortController();
  const fresh = shared.fresh(left.signal);
  left.abort(new Error("left"));
  await expect(fresh).rejects.toThrow("left");
  const next = shared.fresh();
  (await at(0)).resolve(1);
  await old;
  (await at(1)).resolve(3);
  expect(await next).toBe(3);
  expect(open).toHaveLength(2);
});
