/** The time of renewals and progress. A port: tests hand in one that stands still. */
export interface Clock {
  /** Milliseconds on a clock that never jumps; only differences mean something. */
  now(): number;
  /** Runs once, `ms` from now. Returns the way to call it off. */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * Waits for `work`, but no longer than `ms`: `undefined` when the time is up first, or when it fails. The work itself goes on; what comes
 * of it later is ignored.
 */
export function within<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    const callOff = clock.after(ms, () => resolve(undefined));
    const settle = (value: T | undefined) => {
      callOff();
      resolve(value);
    };
    work.then(settle, () => settle(undefined));
  });
}
