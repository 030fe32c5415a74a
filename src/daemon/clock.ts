import type { Now } from "../leasing/index.ts";

/** A gap between two readings that no busy process explains: the machine slept. */
const SLEEP_GAP_MS = 10_000;
const READ_EVERY_MS = 2000;

/** Both clocks at one instant. */
export interface Clock {
  now(): Now;
  stop(): void;
}

/**
 * The clock of deadlines stands still while the machine sleeps. Linux's monotonic clock does so by itself. macOS's, as libuv reads it
 * (mach_continuous_time), runs on: there it is read every two seconds, and a gap far longer than that counts as sleep.
 */
export function createClock(
  ports: { monotonic?: () => number; sleepCounts?: boolean; readEveryMs?: number } = {},
): Clock {
  const monotonic = ports.monotonic ?? (() => performance.now());
  const sleepCounts = ports.sleepCounts ?? process.platform === "darwin";
  if (!sleepCounts) return { now: () => ({ wall: Date.now(), mono: monotonic() }), stop() {} };
  let last = monotonic();
  let slept = 0;
  const read = (): number => {
    const at = monotonic();
    if (at - last > SLEEP_GAP_MS) slept += at - last;
    last = at;
    return at - slept;
  };
  const timer = setInterval(read, ports.readEveryMs ?? READ_EVERY_MS);
  timer.unref();
  return { now: () => ({ wall: Date.now(), mono: read() }), stop: () => clearInterval(timer) };
}
