import { LRUCache } from "lru-cache";

const MINUTE_MS = 60_000;
/** Bounds memory. Whoever sends so many keys within a minute only ever empties the buckets of others into full ones. */
const MAX_BUCKETS = 20_000;

interface Bucket {
  tokens: number;
  at: number;
}

/**
 * A token bucket for each key: it holds `perMinute` tokens, starts full, and refills evenly. Only so many are kept; of those the ones that
 * were used last, and one that nobody has touched for a minute is as good as new anyhow.
 */
export class TokenBuckets {
  readonly #perMinute: number;
  readonly #now: () => number;
  readonly #buckets: LRUCache<string, Bucket>;

  constructor(perMinute: number, now: () => number) {
    this.#perMinute = perMinute;
    this.#now = now;
    this.#buckets = new LRUCache({ max: MAX_BUCKETS });
  }

  /** Takes a token. Without one it says in how many whole seconds there is one again, at least 1. */
  take(key: string): { readonly retryAfterSeconds: number } | undefined {
    const now = this.#now();
    const perMs = this.#perMinute / MINUTE_MS;
    const bucket = this.#buckets.get(key) ?? { tokens: this.#perMinute, at: now };
    bucket.tokens = Math.min(this.#perMinute, bucket.tokens + Math.max(0, now - bucket.at) * perMs);
    bucket.at = now;
    this.#buckets.set(key, bucket);
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return undefined;
    }
    return { retryAfterSeconds: Math.max(1, Math.ceil((1 - bucket.tokens) / perMs / 1000)) };
  }

  get size(): number {
    return this.#buckets.size;
  }
}
