import { SimlockError } from "../../contract/index.ts";
import { failureOf, firstLines, Slots, toolchainFailure } from "../../exec/index.ts";
import type { RunSimctl } from "../types.ts";

/** What a part of a device was found to be, or why it could not be read. */
export type Reading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly why: string; readonly because?: "no-device" | "state" };

/** A command that answered, but not with what was asked for. */
class Refused extends Error {
  readonly because: "no-device" | "state" | undefined;

  constructor(why: string, because?: "no-device" | "state") {
    super(why);
    this.because = because;
  }
}

/** Commands at once against one CoreSimulator, which deadlocks when many reach it together (fastlane/fastlane#14528), and how many may wait. */
const MOST_AT_ONCE = 4;
const MOST_WAITING = 512;

/** Asks simctl, a few commands at a time, whoever asks. */
export class Commands {
  readonly #run: RunSimctl;
  readonly #slots = new Slots(MOST_AT_ONCE, MOST_WAITING);

  constructor(run: RunSimctl) {
    this.#run = run;
  }

  /**
   * What a command printed. `accept` may answer for a command that failed. Failures that lie before simctl itself (no Xcode, a licence) and CANCELLED are
   * thrown; any other ends as a reading that says why.
   */
  async ask<T>(
    args: readonly string[],
    signal: AbortSignal,
    timeoutMs: number,
    read: (output: string) => T | Promise<T>,
    accept?: (stderr: string) => T | undefined,
  ): Promise<Reading<T>> {
    return attempt(signal, async () => {
      const answer = await this.#slots.run(signal, () => this.#run({ args, timeoutMs, signal }));
      if (answer.exitCode === 0) return read(answer.stdout);
      const broken = toolchainFailure(answer);
      if (broken !== undefined) throw broken;
      const accepted = accept?.(answer.stderr);
      if (accepted !== undefined) return accepted;
      const { kind } = failureOf(answer);
      const because = kind === "no-device" || kind === "state" ? kind : undefined;
      throw new Refused(`\`simctl ${args[0] ?? ""}\` exited with ${answer.exitCode}: ${firstLines(answer)}`, because);
    });
  }
}

/** Carries out a read; what goes wrong in it is why the reading is none. One that was cancelled is thrown. */
export async function attempt<T>(signal: AbortSignal, read: () => Promise<T>): Promise<Reading<T>> {
  try {
    return { ok: true, value: await read() };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SimlockError && error.code !== "TOOL_FAILED") throw error;
    if (error instanceof SimlockError && error.details?.["reason"] === "first-launch") throw error;
    const why = error instanceof Error ? error.message : String(error);
    if (error instanceof Refused && error.because !== undefined) return { ok: false, why, because: error.because };
    return { ok: false, why };
  }
}
