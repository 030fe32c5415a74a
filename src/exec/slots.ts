import { SimlockError } from "../contract/index.ts";

interface Waiting {
  readonly start: () => void;
}

/**
 * At most `limit` pieces of work at once, at most `maxWaiting` behind them, in order of arrival. CoreSimulator deadlocks when many commands
 * reach it together (fastlane/fastlane#14528).
 */
export class Slots {
  readonly #limit: number;
  readonly #maxWaiting: number;
  readonly #waiting = new Set<Waiting>();
  #busy = 0;

  constructor(limit: number, maxWaiting: number) {
    this.#limit = limit;
    this.#maxWaiting = maxWaiting;
  }

  /** Throws `TOOL_FAILED` when too much waits already, and the signal's reason when it ends the wait. */
  async run<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    if (this.#busy >= this.#limit) await this.#turn(signal);
    else this.#busy += 1;
    try {
      return await work();
    } finally {
      this.#handOn();
    }
  }

  /** Resolves with the slot held: whoever ends hands its own on, so a newcomer can't slip in between. */
  #turn(signal: AbortSignal | undefined): Promise<void> {
    if (this.#waiting.size >= this.#maxWaiting) {
      throw new SimlockError("TOOL_FAILED", `${this.#maxWaiting} commands of the platform's tools wait already.`, {
        hint: "Wait until some of them have ended.",
      });
    }
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#waiting.delete(waiting);
        reject(reasonOf(signal));
      };
      const waiting: Waiting = {
        start: () => {
          signal?.removeEventListener("abort", abort);
          resolve();
        },
      };
      this.#waiting.add(waiting);
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  #handOn(): void {
    const next = this.#waiting.values().next();
    if (next.done === true) {
      this.#busy -= 1;
      return;
    }
    this.#waiting.delete(next.value);
    next.value.start();
  }
}

function reasonOf(signal: AbortSignal | undefined): unknown {
  return signal?.reason ?? new SimlockError("CANCELLED", "The work was cancelled.");
}
