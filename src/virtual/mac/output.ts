import { writeSync } from "node:fs";

const pause = new Int32Array(new SharedArrayBuffer(4));

/**
 * Writes all of `data` before it returns: what was said is out even if the process is killed next. A reader that went away ends the
 * process as SIGPIPE would end the real tool.
 */
function writeAll(fd: 1 | 2, data: string | Uint8Array): void {
  const bytes = typeof data === "string" ? Buffer.from(data) : data;
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(fd, bytes, at);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code === "EPIPE") process.exit(141);
      // A pipe whose other end made it non-blocking is full: wait for the reader.
      if (code !== "EAGAIN") throw error;
      Atomics.wait(pause, 0, 0, 2);
    }
  }
}

export function toStdout(data: string | Uint8Array): void {
  writeAll(1, data);
}

export function toStderr(data: string | Uint8Array): void {
  writeAll(2, data);
}
