import { expect, test } from "vitest";
import { SimlockError } from "../../contract/index.ts";
import { attempt } from "./command.ts";

const calm = new AbortController().signal;

test("what goes wrong in a read is why there is none", async () => {
  expect(await attempt(calm, async () => 7)).toEqual({ ok: true, value: 7 });
  expect(await attempt(calm, () => Promise.reject(new Error("no such thing")))).toEqual({
    ok: false,
    why: "no such thing",
  });
});

test("a failure that lies before simctl is no reading", async () => {
  for (const code of ["TOOL_MISSING", "LICENSE_NOT_ACCEPTED", "CANCELLED"] as const) {
    await expect(attempt(calm, () => Promise.reject(new SimlockError(code, "x")))).rejects.toMatchObject({ code });
  }
});

test("a read that was cancelled is not taken for one that failed", async () => {
  const gone = new Error("gone");
  const cancelled = AbortSignal.abort(gone);
  await expect(attempt(cancelled, () => Promise.reject(new Error("ended")))).rejects.toBe(gone);
});
