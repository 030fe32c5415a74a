import type { ToolCall } from "../tool/index.ts";
import type { Clock } from "./clock.ts";

const BETWEEN_MS = 1000;
const SILENCE_MS = 10_000;

/**
 * Tells the client that its command still runs: at most once a second while output arrives, every ten seconds while none does. Returns the
 * sink for news of output and its end.
 */
export function runProgress(
  clock: Clock,
  progress: NonNullable<ToolCall["progress"]>,
  message: string,
): { output: () => void; stop: () => void } {
  let count = 0;
  let lastSaid: number | undefined;
  let stopped = false;
  let callOff = () => {};
  const waitInSilence = (): void => {
    callOff();
    callOff = clock.after(SILENCE_MS, say);
  };
  const say = (): void => {
    lastSaid = clock.now();
    count += 1;
    waitInSilence();
    progress({ progress: count, message });
  };
  waitInSilence();
  return {
    output() {
      if (stopped) return;
      if (lastSaid === undefined || clock.now() - lastSaid >= BETWEEN_MS) say();
      else waitInSilence();
    },
    stop() {
      stopped = true;
      callOff();
    },
  };
}
