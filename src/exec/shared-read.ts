/** One reading, under way or about to be, and how many still want it. */
interface Flight<T> {
  readonly result: Promise<T>;
  readonly cancel: AbortController;
  askers: number;
  /** False until the reading itself was called, which is after all who ask in the same turn have asked. */
  begun: boolean;
}

/**
 * One reading at a time, shared by all who ask while it runs: many listings at once make CoreSimulator slower for each of them
 * (kaeawc/auto-mobile#6576). Nothing is kept once a reading has ended. A reading is cancelled when its last asker has gone.
 */
export class SharedRead<T> {
  readonly #read: (signal: AbortSignal) => Promise<T>;
  #current: Flight<T> | undefined;
  #next: Flight<T> | undefined;

  constructor(read: (signal: AbortSignal) => Promise<T>) {
    this.#read = read;
  }

  /** The reading that runs now, or a new one. */
  async join(signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    // Nobody may join a reading that is being cancelled: it would fail them for somebody else's reason.
    if (this.#current?.cancel.signal.aborted === true) return this.fresh(signal);
    this.#current ??= this.#launch(undefined);
    return this.#wait(this.#current, signal);
  }

  /** A reading that begins after this call: what it shows is at least as new as the question. */
  async fresh(signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#current === undefined || (!this.#current.begun && !this.#current.cancel.signal.aborted)) {
      return this.join(signal);
    }
    this.#next ??= this.#launch(this.#current);
    return this.#wait(this.#next, signal);
  }

  #launch(after: Flight<T> | undefined): Flight<T> {
    const cancel = new AbortController();
    const begin = (): Promise<T> => {
      cancel.signal.throwIfAborted();
      flight.begun = true;
      return this.#read(cancel.signal);
    };
    // Both endings of the one before let the next begin: its failure belongs to those who asked for it.
    const result = after === undefined ? Promise.resolve().then(begin) : after.result.then(begin, begin);
    const flight: Flight<T> = { result, cancel, askers: 0, begun: false };
    const ended = () => {
      if (this.#current !== flight) return;
      this.#current = this.#next;
      this.#next = undefined;
    };
    result.then(ended, ended);
    return flight;
  }

  #wait(flight: Flight<T>, signal: AbortSignal | undefined): Promise<T> {
    flight.askers += 1;
    return new Promise((resolve, reject) => {
      const leave = () => {
        signal?.removeEventListener("abort", abort);
        flight.askers -= 1;
      };
      const abort = () => {
        leave();
        if (flight.askers === 0) {
          if (this.#next === flight) this.#next = undefined;
          flight.cancel.abort(signal?.reason);
        }
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", abort, { once: true });
      flight.result.then(
        (value) => {
          leave();
          resolve(value);
        },
        (error: unknown) => {
          leave();
          reject(error);
        },
      );
    });
  }
}
