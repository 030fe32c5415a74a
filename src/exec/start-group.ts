import { spawn, type ChildProcess } from "node:child_process";
import { statSync } from "node:fs";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import { SimlockError } from "../contract/index.ts";

export interface StartedGroup {
  /** Of the leader, and of the group. */
  readonly pid: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The leader's exit code, or 128+n when signal n ended it. */
  readonly exited: Promise<number>;
}

export interface StartRequest {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly stdin?: string | undefined;
}

/**
 * Starts a program as the leader of a session and a process group of its own. Throws `TOOL_MISSING` where it isn't there, `TOOL_FAILED` where it
 * can't be started, `BAD_REQUEST` for a missing working directory or too many arguments, `EXEC_BUSY` where the host is out of processes or files.
 */
export async function startGroup(request: StartRequest): Promise<StartedGroup> {
  const child = await spawned(request);
  const { pid, stdout, stderr } = child;
  if (pid === undefined || stdout === null || stderr === null) {
    throw new SimlockError("TOOL_FAILED", `${request.file} could not be started.`);
  }
  feed(child, request.stdin);
  return { pid, stdout, stderr, exited: exitOf(child) };
}

async function spawned(request: StartRequest): Promise<ChildProcess> {
  let child: ChildProcess;
  try {
    child = spawn(request.file, request.args, {
      cwd: request.cwd,
      env: request.env,
      detached: true,
      // Without text for it the command gets an empty, closed standard input: never ours.
      stdio: [request.stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    });
  } catch (error) {
    throw startFailure(error, request);
  }
  if (child.pid !== undefined) {
    child.on("error", () => undefined);
    return child;
  }
  const error = await new Promise((resolve) => child.once("error", resolve));
  throw startFailure(error, request);
}

/** A command may close its standard input before it has read all of it: the pipe breaks, and its exit code still counts. */
function feed(child: ChildProcess, text: string | undefined): void {
  if (child.stdin === null) return;
  child.stdin.on("error", () => undefined);
  child.stdin.end(text);
}

function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => {
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}

function startFailure(error: unknown, request: StartRequest): SimlockError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const more = { cause: error, details: { file: request.file, errno: code } };
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      // The same code stands for a missing program and a missing working directory.
      if (!isDirectory(request.cwd)) return missingDirectory(request.cwd);
      return new SimlockError("TOOL_MISSING", `${request.file} is not there.`, more);
    case "E2BIG":
      return new SimlockError("BAD_REQUEST", "The arguments and the environment are too long for this system.", {
        ...more,
        hint: "Hand long input over as a file, or as `stdin`.",
      });
    case "EACCES":
    case "EPERM":
      return new SimlockError("TOOL_FAILED", `${request.file} may not be executed by this user.`, {
        ...more,
        hint: `Check the permissions of ${request.file} and of the folder ${request.cwd}.`,
      });
    case "EAGAIN":
    case "EMFILE":
    case "ENFILE":
    case "ENOMEM":
      return new SimlockError("EXEC_BUSY", `The host is out of processes, files or memory (${code}).`, more);
    default:
      return new SimlockError("TOOL_FAILED", `${request.file} could not be started (${code || String(error)}).`, more);
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function missingDirectory(cwd: string): SimlockError {
  return new SimlockError("BAD_REQUEST", `The working directory ${cwd} is not there.`, {
    details: { cwd },
    hint: "Run it from a folder that exists.",
  });
}
