import { expect, test } from "vitest";
import { SimlockError } from "../contract/index.ts";
import { RecordingSlot } from "./recording-slot.ts";

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof SimlockError) return error.code;
    throw error;
  }
  return "granted";
}

test("one at a time, in the order of asking", async () => {
  const slot = new RecordingSlot();
  const order: string[] = [];
  const first = await slot.take({ timeoutMs: 1000 });
  const second = slot.take({ timeoutMs: 10_000 }).then((release) => {
    order.push("second");
    return release;
  });
  const third = slot.take({ timeoutMs: 10_000 }).then((release) => {
    order.push("third");
    return release;
  });
  await Promise.resolve();
  expect(order).toEqual([]);
  first();
  first();
  const release = await second;
  expect(order).toEqual(["second"]);
  release();
  (await third)();
  expect(order).toEqual(["second", "third"]);
  expect(await codeOf(slot.take({ timeoutMs: 1 }))).toBe("granted");
});

test("waiting is bounded, and whoever gave up is not granted later", async () => {
  const slot = new RecordingSlot();
  const release = await slot.take({ timeoutMs: 1000 });
  expect(await codeOf(slot.take({ timeoutMs: 20 }))).toBe("EXEC_BUSY");
  const abort = new AbortController();
  const waiting = slot.take({ timeoutMs: 10_000, signal: abort.signal });
  abort.abort();
  expect(await codeOf(waiting)).toBe("EXEC_CANCELLED");
  release();
  expect(await codeOf(slot.take({ timeoutMs: 1 }))).toBe("granted");
});

test("the queue has an end", async () => {
  const slot = new RecordingSlot();
  await slot.take({ timeoutMs: 1000 });
  const abort = new AbortController();
  const waiting = Array.from({ length: 64 }, () => slot.take({ timeoutMs: 10_000, signal: abort.signal }));
  expect(await codeOf(slot.take({ timeoutMs: 10_000 }))).toBe("EXEC_BUSY");
  abort.abort();
  expect(new Set(await Promise.all(waiting.map(codeOf)))).toEqual(new Set(["EXEC_CANCELLED"]));
});
