import { ToolFailure } from "./failure.ts";

const HOUR_MS = 3_600_000;

/** Bounds memory: nobody is allowed more in an hour. */
const MOST_PER_HOUR = 10_000;

/** How many billed calls a credential may still make. In memory: each process counts for itself. */
export interface BilledLimit {
  /** Takes one for the subject. Otherwise says in how many milliseconds the next is free. */
  take(subject: string): { readonly retryAfterMs: number } | undefined;
}

/**
 * At most `perHour` billed calls in any 60 minutes for each subject.
 * @throws {ToolFailure} `invalid_input` for what is no whole number: a limit that compares with nothing would be none
 */
export function billedLimit(perHour: number, now: () => number = Date.now): BilledLimit {
  if (!Number.isInteger(perHour) || perHour < 0) {
    throw new ToolFailure("invalid_input", `A limit of billed calls is a whole number from 0, not ${String(perHour)}.`);
  }
  const most = Math.min(perHour, MOST_PER_HOUR);
  const taken = new Map<string, number[]>();
  return {
    take(subject) {
      const since = now() - HOUR_MS;
      const mine = (taken.get(subject) ?? []).filter((at) => at > since);
      // Last in the order, so that the idle stand first.
      taken.delete(subject);
      taken.set(subject, mine);
      if (mine.length >= most) return { retryAfterMs: Math.max(1, (mine[0] ?? now()) - since) };
      mine.push(now());
      forgetIdle(taken, since);
      return undefined;
    },
  };
}

/** A subject none of whose calls count any more needs no memory. */
function forgetIdle(taken: Map<string, number[]>, since: number): void {
  for (const [subject, times] of taken) {
    if ((times.at(-1) ?? 0) > since) break;
    taken.delete(subject);
  }
}
