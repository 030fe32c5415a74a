/** Bounds of one client. Times are in milliseconds. */
export interface CloudLimits {
  /** For a call with its retries and the reading of its answer; a call may say otherwise. */
  readonly timeoutMs: number;
  /** For a stream of events, from its first byte to its last. */
  readonly streamMs: number;
  /** Of JSON, decompressed. */
  readonly maxJsonBytes: number;
  /** Of screenshots, files and videos. */
  readonly maxBinaryBytes: number;
  /** Of one event in a stream of them. */
  readonly maxEventBytes: number;
  /** How often a call that may be repeated is sent at most. */
  readonly attempts: number;
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  /** The longest `Retry-After` that is waited out. */
  readonly retryAfterMs: number;
}

export const DEFAULT_LIMITS: CloudLimits = {
  timeoutMs: 60_000,
  streamMs: 3_600_000,
  maxJsonBytes: 16 * 1024 * 1024,
  maxBinaryBytes: 64 * 1024 * 1024,
  maxEventBytes: 1024 * 1024,
  attempts: 3,
  backoffMs: 250,
  maxBackoffMs: 4000,
  retryAfterMs: 10_000,
};
