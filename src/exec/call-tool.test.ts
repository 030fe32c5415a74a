import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SimlockError } from "../contract/index.ts";
import { callTool, type ToolCall } from "./call-tool.ts";
import { groupRuns } from "./end-group.ts";

function sh(script: string, more: Partial<ToolCall> = {}): ToolCall {
  return {
    file: "sh",
    args: ["-c", script],
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
    timeoutMs: 10_000,
    maxBytes: 100_000,
    ...more,
  };
}

async function failureOf(promise: Promise<unknown>): Promise<SimlockError> {
  const thrown: unknown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof SimlockError)) throw new Error(`expected a SimlockError, got ${String(thrown)}`);
  return thrown;
}

test("gives both streams and the exit code", async () => {
  expect(await callTool(sh("cat; echo no >&2; exit 3", { stdin: "yes" }))).toEqual({
    exitCode: 3,
    stdout: "yes",
    stderr: "no\n",
  });
});

test("kills the group at the time limit and says what did not end", async () => {
  const error = await failureOf(callTool(sh("echo $$ >&2; trap '' TERM INT; sleep 30 & wait", { timeoutMs: 300 })));
  expect(error.code).toBe("TOOL_FAILED");
  expect(error.message).toMatch(/^`sh -c .*` did not end within 300 ms and was ended\.$/);
});

test("kills the group when it prints too much, before the answer comes", async () => {
  const folder = mkdtempSync(join(tmpdir(), "call-"));
  try {
    const error = await failureOf(callTool(sh("echo $$ > pid; sleep 30 & yes", { cwd: folder, maxBytes: 1000 })));
    expect(error.message).toContain("printed more than 1000 bytes");
    const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
    expect(pid).toBeGreaterThan(1);
    expect(groupRuns(pid)).toBe(false);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("is TOOL_MISSING where there is no such tool", async () => {
  expect((await failureOf(callTool(sh("", { file: "/nowhere/xcrun" })))).code).toBe("TOOL_MISSING");
});

test("ends when its signal aborts, with its reason where that is ours", async () => {
  const reason = new SimlockError("DAEMON_STOPPING", "Stopping.");
  const abort = new AbortController();
  const call = callTool(sh("exec sleep 30", { signal: abort.signal }));
  abort.abort(reason);
  expect(await failureOf(call)).toBe(reason);
  expect((await failureOf(callTool(sh("true", { signal: AbortSignal.abort() })))).code).toBe("CANCELLED");
});

/** Starts a shell in a session of its own, with our pipes, and ends. */
const ESCAPING = `
  require("node:child_process").spawn("sh", ["-c", "echo $$; exec sleep 30"], { detached: true, stdio: "inherit" }).unref();
  setTimeout(() => undefined, 200);`;

test("a process that keeps the pipe open does not hold the answer", async () => {
  const before = performance.now();
  const answer = await callTool({ ...sh(""), file: process.execPath, args: ["-e", ESCAPING] });
  const pid = Number(answer.stdout.trim());
  expect(pid).toBeGreaterThan(1);
  process.kill(pid, "SIGKILL");
  expect(performance.now() - before).toBeLessThan(5000);
});
