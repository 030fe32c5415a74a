import { expect, test } from "vitest";
import { SimlockError } from "../contract/index.ts";
import type { Call, Handlers } from "./call.ts";
import { createDispatcher, type DispatcherPorts } from "./dispatcher.ts";
import { Health } from "./health.ts";
import { createLog } from "./log.ts";

const call: Call = {
  id: 1,
  peer: {
    principal: "a",
    role: "agent",
    local: true,
    gone: false,
    onGone: () => () => undefined,
    push: () => undefined,
    room: () => undefined,
  },
};

function dispatcher(handlers: Partial<Handlers>, ports: Partial<DispatcherPorts> = {}) {
  const log: Record<string, unknown>[] = [];
  const health = new Health();
  const dispatch = createDispatcher({
    // Only what a test calls is there.
    handlers: handlers as Handlers,
    authorize: () => undefined,
    ready: () => health.ready(),
    log: createLog("debug", { write: (line) => void log.push(JSON.parse(line)) }).of("operations"),
    ...ports,
  });
  return { dispatch, log, health };
}

const code = (expected: string) => expect.objectContaining({ code: expected });

test("a fault is answered as INTERNAL, and its text is in the log alone", async () => {
  const { dispatch, log, health } = dispatcher({
    "lease.list": () => {
      throw new TypeError("undefined is not a function");
    },
  });
  health.run();
  const failure: unknown = await dispatch("lease.list", {}, call).catch((error: unknown) => error);
  expect(failure).toEqual(code("INTERNAL"));
  expect(failure instanceof SimlockError ? failure.message : "").not.toContain("undefined");
  expect(log).toEqual([
    expect.objectContaining({
      level: "error",
      code: "INTERNAL",
      error: expect.objectContaining({ message: "undefined is not a function" }),
    }),
  ]);
});

test("an answer is stripped to what the contract declares; one that is not what it says is a fault", async () => {
  const answers: unknown[] = [{ found: true, secret: "x" }, { found: "yes" }];
  const { dispatch, health } = dispatcher({ "call.cancel": () => answers.shift() as { found: boolean } });
  health.run();
  expect(await dispatch("call.cancel", { callId: 1 }, call)).toEqual({ found: true });
  await expect(dispatch("call.cancel", { callId: 1 }, call)).rejects.toEqual(code("INTERNAL"));
});

test("what is wrong with a call is said before it waits for the daemon to run", async () => {
  const { dispatch } = dispatcher(
    {},
    {
      authorize: (_, input) => {
        if (JSON.stringify(input).includes("theirs")) throw new SimlockError("FORBIDDEN", "not yours");
      },
    },
  );
  await expect(dispatch("nope", {}, call)).rejects.toEqual(code("UNKNOWN_REQUEST"));
  await expect(dispatch("hello", {}, call)).rejects.toEqual(code("UNKNOWN_REQUEST"));
  await expect(dispatch("lease.renew", {}, call)).rejects.toEqual(code("BAD_REQUEST"));
  await expect(dispatch("config.get", {}, call)).rejects.toEqual(code("FORBIDDEN"));
  await expect(dispatch("lease.renew", { leaseId: "theirs" }, call)).rejects.toEqual(code("FORBIDDEN"));
});

test("a start that fails fails every call that waited for it, with the reason", async () => {
  const { dispatch, health } = dispatcher({ "lease.list": () => ({ leases: [] }) });
  const waiting = dispatch("lease.list", {}, call);
  health.fail(new SimlockError("TOOL_FAILED", "The disk is full."));
  await expect(waiting).rejects.toMatchObject({
    code: "DAEMON_STARTUP_FAILED",
    message: expect.stringContaining("The disk is full."),
  });
  await expect(dispatch("lease.list", {}, call)).rejects.toEqual(code("DAEMON_STARTUP_FAILED"));
});

test("a daemon that is told to stop before it runs answers those who waited DAEMON_STOPPING", async () => {
  const { dispatch, health } = dispatcher({ "lease.list": () => ({ leases: [] }) });
  const waiting = dispatch("lease.list", {}, call);
  health.stop();
  await expect(waiting).rejects.toEqual(code("DAEMON_STOPPING"));
});
