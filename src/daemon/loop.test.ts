import { afterEach, describe, expect, test, vi } from "vitest";
import { SimlockError, type EventEnvelope } from "../contract/index.ts";
import type { Decision, Input, Notice, Reply } from "../leasing/index.ts";
import type { Call } from "./call.ts";
import { DecisionLoop, type LoopPorts } from "./loop.ts";

interface World {
  /** What happened, in order. */
  readonly trace: string[];
  readonly loop: DecisionLoop;
  readonly notices: Notice[];
  deadline: number | undefined;
  progress: readonly Notice[];
  failing: boolean;
  mono: number;
}

const EMPTY: Decision = { changes: [], events: [], replies: [], notices: [], effects: [] };
const removed = { table: "leases", key: "lse_1", row: undefined } as const;
const loops: DecisionLoop[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const loop of loops.splice(0)) loop.stop();
});

/** A loop whose decider answers each call with `done`, changes a row for a renewal, and tells what it saw. */
function world(): World {
  const trace: string[] = [];
  const notices: Notice[] = [];
  const replyOf = (input: Input): Reply[] =>
    "replyTo" in input ? [{ to: input.replyTo, answer: { kind: "done" } }] : [];
  const ports: LoopPorts = {
    decider: {
      decide(inputs) {
        trace.push(`decide ${inputs.map((input) => input.kind).join(",")}`);
        const writes = inputs.some((input) => input.kind === "renew");
        return {
          ...EMPTY,
          changes: writes ? [removed] : [],
          replies: inputs.filter((input) => input.kind !== "request").flatMap(replyOf),
        };
      },
      nextDeadline: () => it.deadline,
      queueProgress: () => it.progress,
    },
    store: {
      commit(changes): readonly EventEnvelope[] {
        if (it.failing) throw new Error("disk full");
        trace.push(`commit ${changes.length}`);
        return [];
      },
    },
    clock: { now: () => ({ wall: 1000, mono: it.mono }), stop: () => undefined },
    mint: (prefix) => `${prefix}_1`,
    outlet: {
      notice: (notice) => void notices.push(notice),
      committed: () => void trace.push("let out"),
      published: () => undefined,
    },
    fatal: () => void trace.push("fatal"),
  };
  const it: World = {
    trace,
    notices,
    loop: new DecisionLoop(ports),
    deadline: undefined,
    progress: [],
    failing: false,
    mono: 0,
  };
  loops.push(it.loop);
  return it;
}

const caller = { principal: "p", role: "agent" } as const;
const renew = (replyTo: number): Input => ({
  kind: "renew",
  replyTo,
  caller,
  leaseId: "lse_1" as Extract<Input, { kind: "renew" }>["leaseId"],
  ttlMs: undefined,
});

describe("inputs", () => {
  test("of one turn are decided and committed together, and answered after the commit", async () => {
    const { loop, trace } = world();
    const answers = [loop.ask(renew), loop.ask(renew)].map(async ({ answer }) =>
      answer.then(() => trace.push("answered")),
    );
    loop.submit({ kind: "tick" });
    await Promise.all(answers);
    expect(trace).toEqual(["decide renew,renew,tick", "commit 1", "let out", "answered", "answered"]);
  });

  test("that change nothing are not committed", async () => {
    const { loop, trace } = world();
    loop.submit({ kind: "tick" });
    await loop.settled();
    expect(trace).toEqual(["decide tick", "let out"]);
  });

  test("in their thousands are decided in batches, in order, and all are settled", async () => {
    const { loop, trace } = world();
    const answers = Array.from({ length: 1300 }, () => loop.ask(renew).answer);
    await loop.settled();
    await Promise.all(answers);
    expect(trace.filter((line) => line.startsWith("commit"))).toHaveLength(3);
  });
});

