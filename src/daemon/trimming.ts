import type { Config } from "../contract/index.ts";
import type { Store } from "../store/index.ts";
import { TRIM_INTERVAL_MS, TRIM_PAUSE_MS } from "./limits.ts";

/** Removes old events in the background, a small batch at a time with a pause after each. `failed` ends it. Returns the end of it. */
export function startTrimming(
  store: Pick<Store, "trimEvents">,
  { retentionMs, maxEvents }: Config["eventLog"],
  failed: (error: unknown) => void,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  const next = (ms: number): void => {
    timer = setTimeout(trim, ms);
    timer.unref();
  };
  const trim = (): void => {
    try {
      const removed = store.trimEvents({ before: Date.now() - retentionMs, keep: maxEvents });
      next(removed > 0 ? TRIM_PAUSE_MS : TRIM_INTERVAL_MS);
    } catch (error) {
      failed(error);
    }
  };
  next(TRIM_INTERVAL_MS / 10);
  return () => clearTimeout(timer);
}
