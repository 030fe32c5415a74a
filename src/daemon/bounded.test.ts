import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { SimlockError } from "../contract/index.ts";
import { bounded } from "./bounded.ts";

test("work that heeds its signal fails with the bound's own error, not with its", async () => {
  const work = bounded({ timeoutMs: 20, what: "Reading", code: "DEVICE_UNAVAILABLE" }, async (signal) => {
    await pause(60_000, undefined, { signal });
  });
  await expect(work).rejects.toMatchObject({ code: "DEVICE_UNAVAILABLE", message: expect.stringContaining("Reading") });
});

test("work that heeds nothing is left behind after its grace", async () => {
  const never = new Promise<never>(() => undefined);
  await expect(bounded({ timeoutMs: 10, graceMs: 10, what: "Booting" }, async () => never)).rejects.toMatchObject({
    code: "TOOL_FAILED",
  });
});

test("work that ends well in its grace has ended well", async () => {
  const work = bounded({ timeoutMs: 10, graceMs: 60_000, what: "Booting" }, async (signal) => {
    await new Promise((done) => signal.addEventListener("abort", done));
    return "done";
  });
  expect(await work).toBe("done");
});

test("a signal from outside ends it with that signal's reason, also when it came before", async () => {
  const control = new AbortController();
  const work = bounded({ timeoutMs: 60_000, what: "Reading", signal: control.signal }, async (signal) => {
    await pause(60_000, undefined, { signal });
  });
  control.abort(new SimlockError("DAEMON_STOPPING", "stopping"));
  await expect(work).rejects.toMatchObject({ code: "DAEMON_STOPPING" });
  await expect(
    bounded(
      { timeoutMs: 60_000, graceMs: 1, what: "x", signal: control.signal },
      async () => new Promise(() => undefined),
    ),
  ).rejects.toMatchObject({ code: "DAEMON_STOPPING" });
});

test("its own failure stays its own", async () => {
  const fault = new Error("fault");
  await expect(
    bounded({ timeoutMs: 1000, what: "x" }, async () => {
      throw fault;
    }),
  ).rejects.toBe(fault);
});