test("a commit that fails lets nothing out, and nothing after it is decided", async () => {
  const it = world();
  it.failing = true;
  let answered = false;
  const asked = it.loop.ask(renew);
  asked.answer.then(
    () => (answered = true),
    () => undefined,
  );
  await it.loop.settled();
  it.loop.submit({ kind: "tick" });
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  expect(it.trace).toEqual(["decide renew", "fatal"]);
  expect(answered).toBe(false);
});

test("a loop that was stopped answers those who wait, and those who come, DAEMON_STOPPING", async () => {
  const { loop } = world();
  const waiting = loop.ask((replyTo) => ({
    kind: "request",
    replyTo,
    caller,
    input: { platform: "ios" },
    boundTo: undefined,
  }));
  await loop.settled();
  loop.stop();
  await expect(waiting.answer).rejects.toMatchObject({ code: "DAEMON_STOPPING" });
  await expect(loop.ask(renew).answer).rejects.toBeInstanceOf(SimlockError);
});

test("only those who still wait are abandoned", async () => {
  const { loop, trace } = world();
  const waiting = loop.ask((replyTo) => ({
    kind: "request",
    replyTo,
    caller,
    input: { platform: "ios" },
    boundTo: undefined,
  }));
  const answered = loop.ask(renew);
  await answered.answer;
  trace.length = 0;
  loop.abandon([answered.replyTo]);
  await loop.settled();
  expect(trace).toEqual([]);
  loop.abandon([waiting.replyTo]);
  await loop.settled();
  expect(trace[0]).toBe("decide abandoned");
  await expect(waiting.answer).rejects.toMatchObject({ code: "CANCELLED" });
});

test("the timer ticks at the next deadline, and is moved when that moves", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const it = world();
  it.deadline = 500;
  it.loop.submit({ kind: "tick" });
  await it.loop.settled();
  await new Promise(setImmediate);
  it.deadline = 200;
  it.loop.submit({ kind: "tick" });
  await it.loop.settled();
  await new Promise(setImmediate);
  it.trace.length = 0;
  await vi.advanceTimersByTimeAsync(199);
  await it.loop.settled();
  expect(it.trace).toEqual([]);
  it.deadline = undefined;
  await vi.advanceTimersByTimeAsync(2);
  await it.loop.settled();
  expect(it.trace).toEqual(["decide tick", "let out"]);
});

test("places in the queue are told at once, then at most every 250 ms", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const it = world();
  const place: Notice = {
    kind: "progress",
    to: [1],
    requestId: "req_1" as Extract<Notice, { kind: "progress" }>["requestId"],
    progress: { stage: "queued", queuePosition: 1 },
  };
  it.progress = [place];
  for (let index = 0; index < 5; index++) await it.loop.ask(renew).answer;
  expect(it.notices).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(250);
  expect(it.notices).toHaveLength(2);
});

test("a notice finds the call that waits, until it is answered", async () => {
  const seen: (Call | undefined)[] = [];
  const call = { id: 1, peer: {} } as unknown as Call;
  const trace: string[] = [];
  const loop = new DecisionLoop({
    decider: {
      decide: (inputs) => ({
        ...EMPTY,
        notices: [
          { kind: "progress", to: [1], requestId: "req_1" as never, progress: { stage: "queued", queuePosition: 1 } },
        ],
        replies: inputs.flatMap((input) =>
          "replyTo" in input ? [{ to: input.replyTo, answer: { kind: "done" } as const }] : [],
        ),
      }),
      nextDeadline: () => undefined,
      queueProgress: () => [],
    },
    store: { commit: () => [] },
    clock: { now: () => ({ wall: 0, mono: 0 }), stop: () => undefined },
    mint: () => "",
    outlet: {
      notice: (_, originOf) => void seen.push(originOf(1)),
      committed: () => undefined,
      published: () => undefined,
    },
    fatal: () => void trace.push("fatal"),
  });
  loops.push(loop);
  await loop.ask(renew, call).answer;
  loop.submit({ kind: "tick" });
  await loop.settled();
  expect(seen).toEqual([call, undefined]);
});
