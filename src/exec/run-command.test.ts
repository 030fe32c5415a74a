import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SimlockError } from "../contract/index.ts";
import { groupRuns } from "./end-group.ts";
import { AnswerWithNote, runCommand } from "./run-command.ts";
import type { RunRequest } from "./types.ts";

let folder: string;
const started: number[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "exec-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
  // Whatever a failing test left behind.
  for (const pid of started.splice(0)) if (groupRuns(pid)) process.kill(-pid, "SIGKILL");
});

function shell(script: string, more: Partial<RunRequest> = {}): RunRequest {
  return request("sh", ["-c", script], more);
}

function node(script: string, more: Partial<RunRequest> = {}): RunRequest {
  return request(process.execPath, ["-e", script], more);
}

function request(file: string, args: readonly string[], more: Partial<RunRequest>): RunRequest {
  return {
    file,
    args,
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
    cwd: folder,
    timeoutMs: 20_000,
    interruptFirst: false,
    keepLast: 32_768,
    ...more,
    onStarted: (pid) => {
      started.push(pid);
      more.onStarted?.(pid);
    },
  };
}

/** A command that starts a script in a session of its own, with its own pipes, and ends. */
function escaping(script: string, more: Partial<RunRequest> = {}): RunRequest {
  const start = `require("node:child_process").spawn("sh", ["-c", ${JSON.stringify(script)}], { detached: true, stdio: "inherit" }).unref();`;
  return node(`${start} setTimeout(() => undefined, 200);`, more);
}

async function failureOf(promise: Promise<unknown>): Promise<SimlockError> {
  const thrown: unknown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof SimlockError)) throw new Error(`expected a SimlockError, got ${String(thrown)}`);
  return thrown;
}

