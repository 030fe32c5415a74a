import type { Endpoint } from "./endpoint.ts";
import type { CloudLimits } from "./limits.ts";

/** Whether a failure can pass by itself. A conflict can't: it is an answer. */
const PASSING: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

export type Failure =
  | { readonly kind: "status"; readonly status: number; readonly retryAfterMs: number | undefined }
  /** No answer, or one that broke off. */
  | { readonly kind: "connection" }
  /** An answer that is none of ours: the wrong type, shape or size. The same would come again. */
  | { readonly kind: "answer" };

/** Whether a call of this endpoint may be sent more than once at all. */
export function repeatable(endpoint: Endpoint, hasKey: boolean): boolean {
  return endpoint.retry === "safe" || (endpoint.retry === "withKey" && hasKey);
}

/**
 * How long to wait before the next attempt, or undefined for none. `attempt` counts from 1; `random` is between 0 and 1. What the API asks
 * for is waited out when it is within the limit, and is the end when it is not: a shorter wait would only make things worse.
 */
export function delayBeforeRetry(
  failure: Failure,
  attempt: number,
  limits: CloudLimits,
  random: number,
): number | undefined {
  if (attempt >= limits.attempts || failure.kind === "answer") return undefined;
  if (failure.kind === "status") {
    if (!PASSING.has(failure.status)) return undefined;
    if (failure.retryAfterMs !== undefined) {
      return failure.retryAfterMs <= limits.retryAfterMs ? failure.retryAfterMs : undefined;
    }
  }
  const full = Math.min(limits.backoffMs * 2 ** (attempt - 1), limits.maxBackoffMs);
  return Math.round(full * (1 - random / 4));
}

/** `Retry-After` in seconds or as a date; undefined when it is absent or neither. */
export function readRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
