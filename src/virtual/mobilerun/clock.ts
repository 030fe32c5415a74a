/** Time of the virtual cloud. A test holds it in its hand, so that nothing sleeps. */
export interface VirtualClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs `work` after a while; answers how to call it off. */
  after(ms: number, work: () => void): () => void;
}

/** The machine's own time. Its timers keep no process alive. */
export const systemClock: VirtualClock = {
  now: () => Date.now(),
  after(ms, work) {
    const timer = setTimeout(work, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

export interface ManualClock extends VirtualClock {
  /** Moves time on and runs what comes due on the way, in its order. */
  advance(ms: number): void;
}

/** A clock that stands still until it is moved. */
export function createManualClock(start = Date.parse("2026-03-01T09:00:00Z")): ManualClock {
  let now = start;
  let due: { at: number; work: () => void }[] = [];
  return {
    now: () => now,
    after(ms, work) {
      const entry = { at: now + ms, work };
      due.push(entry);
      return () => {
        due = due.filter((other) => other !== entry);
      };
    },
    advance(ms) {
      const end = now + ms;
      for (;;) {
        const next = due.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        due = due.filter((other) => other !== next);
        now = Math.max(now, next.at);
        next.work();
      }
      now = end;
    },
  };
}
