import { expect, test } from "vitest";
import { Slots } from "./slots.ts";

function work() {
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const job = (id: number) => () =>
    new Promise<number>((resolve) => {
      begun.push(id);
      ends[id] = () => resolve(id);
    });
  return { begun, end: (id: number) => ends[id]?.(), job };
}

/** Lets everything that is ready to run, run. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("at most the limit runs, the rest follows in order of arrival", async () => {
  const slots = new Slots(2, 10);
  const { begun, end, job } = work();
  const all = [0, 1, 2, 3].map((id) => slots.run(undefined, job(id)));
  await settle();
  expect(begun).toEqual([0, 1]);
  end(1);
  await settle();
  expect(begun).toEqual([0, 1, 2]);
  end(0);
  end(2);
  await settle();
  expect(begun).toEqual([0, 1, 2, 3]);
  end(3);
  expect(await Promise.all(all)).toEqual([0, 1, 2, 3]);
});

test("work that fails gives its slot back", async () => {
  const slots = new Slots(1, 10);
  await expect(slots.run(undefined, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await slots.run(undefined, async () => "next")).toBe("next");
});

test("a wait that is aborted leaves the queue and never runs", async () => {
  const slots = new Slots(1, 10);
  const { begun, end, job } = work();
  const first = slots.run(undefined, job(0));
  const leaving = new AbortController();
  const second = slots.run(leaving.signal, job(1));
  const third = slots.run(undefined, job(2));
  leaving.abort(new Error("left"));
  await expect(second).rejects.toThrow("left");
  end(0);
  await settle();
  expect(begun).toEqual([0, 2]);
  end(2);
  await Promise.all([first, third]);
});

test("a full queue refuses", async () => {
  const slots = new Slots(1, 1);
  const { end, job } = work();
  const running = [slots.run(undefined, job(0)), slots.run(undefined, job(1))];
  await expect(slots.run(undefined, job(2))).rejects.toMatchObject({ code: "TOOL_FAILED" });
  end(0);
  await settle();
  end(1);
  await Promise.all(running);
});
