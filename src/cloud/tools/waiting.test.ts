import { expect, test } from "vitest";
import { BackendError } from "../backend/errors.ts";
import { screen } from "./backend.fixture.ts";
import { fastClock, toolsetForTest } from "./toolset.fixture.ts";

/** Answers one after another; the last stays. */
function inTurn<T>(...answers: readonly T[]): () => T {
  let next = 0;
  return () => {
    const answer = answers[Math.min(next, answers.length - 1)] as T;
    next += 1;
    if (answer instanceof Error) throw answer;
    return answer;
  };
}

const timeout = new BackendError("timeout", "Not ready in time.");

test("wait_ready goes on when the platform's own limit is over, and tells how it stands", async () => {
  const { call, progress } = toolsetForTest({
    answers: {
      waitDeviceReady: inTurn<unknown>(timeout, timeout, undefined),
      getDevice: inTurn({ id: "d1", state: "creating" }, { id: "d1", state: "assigned" }, { id: "d1", state: "ready" }),
    },
  });
  expect(await call("manage_device", { operation: "wait_ready", deviceId: "d1" })).toMatchObject({
    kind: "ok",
    structured: { id: "d1", state: "ready" },
  });
  expect(progress.map(({ message }) => message)).toEqual(["Device d1 is creating.", "Device d1 is assigned."]);
});

test("wait_ready ends at its bound, and at once for a device that will never be ready", async () => {
  const waiting = toolsetForTest({
    answers: { waitDeviceReady: inTurn(timeout), getDevice: inTurn({ id: "d1", state: "creating" }) },
  });
  const input = { operation: "wait_ready", deviceId: "d1", waitSeconds: 5 };
  expect(await waiting.call("manage_device", input)).toMatchObject({
    kind: "error",
    failure: { code: "timeout", message: "Device d1 is creating after 5 s." },
  });
  const gone = toolsetForTest({ answers: { getDevice: inTurn({ id: "d1", state: "terminated" }) } });
  expect(await gone.call("manage_device", input)).toMatchObject({ failure: { code: "conflict" } });
});

test("a wait whose length nobody chose is over before a server gives up on the call, unless progress is heard", async () => {
  const waited = async (tool: string, input: Record<string, unknown>, unheard: boolean) => {
    const clock = fastClock();
    const { call } = toolsetForTest({
      unheard,
      context: { clock },
      answers: {
        waitDeviceReady: inTurn(timeout),
        getDevice: inTurn({ id: "d1", state: "creating" }),
        listInstalls: inTurn([]),
      },
    });
    await call(tool, { deviceId: "d1", ...input });
    return clock.now() / 1000;
  };
  const install = { operation: "install", packageName: "com.example.notes" };
  for (const [tool, input] of [
    ["manage_device", { operation: "wait_ready" }],
    ["manage_device_apps", install],
  ] as const) {
    expect([tool, await waited(tool, input, true)]).toEqual([tool, 45]);
    expect(await waited(tool, input, false)).toBeGreaterThanOrEqual(180);
    expect(await waited(tool, { ...input, waitSeconds: 300 }, true)).toBe(300);
  }
});

test("where the server gives up after a while, a wait of which nobody hears ends before, however long it was to be", async () => {
  const waited = async (tool: string, input: Record<string, unknown>, how: object) => {
    const clock = fastClock();
    const answers = {
      waitDeviceReady: inTurn(timeout),
      getDevice: inTurn({ id: "d1", state: "creating" }),
      getTaskStatus: inTurn({ taskId: "t1", status: "running" }),
    };
    const outcome = await toolsetForTest({ context: { clock }, answers, ...how }).call(tool, input);
    return { seconds: clock.now() / 1000, outcome };
  };
  const ready = { operation: "wait_ready", deviceId: "d1" };
  const short = await waited("manage_device", ready, { unheard: true, answerWithinMs: 20_000 });
  expect(short).toMatchObject({ seconds: 15, outcome: { failure: { message: "Device d1 is creating after 15 s." } } });
  for (const [tool, input] of [
    ["manage_device", { ...ready, waitSeconds: 300 }],
    ["get_task", { view: "status", taskId: "t1", waitSeconds: 300 }],
  ] as const) {
    expect((await waited(tool, input, { unheard: true, answerWithinMs: 60_000 })).seconds).toBe(45);
    expect((await waited(tool, input, { answerWithinMs: 60_000 })).seconds).toBe(300);
  }
});

test("an error of the platform ends a wait", async () => {
  const { call } = toolsetForTest({ answers: { waitDeviceReady: inTurn(new BackendError("forbidden", "No.")) } });
  expect(await call("manage_device", { operation: "wait_ready", deviceId: "d1" })).toMatchObject({
    failure: { code: "forbidden" },
  });
});

test("a cancelled call stops waiting and leaves the task running", async () => {
  const end = new AbortController();
  const clock = { ...fastClock(), sleep: async () => end.abort() };
  const { call, calls } = toolsetForTest({
    signal: end.signal,
    context: { clock },
    answers: { getTaskStatus: inTurn({ status: "running" }) },
  });
  const outcome = await call("run_task", { deviceId: "d1", task: "Open Notes", waitSeconds: 60 });
  expect(outcome).toMatchObject({ kind: "error", failure: { code: "cancelled" } });
  expect(calls.map(({ method }) => method)).not.toContain("tasks.stopTask");
});

