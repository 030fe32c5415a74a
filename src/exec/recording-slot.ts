import { SimlockError } from "../contract/index.ts";

interface Waiting {
  readonly grant: () => void;
}

const MOST_WAITING = 64;

/**
 * The one recording that CoreSimulator can make at a time on a host, whatever the simulator: commands with flag I on `simctl` take turns.
 */
export class RecordingSlot {
  readonly #waiting: Waiting[] = [];
  #taken = false;

  /**
   * Resolves with the function that gives the slot back; calling it twice is harmless. Throws `EXEC_BUSY` when the slot stays taken for `timeoutMs`, or
   * too many wait already; `EXEC_CANCELLED`, or the signal's reason where that is a `SimlockError`.
   */
  async take(options: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined }): Promise<() => void> {
    if (options.signal?.aborted === true) throw cancelled(options.signal.reason);
    if (!this.#taken) {
      this.#taken = true;
      return this.#release();
    }
    if (this.#waiting.length >= MOST_WAITING) throw busy("too many commands wait for it already");
    await this.#turn(options);
    return this.#release();
  }

  #turn({
    timeoutMs,
    signal,
  }: {
    readonly timeoutMs: number;
    readonly signal?: AbortSignal | undefined;
  }): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
        const at = this.#waiting.indexOf(waiting);
        if (at !== -1) this.#waiting.splice(at, 1);
      };
      const onAbort = (): void => {
        leave();
        reject(cancelled(signal?.reason));
      };
      const timer = setTimeout(() => {
        leave();
        reject(busy(`it was not free within ${timeoutMs} ms`));
      }, timeoutMs);
      const waiting: Waiting = {
        grant: () => {
          leave();
          resolve();
        },
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#waiting.push(waiting);
    });
  }

  #release(): () => void {
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const next = this.#waiting[0];
      if (next === undefined) this.#taken = false;
      else next.grant();
    };
  }
}

function busy(why: string): SimlockError {
  return new SimlockError("EXEC_BUSY", `The recording slot of this Mac is taken: ${why}.`, {
    hint: "CoreSimulator records one simulator at a time: try again when the other recording has ended.",
  });
}

function cancelled(reason: unknown): SimlockError {
  if (reason instanceof SimlockError) return reason;
  return new SimlockError("EXEC_CANCELLED", "The command was cancelled while it waited to record.");
}
