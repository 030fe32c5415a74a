import type { Writable } from "node:stream";

/** Writes one chunk. False: the stream wants no more until it says `drain`. */
export type Write = (chunk: string, written?: () => void) => boolean;

/**
 * Takes the process's standard output for the protocol alone: what anything else prints there, `console.log` included, goes to standard error
 * from now on. To be called before any dependency is loaded, since some print while they load. Returns the way to write.
 */
export function guardStdout(streams: { stdout: Writable; stderr: Writable } = process): Write {
  const { stdout, stderr } = streams;
  const write = stdout.write.bind(stdout);
  Object.defineProperty(stdout, "write", { value: stderr.write.bind(stderr), configurable: true, writable: true });
  return (chunk, written) => write(chunk, "utf8", written);
}
