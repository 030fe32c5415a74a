import { SimlockError } from "../contract/index.ts";
import { Drain } from "./drain.ts";
import { endGroup, within } from "./end-group.ts";
import { startGroup } from "./start-group.ts";

/** One short command of a platform tool, for a driver. */
export interface ToolCall {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
  readonly timeoutMs: number;
  /** Of each stream. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
  readonly stdin?: string | undefined;
  /** Told the process group as soon as it runs. */
  readonly onStarted?: ((group: number) => void) | undefined;
}

export interface ToolAnswer {
  /** The command's own, or 128+n when signal n ended it. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

const SILENCE_MS = 250;

/**
 * Runs it to its end and gives what it printed; any exit code is an answer. Its process group is killed at the limits. Throws `TOOL_MISSING` where the
 * file is not there; `TOOL_FAILED` where it can't be started, passes its time limit or prints more than `maxBytes`; `CANCELLED`, or the signal's
 * reason where that is a `SimlockError`.
 */
export async function callTool(call: ToolCall): Promise<ToolAnswer> {
  if (isAborted(call.signal)) throw cancelled(call);
  const group = await startGroup({ ...call, cwd: call.cwd ?? "/" });
  call.onStarted?.(group.pid);
  const limits = new AbortController();
  const captures = [new Capture(call.maxBytes), new Capture(call.maxBytes)] as const;
  const drains = [group.stdout, group.stderr].map(
    (stream, index) =>
      new Drain(stream, (chunk) => {
        if (captures[index === 0 ? 0 : 1].push(chunk)) return;
        limits.abort(failed(call, `printed more than ${call.maxBytes} bytes`));
      }),
  );
  const closed = Promise.all(drains.map((drain) => drain.closed));
  const timer = setTimeout(() => limits.abort(failed(call, `did not end within ${call.timeoutMs} ms`)), call.timeoutMs);
  const onAbort = (): void => limits.abort(cancelled(call));
  call.signal?.addEventListener("abort", onAbort, { once: true });
  if (isAborted(call.signal)) onAbort();
  try {
    const stopped = new Promise<"stopped">((resolve) => {
      if (limits.signal.aborted) resolve("stopped");
      limits.signal.addEventListener("abort", () => resolve("stopped"), { once: true });
    });
    await Promise.race([stopped, ended(group.exited, closed, drains)]);
    if (limits.signal.aborted) {
      await endGroup(group, []);
      throw limits.signal.reason;
    }
    return { exitCode: await group.exited, stdout: captures[0].text, stderr: captures[1].text };
  } finally {
    clearTimeout(timer);
    call.signal?.removeEventListener("abort", onAbort);
    for (const drain of drains) drain.cut();
  }
}

/** The tool has ended and its pipes are read; one that somebody else keeps open is waited for until it has been silent for a while. */
async function ended(exited: Promise<number>, closed: Promise<unknown>, drains: readonly Drain[]): Promise<void> {
  await exited;
  const endedAt = performance.now();
  for (;;) {
    const quietSince = Math.max(endedAt, ...drains.map((drain) => drain.lastAt));
    const left = quietSince + SILENCE_MS - performance.now();
    if (left <= 0 || (await within(closed, left))) return;
  }
}

class Capture {
  readonly #max: number;
  readonly #parts: Buffer[] = [];
  #size = 0;

  constructor(maxBytes: number) {
    this.#max = maxBytes;
  }

  push(chunk: Buffer): boolean {
    this.#size += chunk.length;
    if (this.#size > this.#max) return false;
    this.#parts.push(chunk);
    return true;
  }

  get text(): string {
    return Buffer.concat(this.#parts).toString("utf8");
  }
}

function failed(call: ToolCall, what: string): SimlockError {
  return new SimlockError("TOOL_FAILED", `\`${commandLine(call)}\` ${what} and was ended.`, {
    details: { file: call.file, timeoutMs: call.timeoutMs },
  });
}

function cancelled(call: ToolCall): SimlockError {
  const reason: unknown = call.signal?.reason;
  if (reason instanceof SimlockError) return reason;
  return new SimlockError("CANCELLED", `\`${commandLine(call)}\` was cancelled.`);
}

const isAborted = (signal: AbortSignal | undefined): boolean => signal?.aborted === true;

/** Enough of the command to know which one it was. */
function commandLine(call: ToolCall): string {
  const line = [call.file, ...call.args].join(" ");
  return line.length <= 160 ? line : `${line.slice(0, 160)}…`;
}