test("run_task with a wait tells the outcome, and without one returns at once", async () => {
  const answers = {
    runTask: inTurn({ id: "t1", status: "created" }),
    getTaskStatus: inTurn(
      { status: "running", steps: 1 },
      { status: "running", steps: 2 },
      { status: "completed", steps: 3, succeeded: true, message: "Added", output: { added: true } },
    ),
  };
  const waited = toolsetForTest({ answers });
  expect(await waited.call("run_task", { deviceId: "d1", task: "Add milk", waitSeconds: 30 })).toMatchObject({
    structured: { id: "t1", status: "completed", finished: true, succeeded: true, steps: 3, output: { added: true } },
  });
  expect(waited.progress.map(({ message }) => message)).toEqual(["Task t1 is running, step 2."]);
  const quick = toolsetForTest({ answers });
  expect(await quick.call("run_task", { deviceId: "d1", task: "Add milk" })).toMatchObject({
    structured: { id: "t1", status: "created" },
  });
  expect(quick.calls).toHaveLength(1);
});

test("a task that outlasts the wait is said to be unfinished", async () => {
  const { call } = toolsetForTest({ answers: { getTaskStatus: inTurn({ status: "running", steps: 4 }) } });
  expect(await call("run_task", { deviceId: "d1", task: "Long", waitSeconds: 10 })).toMatchObject({
    structured: { status: "running", finished: false, steps: 4 },
  });
});

const running = { appId: "com.example.notes", status: "running", startedAt: "2" };
const old = { appId: "com.example.notes", status: "failed", startedAt: "1" };

test("install waits for its own record, not for one of before", async () => {
  const { call, calls } = toolsetForTest({
    answers: { listInstalls: inTurn([old], [old], [old, running], [old, { ...running, status: "succeeded" }]) },
  });
  expect(
    await call("manage_device_apps", { operation: "install", deviceId: "d1", packageName: "com.example.notes" }),
  ).toMatchObject({ structured: { status: "installed", packageName: "com.example.notes" } });
  expect(calls[1]).toEqual({
    method: "deviceControl.installApp",
    args: ["d1", { packageName: "com.example.notes", background: true }],
  });
});

test("an install that fails says why; one that outlasts the wait is only requested", async () => {
  const input = { operation: "install", deviceId: "d1", packageName: "com.example.notes", waitSeconds: 20 };
  const failing = toolsetForTest({
    answers: { listInstalls: inTurn([], [{ ...running, status: "failed", errorClass: "download_failed" }]) },
  });
  expect(await failing.call("manage_device_apps", input)).toMatchObject({
    failure: { code: "upstream_error", message: "com.example.notes was not installed: download_failed." },
  });
  const slow = toolsetForTest({ answers: { listInstalls: inTurn([], [running]) } });
  expect(await slow.call("manage_device_apps", input)).toMatchObject({ structured: { status: "install_requested" } });
});

test("a platform without install records installs before it answers", async () => {
  const { call, calls } = toolsetForTest({ answers: { listInstalls: inTurn(new BackendError("not_found", "No.")) } });
  const input = { operation: "install", deviceId: "d1", packageName: "com.example.notes" };
  expect(await call("manage_device_apps", input)).toMatchObject({ structured: { status: "installed" } });
  expect(calls[1]?.args[1]).toMatchObject({ background: false });
});

const empty = { ...screen, a11y_tree: { ...screen.a11y_tree, children: [] } };
const twice = {
  ...screen,
  a11y_tree: { ...screen.a11y_tree, children: [0, 1].map(() => screen.a11y_tree.children[0]) },
};

test("the screen is read until an element is there, or the time is over", async () => {
  const input = { deviceId: "d1", contains: "save", waitSeconds: 5 };
  const late = toolsetForTest({ answers: { getDeviceUiState: inTurn(empty, empty, screen) } });
  expect(await late.call("get_device_ui_state", input)).toMatchObject({ structured: { total: 1 } });
  expect(late.calls).toHaveLength(3);
  const never = toolsetForTest({ answers: { getDeviceUiState: inTurn(empty) } });
  expect(await never.call("get_device_ui_state", input)).toMatchObject({ structured: { total: 0, nodes: [] } });
  expect(never.calls.length).toBeLessThan(10);
});

test("tap_element taps one element or none", async () => {
  const input = { operation: "tap_element", deviceId: "d1", contains: "save" };
  const ambiguous = toolsetForTest({ answers: { getDeviceUiState: inTurn(twice) } });
  expect(await ambiguous.call("device_action", input)).toMatchObject({
    failure: { code: "conflict", message: expect.stringContaining("2 elements match; none was tapped") },
  });
  expect(ambiguous.calls.map(({ method }) => method)).toEqual(["devices.getDeviceUiState"]);
  expect(await ambiguous.call("device_action", { ...input, index: 1 })).toMatchObject({
    structured: { status: "ok", tapped: { t: "Save", xy: [50, 25] } },
  });
  const missing = toolsetForTest({ answers: { getDeviceUiState: inTurn(empty) } });
  expect(await missing.call("device_action", { ...input, waitSeconds: 3 })).toMatchObject({
    failure: { code: "not_found" },
  });
  expect(missing.calls.map(({ method }) => method)).not.toContain("deviceControl.tap");
});
