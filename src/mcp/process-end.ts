/** Signals that ask the process to go. */
const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
const PARENT_POLL_MS = 1000;

/** What of the process is watched. A port: tests hand in an event emitter. */
export interface WatchedProcess {
  readonly ppid: number;
  on(signal: NodeJS.Signals, listener: () => void): unknown;
  off(signal: NodeJS.Signals, listener: () => void): unknown;
}

/**
 * Watches for the two ends that no stream tells of: a signal, and a parent that has died while something else still holds our input open.
 * `end` is called once, with the process's exit code. Returns the end of the watch.
 */
export function watchForEnd(watched: WatchedProcess, end: (exitCode: number) => void): () => void {
  const parent = watched.ppid;
  const listeners = Object.entries(SIGNALS).map(([name, number]) => {
    const signal = name as keyof typeof SIGNALS;
    const listener = () => end(128 + number);
    watched.on(signal, listener);
    return () => watched.off(signal, listener);
  });
  // An orphan is handed to another parent: its parent's pid changes.
  const poll = setInterval(() => {
    if (watched.ppid !== parent) end(0);
  }, PARENT_POLL_MS);
  return () => {
    clearInterval(poll);
    for (const remove of listeners) remove();
  };
}
