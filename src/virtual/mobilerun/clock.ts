/** Time of the virtual cloud. A test holds it in its hand, so that nothing sleeps. */
export interface VirtualClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs `work` after a while; answers how to call it off. */
  after(ms: number, work: () => void): () => void;
}

/** Node runs a timer of more milliseconds than this at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** The machine's own time. Its timers keep no process alive; a wait of months is made of several. */
export const systemClock: VirtualClock = {
  now: () => Date.now(),
  after(ms, work) {
    const end = Date.now() + ms;
    let timer: NodeJS.Timeout;
    const wait = () => {
      const left = end - Date.now();
      timer = left > LONGEST_MS ? setTimeout(wait, LONGEST_MS) : setTimeout(work, left);
      timer.unref();
    };
    wait();
    return () => clearTimeout(timer);
  },
};

/** A clock that runs nothing any more once `closing` is aborted. */
export function clockUntil(closing: AbortSignal, clock: VirtualClock): VirtualClock {
  const waiting = new Set<() => void>();
  closing.addEventListener(
    "abort",
    () => {
      for (const callOff of waiting) callOff();
      waiting.clear();
    },
    { once: true },
  );
  return {
    now: () => clock.now(),
    after(ms, work) {
      if (closing.aborted) return () => undefined;
      const callOff = clock.after(ms, () => {
        waiting.delete(callOff);
        work();
      });
      waiting.add(callOff);
      return () => {
        waiting.delete(callOff);
        callOff();
      };
    },
  };
}

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
