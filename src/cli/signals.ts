import { constants } from "node:os";

export const ENDING_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
export type EndingSignal = (typeof ENDING_SIGNALS)[number];

/** The exit code of a process that a signal ended, as shells give it. */
export function exitCodeOfSignal(signal: NodeJS.Signals): number {
  return 128 + (constants.signals[signal] ?? 0);
}

/** Calls back on each of these signals instead of ending the process. Returns the end of it. */
export function onSignals(heard: (signal: EndingSignal) => void): () => void {
  const listeners = ENDING_SIGNALS.map((signal) => [signal, () => heard(signal)] as const);
  for (const [signal, listener] of listeners) process.on(signal, listener);
  return () => {
    for (const [signal, listener] of listeners) process.off(signal, listener);
  };
}

const PARENT_POLL_MS = 500;
/** Read as soon as this is loaded: a parent that ends while we start must not be missed. */
const parentAtStart = process.ppid;

/**
 * Calls back once the process that started us has ended: a holder that is left behind would renew for ever. The system then gives us another
 * parent. Started by init itself, there is nobody to miss.
 */
export function onParentGone(gone: () => void): () => void {
  if (parentAtStart <= 1) return () => {};
  const timer = setInterval(() => {
    if (process.ppid === parentAtStart) return;
    clearInterval(timer);
    gone();
  }, PARENT_POLL_MS);
  return () => clearInterval(timer);
}
