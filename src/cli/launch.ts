import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromWireError, SimlockError, WireError } from "../contract/index.ts";
import type { Context } from "./context.ts";
import { selfCommand } from "./entry.ts";

/** The daemon that is being started says on this descriptor how that went: one JSON line. */
export const READY_FD = 3;
/** Set for a daemon that was started by a command, so that it knows that somebody reads there. */
export const READY_VARIABLE = "SIMLOCK_READY_FD";
export type ReadyLine = { readonly ready: true; readonly pid: number } | { readonly error: WireError };

/** Opening a large database and reading the machine can take a while. */
const START_LIMIT_MS = 30_000;
/** A start-up error is a few hundred characters; what writes more is not ours. */
const MAX_READY_BYTES = 64 * 1024;

/** Variables that belong to the one who asked, not to a daemon that outlives them. */
const NOT_THE_DAEMONS = [
  "SIMLOCK_ADMIN_TOKEN",
  "SIMLOCK_AGENT_ID",
  "SIMLOCK_LEASE",
  "CLAUDE_CODE_SESSION_ID",
  "CODEX_SESSION_ID",
  "NODE_OPTIONS",
];

/**
 * Starts the home's daemon, detached, and waits until it is ready. `already-running`: another one claimed the home first, and may not be
 * ready yet. Throws what the daemon itself gave as the reason, else `DAEMON_STARTUP_FAILED` with the end of its log.
 */
export async function launchDaemon(context: Context): Promise<"ready" | "already-running"> {
  const self = selfCommand();
  const args = [
    ...self.args,
    "--home",
    context.home.path,
    ...(context.home.virtual ? ["--virtual"] : []),
    "daemon",
    "run",
  ];
  const env: NodeJS.ProcessEnv = { ...context.io.env, [READY_VARIABLE]: String(READY_FD) };
  for (const name of NOT_THE_DAEMONS) delete env[name];
  const words = nameless();
  const child = spawn(self.file, args, {
    cwd: "/",
    detached: true,
    stdio: ["ignore", "ignore", words, "pipe"],
    env,
  });
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), START_LIMIT_MS);
  try {
    const line = await readyLineOf(child, limit.signal);
    if (line === undefined) {
      throw failed(context, `it ended with ${child.signalCode ?? `exit code ${child.exitCode}`}`, linesOf(words, 5));
    }
    if ("ready" in line) return "ready";
    if (line.error.code === "DAEMON_ALREADY_RUNNING") return "already-running";
    throw fromWireError(line.error);
  } catch (thrown) {
    if (!limit.signal.aborted) throw thrown;
    child.kill("SIGTERM");
    throw failed(context, `it was not ready after ${START_LIMIT_MS / 1000} s and was ended`, []);
  } finally {
    closeSync(words);
    clearTimeout(timer);
    child.unref();
  }
}

/** What the child says of its start; undefined when it ended without a word. Rejects when the signal ends the wait. */
function readyLineOf(child: ReturnType<typeof spawn>, signal: AbortSignal): Promise<ReadyLine | undefined> {
  const pipe = child.stdio[READY_FD];
  return new Promise((resolve, reject) => {
    let text = "";
    child.once("error", reject);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    pipe?.on("data", (chunk: Buffer) => {
      if (text.length < MAX_READY_BYTES) text += chunk.toString("utf8");
    });
    pipe?.once("close", () => {
      const said = parseReady(text);
      if (said !== undefined || child.exitCode !== null || child.signalCode !== null) resolve(said);
      else child.once("exit", () => resolve(undefined));
    });
  });
}

function parseReady(text: string): ReadyLine | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return undefined;
    if ("ready" in value && value.ready === true && "pid" in value && typeof value.pid === "number") {
      return { ready: true, pid: value.pid };
    }
    const error = "error" in value ? WireError.safeParse(value.error) : undefined;
    return error?.success === true ? { error: error.data } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A file without a name, for what a daemon says before it has a log (a file of ours that can't be loaded, say). A pipe would break under it when we end.
 */
function nameless(): number {
  const path = join(tmpdir(), `simlock-start-${process.pid}-${randomBytes(4).toString("hex")}`);
  const file = openSync(path, "wx+", 0o600);
  unlinkSync(path);
  return file;
}

function failed(context: Context, how: string, said: readonly string[]): SimlockError {
  const log = said.length > 0 ? said : lastLines(context.layout.log, 5);
  return new SimlockError("DAEMON_STARTUP_FAILED", `The daemon could not be started: ${how}.`, {
    hint: `Read \`simlock daemon logs\`, or run \`simlock daemon run\` to see it start.`,
    ...(log.length === 0 ? {} : { details: { log } }),
  });
}

/** The last lines of a file, of at most its last 256 KiB. An unreadable or missing file has none. */
export function lastLines(path: string, count: number): string[] {
  if (count === 0) return [];
  try {
    const file = openSync(path, "r");
    try {
      return linesOf(file, count);
    } finally {
      closeSync(file);
    }
  } catch {
    return [];
  }
}

function linesOf(file: number, count: number): string[] {
  const size = fstatSync(file).size;
  const buffer = Buffer.alloc(Math.min(size, 256 * 1024));
  const read = readSync(file, buffer, 0, buffer.length, size - buffer.length);
  const lines = buffer.subarray(0, read).toString("utf8").split("\n");
  // Where the file is longer than what was read, its first line is cut.
  if (size > read) lines.shift();
  return lines.filter((line) => line !== "").slice(-count);
}