function pidOf(text: string): number {
  const pid = Number(text.trim());
  if (!Number.isInteger(pid) || pid < 2) throw new Error(`no pid: ${text}`);
  return pid;
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe("the answer", () => {
  test("has both streams apart and the exit code", async () => {
    const result = await runCommand(shell("echo out; echo err >&2; exit 7"));
    expect(result).toEqual({
      exitCode: 7,
      stdout: "out\n",
      stderr: "err\n",
      truncated: false,
      stdoutLength: 4,
      stderrLength: 4,
      notes: [],
    });
  });

  test("is 128+n when signal n ended the command", async () => {
    expect((await runCommand(shell("kill -TERM $$"))).exitCode).toBe(143);
    expect((await runCommand(shell("kill -KILL $$"))).exitCode).toBe(137);
  });

  test("keeps the tail of each stream alone", async () => {
    const result = await runCommand(
      node(`process.stdout.write("x".repeat(100)); process.stderr.write("é".repeat(5))`, { keepLast: 10 }),
    );
    expect(result).toMatchObject({ stdout: "x".repeat(10), stderr: "ééééé", truncated: true });
    expect([result.stdoutLength, result.stderrLength]).toEqual([100, 5]);
  });

  test("says which stream was not UTF-8", async () => {
    const result = await runCommand(shell(String.raw`printf '\211PNG\r\n'; echo fine >&2`));
    expect(result.notes).toEqual(["stdout was not UTF-8; save it to a file instead."]);
    expect(result.stdout).toBe("\ufffdPNG\r\n");
  });

  test("arguments arrive as they are, without a shell", async () => {
    const args = ["a  b", "$HOME", "`id`", "\t\n", "*", "'\"", "é😀", ""];
    const result = await runCommand(
      request(
        process.execPath,
        ["-e", "process.stdout.write(JSON.stringify(process.argv.slice(1)))", "--", ...args],
        {},
      ),
    );
    expect(JSON.parse(result.stdout)).toEqual(args);
  });

  test("the environment is the one given, and nothing else", async () => {
    const result = await runCommand(request("env", [], { env: { PATH: "/usr/bin:/bin", ONLY: "this" } }));
    expect(result.stdout.trim().split("\n").sort()).toEqual(["ONLY=this", "PATH=/usr/bin:/bin"]);
  });
});

describe("standard input", () => {
  test("is empty and closed when there is none, so that nothing of ours is eaten", async () => {
    expect((await runCommand(shell("cat; echo $?"))).stdout).toBe("0\n");
  });

  test("is the text, then closed", async () => {
    const text = "naïve\n".repeat(50_000);
    const result = await runCommand(shell("cat | wc -c", { stdin: text }));
    expect(result.stdout.trim()).toBe(String(Buffer.byteLength(text)));
  });

  test("may be closed early by the command: its exit code still counts", async () => {
    const result = await runCommand(shell("exec 0<&-; exit 4", { stdin: "x".repeat(1_000_000) }));
    expect(result).toMatchObject({ exitCode: 4, notes: [] });
  });
});

describe("output on the way", () => {
  test("comes decoded, whole characters only, in order", async () => {
    const chunks: string[] = [];
    const script = `
      const bytes = Buffer.from("a漢😀é");
      let at = 0;
      const next = () => { if (at < bytes.length) process.stdout.write(bytes.subarray(at, ++at), () => setImmediate(next)); };
      next();`;
    const onOutput = (_stream: string, chunk: string): void => void chunks.push(chunk);
    await runCommand(node(script, { keepLast: undefined, onOutput }));
    expect(chunks.join("")).toBe("a漢😀é");
    expect(chunks.every((chunk) => chunk.isWellFormed() && !chunk.includes("\ufffd"))).toBe(true);
  });

  test("holds the command back while the reader has not taken it", async () => {
    const file = join(folder, "progress");
    const script = `
      const { writeSync, writeFileSync } = require("node:fs");
      const block = Buffer.alloc(65536, 97);
      let total = 0;
      const next = () => { process.stdout.write(block, () => { total += block.length; writeFileSync(${JSON.stringify(file)}, String(total)); if (total < 16 * 2 ** 20) next(); }); };
      next();`;
    let letGo: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    let received = 0;
    let largestWhileHeld = 0;
    let held = true;
    const run = runCommand(
      node(script, {
        keepLast: undefined,
        onOutput: (_stream, chunk) => {
          received += chunk.length;
          if (!held) return undefined;
          largestWhileHeld = received;
          return gate;
        },
      }),
    );
    // Long enough for 16 MiB to pass if nothing held them back: the same child needs a fraction of it.
    await delay(1500);
    expect(largestWhileHeld).toBeLessThanOrEqual(65_536);
    held = false;
    letGo();
    expect((await run).exitCode).toBe(0);
    expect(received).toBe(16 * 2 ** 20);
  });

  test("is drained on when its reader fails", async () => {
    const onOutput = (): Promise<void> => Promise.reject(new Error("gone"));
    const result = await runCommand(shell("head -c 1000000 /dev/zero; exit 5", { keepLast: undefined, onOutput }));
    expect(result.exitCode).toBe(5);
  });

  test("is counted at most once a second while it comes", async () => {
    const seen: number[] = [];
    const onActivity = ({ stdout }: { stdout: number }): void => void seen.push(stdout);
    await runCommand(shell("printf a; sleep 0.1; printf b; sleep 1.2; printf c", { onActivity }));
    expect(seen).toEqual([1, 3]);
  });
});

describe("the time limit", () => {
  test("ends the whole group, also where SIGTERM is refused, and answers once", async () => {
    const script = `trap '' TERM; sh -c 'trap "" TERM; echo $$ > ${join(folder, "child")}; while :; do sleep 1; done' & while :; do sleep 1; done`;
    const before = performance.now();
    const error = await failureOf(runCommand(shell(script, { timeoutMs: 300 })));
    expect(error.code).toBe("EXEC_TIMEOUT");
    expect(error.message).toContain("300 ms");
    expect(performance.now() - before).toBeLessThan(8000);
    const [pid] = started;
    expect(pid !== undefined && groupRuns(pid)).toBe(false);
  });

  test("asks with SIGTERM first", async () => {
    const script = `trap 'echo saved > ${join(folder, "saved")}; exit 0' TERM; while :; do sleep 0.05; done`;
    expect((await failureOf(runCommand(shell(script, { timeoutMs: 200 })))).code).toBe("EXEC_TIMEOUT");
    expect((await runCommand(shell("cat saved"))).stdout).toBe("saved\n");
  });

  test("asks a recording with SIGINT, so that its file is closed", async () => {
    const script = `trap 'echo INT > ${join(folder, "by")}; exit 0' INT; trap 'echo TERM > ${join(folder, "by")}; exit 0' TERM; while :; do sleep 0.05; done`;
    const error = await failureOf(runCommand(shell(script, { timeoutMs: 200, interruptFirst: true })));
    expect(error.code).toBe("EXEC_TIMEOUT");
    expect((await runCommand(shell("cat by"))).stdout).toBe("INT\n");
  });
});

describe("cancelling", () => {
  test("interrupts the command first and answers EXEC_CANCELLED", async () => {
    const abort = new AbortController();
    const script = `trap 'echo INT > ${join(folder, "by")}; exit 0' INT; echo ready; while :; do sleep 0.05; done`;
    const run = runCommand(
      shell(script, { keepLast: undefined, signal: abort.signal, onOutput: () => abort.abort("no longer wanted") }),
    );
    expect((await failureOf(run)).code).toBe("EXEC_CANCELLED");
    expect((await runCommand(shell("cat by"))).stdout).toBe("INT\n");
  });

  test("throws the reason where it is an error of ours", async () => {
    const reason = new SimlockError("DAEMON_STOPPING", "Stopping.");
    const abort = new AbortController();
    const run = runCommand(shell("exec sleep 20", { signal: abort.signal, onStarted: () => abort.abort(reason) }));
    expect(await failureOf(run)).toBe(reason);
  });

  test("answers with what came so far where the reason says so", async () => {
    const abort = new AbortController();
    const script = "trap 'exit 130' INT; echo partial; while :; do sleep 0.05; done";
    const run = runCommand(
      shell(script, {
        keepLast: undefined,
        signal: abort.signal,
        onOutput: () => abort.abort(new AnswerWithNote("The lease ended.")),
      }),
    );
    expect(await run).toMatchObject({ exitCode: 130, stdoutLength: 8, notes: ["The lease ended."] });
  });

  test("starts nothing when it was cancelled before", async () => {
    const error = await failureOf(runCommand(shell(`touch ${join(folder, "ran")}`, { signal: AbortSignal.abort() })));
    expect(error.code).toBe("EXEC_CANCELLED");
    expect(started).toEqual([]);
  });
});

describe("what a command leaves behind", () => {
  test("a grandchild in the background does not hold the answer, and is ended", async () => {
    const before = performance.now();
    const result = await runCommand(shell("sleep 30 & echo $!"));
    expect(performance.now() - before).toBeLessThan(3000);
    expect(result.exitCode).toBe(0);
    expect(result.notes).toEqual(["The command left processes of its group behind: they were ended."]);
    const [group] = started;
    expect(group !== undefined && groupRuns(group)).toBe(false);
  });

  test("one that left the group and keeps the pipe is cut off", async () => {
    const before = performance.now();
    const result = await runCommand(escaping("echo $$; exec sleep 30"));
    const pid = pidOf(result.stdout);
    try {
      expect(performance.now() - before).toBeLessThan(3000);
      expect(result.notes).toHaveLength(1);
      expect(result.notes[0]).toMatch(/kept its output open/);
      expect(runs(pid)).toBe(true);
    } finally {
      process.kill(pid, "SIGKILL");
    }
  });

  test("one that writes without end is cut off after two seconds", async () => {
    const before = performance.now();
    const result = await runCommand(escaping("echo $$; exec yes", { keepLast: undefined, onOutput }));
    function onOutput(_stream: string, chunk: string): void {
      const [pid] = chunk.split("\n");
      if (/^\d+$/.test(pid ?? "")) escaped = pidOf(pid ?? "");
    }
    expect(performance.now() - before).toBeLessThan(6000);
    expect(result.notes[0]).toMatch(/kept its output open/);
    if (escaped > 1) process.kill(escaped, "SIGKILL");
  });
  let escaped = 0;

  test("output that is in the pipe when the command ends is not lost to a slow reader", async () => {
    let received = 0;
    const result = await runCommand(
      shell("head -c 150000 /dev/zero", {
        keepLast: undefined,
        onOutput: async (_stream, chunk) => {
          await delay(700);
          received += chunk.length;
        },
      }),
    );
    expect(result.notes).toEqual([]);
    expect(received).toBe(150_000);
  });
});

describe("a command that can't be started", () => {
  test("is TOOL_MISSING where the program is not there", async () => {
    const error = await failureOf(runCommand(request(join(folder, "nothing"), [], {})));
    expect(error.code).toBe("TOOL_MISSING");
  });

  test("is BAD_REQUEST where the folder is not there", async () => {
    const error = await failureOf(runCommand(shell("true", { cwd: join(folder, "nowhere") })));
    expect(error.code).toBe("BAD_REQUEST");
    expect(error.message).toContain("nowhere");
  });

  test("says that it may not be executed", async () => {
    writeFileSync(join(folder, "plain"), "text", { mode: 0o644 });
    const error = await failureOf(runCommand(request(join(folder, "plain"), [], {})));
    expect(error.code).toBe("TOOL_FAILED");
    expect(error.message).toContain("may not be executed");
  });

  test("is BAD_REQUEST where the system can't take so many arguments", async () => {
    const error = await failureOf(
      runCommand(
        request(
          "true",
          Array.from({ length: 64 }, () => "a".repeat(100_000)),
          {},
        ),
      ),
    );
    expect(error.code).toBe("BAD_REQUEST");
  });
});

test("200 MB pass in bounded memory, and only the tail stays", async () => {
  const before = process.memoryUsage().rss;
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 10);
  const result = await runCommand(shell("head -c 200000000 /dev/zero | tr '\\0' x; echo end", { timeoutMs: 28_000 }));
  clearInterval(watch);
  expect(result.stdoutLength).toBe(200_000_004);
  expect(result.stdout).toBe(`${"x".repeat(32_764)}end\n`);
  expect(peak - before).toBeLessThan(60_000_000);
});
