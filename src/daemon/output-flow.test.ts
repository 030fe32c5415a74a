import { expect, test } from "vitest";
import { INITIAL_OUTPUT_CREDIT } from "../contract/index.ts";
import type { Peer } from "./call.ts";
import { OutputFlow } from "./output-flow.ts";

function peer() {
  const chunks: string[] = [];
  const gone: (() => void)[] = [];
  let room: PromiseWithResolvers<void> | undefined;
  let left = false;
  return {
    chunks,
    principal: "a",
    role: "agent",
    local: true,
    get gone() {
      return left;
    },
    onGone(listener: () => void) {
      gone.push(listener);
      return () => undefined;
    },
    push: (_: string, payload: object) => void chunks.push("chunk" in payload ? String(payload.chunk) : ""),
    room: () => room?.promise,
    fill: () => (room = Promise.withResolvers<void>()),
    empty() {
      const full = room;
      room = undefined;
      full?.resolve();
    },
    leave() {
      left = true;
      for (const listener of gone) listener();
    },
  } satisfies Peer & Record<string, unknown>;
}

const isHeld = async (promise: void | Promise<void>): Promise<boolean> => {
  if (promise === undefined) return false;
  let settled = false;
  void promise.then(() => (settled = true));
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  return !settled;
};
const flood = "x".repeat(INITIAL_OUTPUT_CREDIT);

test("within its credit nothing is held; beyond it both streams are, until there is credit for more", async () => {
  const to = peer();
  const flow = new OutputFlow(to, 1);
  expect(flow.push("stdout", "hello")).toBeUndefined();
  const held = [flow.push("stdout", flood), flow.push("stderr", "more")];
  expect(await Promise.all(held.map(isHeld))).toEqual([true, true]);
  flow.credit(5);
  expect(await Promise.all(held.map(isHeld))).toEqual([true, true]);
  flow.credit(10);
  expect(await Promise.all(held.map(isHeld))).toEqual([false, false]);
  expect(to.chunks).toEqual(["hello", flood, "more"]);
});

test("a connection that is full holds it, whatever the credit", async () => {
  const to = peer();
  const flow = new OutputFlow(to, 1);
  to.fill();
  const held = flow.push("stdout", "x");
  flow.credit(1000);
  expect(await isHeld(held)).toBe(true);
  to.empty();
  expect(await isHeld(held)).toBe(false);
});

test("a caller that goes away, or a run that is over, holds nothing any more and gets nothing more", async () => {
  for (const end of ["leave", "end"] as const) {
    const to = peer();
    const flow = new OutputFlow(to, 1);
    to.fill();
    const held = flow.push("stdout", flood);
    expect(await isHeld(held)).toBe(true);
    if (end === "leave") to.leave();
    else flow.end();
    expect(await isHeld(held)).toBe(false);
    expect(flow.push("stdout", "late")).toBeUndefined();
    expect(to.chunks).toEqual([flood]);
  }
});
