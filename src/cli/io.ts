import type { Readable, Writable } from "node:stream";

/** The process around a command. Tests hand in their own. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
}

/** The reader of our output has gone (`simlock status | head -1`): nothing is left to say. */
export class OutputClosed extends Error {}

/** Writes and waits until the reader took it, so that a slow reader slows us. Throws `OutputClosed`. */
export function write(stream: Writable, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    if (stream.destroyed || stream.writableEnded) {
      reject(new OutputClosed());
      return;
    }
    stream.write(text, (error) => {
      if (!error) resolve();
      else reject(isClosedPipe(error) ? new OutputClosed() : error);
    });
  });
}

export const writeLine = (stream: Writable, line: string): Promise<void> => write(stream, `${line}\n`);
export const writeJson = (stream: Writable, value: unknown): Promise<void> => writeLine(stream, JSON.stringify(value));

/** Without a listener a stream whose reader has gone would end the process with a stack trace. The write itself reports it. */
export function tolerateClosedPipes(io: Pick<Io, "stdout" | "stderr">): void {
  for (const stream of [io.stdout, io.stderr]) {
    stream.on("error", (error) => {
      if (!isClosedPipe(error)) throw error;
    });
  }
}

function isClosedPipe(error: Error): boolean {
  const code = "code" in error ? error.code : undefined;
  return code === "EPIPE" || code === "ERR_STREAM_DESTROYED" || code === "ERR_STREAM_WRITE_AFTER_END" || code === "EIO";
}
