/** One call's end: the caller's abort or its time limit, whichever is first, and which of the two it was. */
export interface Deadline {
  readonly signal: AbortSignal;
  endedBy(): "caller" | "time" | undefined;
  remainingMs(): number;
  /** Resolves after a while; rejects when the call ends first. */
  wait(ms: number): Promise<void>;
  /** Lets go of the timer and of the caller's signal, which may outlive thousands of calls. */
  release(): void;
}

export function startDeadline(timeoutMs: number, caller: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  const until = performance.now() + timeoutMs;
  let by: "caller" | "time" | undefined;
  const end = (why: "caller" | "time") => {
    by ??= why;
    controller.abort();
  };
  const onAbort = () => end("caller");
  if (caller?.aborted === true) onAbort();
  caller?.addEventListener("abort", onAbort, { once: true });
  const timer = setTimeout(end, timeoutMs, "time");
  return {
    signal: controller.signal,
    endedBy: () => by,
    remainingMs: () => until - performance.now(),
    async wait(ms) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const pause = setTimeout(resolve, ms);
      const onEnd = () => reject(controller.signal.reason);
      controller.signal.addEventListener("abort", onEnd, { once: true });
      if (controller.signal.aborted) onEnd();
      try {
        await promise;
      } finally {
        clearTimeout(pause);
        controller.signal.removeEventListener("abort", onEnd);
      }
    },
    release() {
      clearTimeout(timer);
      caller?.removeEventListener("abort", onAbort);
    },
  };
}
