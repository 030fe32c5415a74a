import { setTimeout as sleep } from "node:timers/promises";
import { BackendError } from "../backend/errors.ts";
import type { Clock, Use } from "./use.ts";

export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: async (ms, signal) => {
    await sleep(ms, undefined, { signal });
  },
};

/** Clients give up on a call of which they hear nothing for a minute. */
const UNHEARD_WAIT_S = 45;

/** How long to wait where the caller did not say: as long as this takes, or less where nobody hears of the progress. */
export function unlessAsked(asked: number | undefined, usual: number, { progress }: Pick<Use, "progress">): number {
  return asked ?? (progress === undefined ? Math.min(usual, UNHEARD_WAIT_S) : usual);
}

interface Waiting<T> {
  readonly seconds: number;
  readonly everyMs: number;
  /** Looks once; what it gives ends the wait. Told how much time is left. */
  look(leftMs: number): Promise<T | undefined>;
  /** Said as progress after a look that found nothing. */
  message(): string;
}

/**
 * Looks until something is there or the time is over; then gives nothing. A cancelled call ends the wait at once.
 * @throws {BackendError} `cancelled`, and whatever a look throws
 */
export async function waitUntil<T>(use: Use, waiting: Waiting<T>): Promise<T | undefined> {
  const started = use.clock.now();
  const total = Math.min(waiting.seconds, answerableSeconds(use));
  for (;;) {
    cancelledBy(use.signal);
    const found = await waiting.look(Math.max(0, total * 1000 - (use.clock.now() - started)));
    if (found !== undefined) return found;
    const passed = (use.clock.now() - started) / 1000;
    if (passed >= total) return undefined;
    use.progress?.({ progress: Math.round(passed), total, message: waiting.message() });
    await pause(use, Math.min(waiting.everyMs, (total - passed) * 1000));
  }
}

/** How much of the server's own limit a wait may take: the rest is for the last look. With progress to send there is none. */
function answerableSeconds({ progress, answerWithinMs }: Use): number {
  return progress !== undefined || answerWithinMs === undefined ? Infinity : (answerWithinMs / 1000) * 0.75;
}

async function pause(use: Use, ms: number): Promise<void> {
  try {
    await use.clock.sleep(ms, use.signal);
  } catch (thrown) {
    cancelledBy(use.signal);
    throw thrown;
  }
}

function cancelledBy(signal: AbortSignal): void {
  if (signal.aborted) throw new BackendError("cancelled", "The call was cancelled.");
}
