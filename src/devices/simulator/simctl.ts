import { tmpdir } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { SimlockError } from "../../contract/index.ts";
import { commandFailure, Slots, toolchainFailure, toolEnvironment, xcodeMismatch } from "../../exec/index.ts";
import type { ToolAnswer } from "../../exec/index.ts";
import type { ToolCommand } from "../driver.ts";
import type { CallTool } from "../tool-call.ts";

/** How `xcrun` is started: the real one, or Node with a stand-in's entry. `env` is what it needs beside the basic variables. */
export type Xcrun = ToolCommand;

/** Monotonic milliseconds, and pauses. A port: tests don't wait. */
export interface Clock {
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: async (ms, signal) => {
    await pause(ms, undefined, signal === undefined ? {} : { signal });
  },
};

export type Log = (
  level: "debug" | "info" | "warn",
  message: string,
  details?: Readonly<Record<string, unknown>>,
) => void;

/** Time limits in milliseconds. An erase takes half a minute on a busy Mac, a listing minutes right after a cold start (dotnet/xharness#298). */
export const LIMITS = {
  firstList: 240_000,
  list: 30_000,
  create: 120_000,
  boot: 60_000,
  shutdown: 60_000,
  erase: 180_000,
  delete: 120_000,
  enumerate: 30_000,
  version: 15_000,
  prerequisites: 60_000,
} as const;

/** Commands at once beside the one listing and the boots, and how many may wait for that. Those that take long don't hold up the short ones. */
const MAX_SHORT = 4;
const MAX_LONG = 3;
const LONG_VERBS: ReadonlySet<string> = new Set(["erase", "delete"]);
const MAX_WAITING = 1_024;
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;
/** Pause before a query that CoreSimulator's service spoilt is asked again. */
const RETRY_PAUSE_MS = 1_000;

export interface SimctlOptions {
  readonly xcrun: Xcrun;
  /** An absolute path: `--set`. Undefined means the user's default device set, which has no flag. */
  readonly deviceSet: string | undefined;
  readonly call: CallTool;
  readonly clock: Clock;
  readonly log: Log;
  /** Proves the device set before each command. */
  readonly proveSet: () => Promise<void>;
}

export interface Limits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** A command's end, or that none came within its limit: whether it did its work is then unknown. */
export type Outcome =
  | { readonly kind: "answer"; readonly answer: ToolAnswer }
  | { readonly kind: "no-answer"; readonly error: SimlockError };

/** `xcrun simctl`: arguments, limits, and the failures that lie before simctl itself. */
export class Simctl {
  readonly #options: SimctlOptions;
  readonly #short = new Slots(MAX_SHORT, MAX_WAITING);
  readonly #long = new Slots(MAX_LONG, MAX_WAITING);

  constructor(options: SimctlOptions) {
    this.#options = options;
  }

  /** What stands in front of a verb. */
  get prefix(): readonly string[] {
    const { xcrun, deviceSet } = this.#options;
    return [...xcrun.prefix, "simctl", ...(deviceSet === undefined ? [] : ["--set", deviceSet])];
  }

  /** One command that succeeds. Throws `TOOL_FAILED`, `TOOL_MISSING`, `LICENSE_NOT_ACCEPTED`. */
  async run(args: readonly string[], limits: Limits): Promise<ToolAnswer> {
    const outcome = await this.attempt(args, limits);
    if (outcome.kind === "no-answer") throw outcome.error;
    if (outcome.answer.exitCode !== 0) throw commandFailure(args, outcome.answer);
    return outcome.answer;
  }

  /** One command whose failure the caller judges. */
  attempt(args: readonly string[], limits: Limits): Promise<Outcome> {
    const slots = LONG_VERBS.has(args[0] ?? "") ? this.#long : this.#short;
    return slots.run(limits.signal, () => this.attemptNow(args, limits));
  }

  /** The same without a slot, for a command that waits long by its nature and is bounded by its caller. */
  async attemptNow(args: readonly string[], limits: Limits): Promise<Outcome> {
    try {
      const answer = await this.#call([...this.prefix, ...args], limits);
      const broken = toolchainFailure(answer);
      if (broken !== undefined) throw broken;
      return { kind: "answer", answer };
    } catch (error) {
      limits.signal?.throwIfAborted();
      if (
        error instanceof SimlockError &&
        error.code === "TOOL_FAILED" &&
        error.details?.["reason"] !== "first-launch"
      ) {
        return { kind: "no-answer", error };
      }
      throw error;
    }
  }

  /**
   * A question that changes nothing, asked once more when the service was just replaced under us: the command then prints its complaint and
   * no answer (luosheng/OpenSim#30). It takes no slot: callers share one.
   */
  async query(args: readonly string[], limits: Limits): Promise<string> {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#call([...this.prefix, ...args], limits);
      const broken = toolchainFailure(answer);
      if (broken !== undefined) throw broken;
      // Only stdout is the answer: what stands on stderr beside a good one is at most a warning.
      if (answer.exitCode === 0 && answer.stdout.trim() !== "") return answer.stdout;
      const mismatch = xcodeMismatch(answer);
      const problem = mismatch ?? commandFailure(args, answer);
      if (attempt === 2 || (mismatch === undefined && answer.exitCode !== 0)) throw problem;
      this.#options.log("info", "simctl gave no answer and is asked again", { why: problem.message });
      await this.#options.clock.sleep(RETRY_PAUSE_MS, limits.signal);
    }
  }

  /** A tool beside simctl that is found through xcrun, such as `xcodebuild`. It touches no device set. */
  sibling(args: readonly string[], limits: Limits): Promise<ToolAnswer> {
    return this.#start([...this.#options.xcrun.prefix, ...args], limits);
  }

  async #call(args: readonly string[], limits: Limits): Promise<ToolAnswer> {
    await this.#options.proveSet();
    return this.#start(args, limits);
  }

  #start(args: readonly string[], limits: Limits): Promise<ToolAnswer> {
    const { xcrun, call } = this.#options;
    return call({
      file: xcrun.file,
      args,
      env: toolEnvironment(process.env, xcrun.env, { tmpdir: tmpdir() }),
      timeoutMs: limits.timeoutMs,
      maxBytes: MAX_OUTPUT_BYTES,
      signal: limits.signal,
    });
  }
}
