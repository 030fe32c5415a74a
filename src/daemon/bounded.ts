import { SimlockError, type ErrorCode } from "../contract/index.ts";

export interface Bound {
  readonly timeoutMs: number;
  /** How long the work may take to end once it was told to. Then its result, should it ever come, is dropped. */
  readonly graceMs?: number;
  /** Names the work in the error: "reading the simulators". */
  readonly what: string;
  readonly code?: ErrorCode;
  /** Ends the work early, for the reason it carries. */
  readonly signal?: AbortSignal;
}

/**
 * Work that ends in bounded time whether it heeds its signal or not. Rejects with `bound.code` (`TOOL_FAILED` by default) when the time is over;
 * work that ends well in its grace has ended well.
 */
export async function bounded<T>(bound: Bound, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const control = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  const late = new SimlockError(
    bound.code ?? "TOOL_FAILED",
    `${bound.what} took longer than ${Math.round(bound.timeoutMs / 1000)} s.`,
  );
  let tell = (): void => undefined;
  const given = new Promise<never>((_, refuse) => {
    const end = (reason: unknown): void => {
      control.abort(reason);
      timers.push(setTimeout(() => refuse(reason), bound.graceMs ?? 1000));
    };
    timers.push(setTimeout(() => end(late), bound.timeoutMs));
    tell = () => end(bound.signal?.reason);
  });
  if (bound.signal?.aborted) tell();
  else bound.signal?.addEventListener("abort", tell, { once: true });
  try {
    return await Promise.race([work(control.signal), given]);
  } catch (error) {
    // Work that was told to end says so in its own words; the reason is what counts.
    if (control.signal.aborted) throw control.signal.reason;
    throw error;
  } finally {
    bound.signal?.removeEventListener("abort", tell);
    for (const timer of timers) clearTimeout(timer);
  }
}

/** Whether the promise settles in time. It is not told to end. */
export async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([
      promise.then(
        () => true,
        () => true,
      ),
      new Promise<boolean>((done) => (timer = setTimeout(() => done(false), ms))),
    ]);
  } finally {
    clearTimeout(timer);
  }
}
