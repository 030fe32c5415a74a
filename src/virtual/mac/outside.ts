import { toStderr, toStdout } from "./output.ts";

/** What a call has of the process that it runs in. Tests hold it in their hands; the executable takes its own. */
export interface Outside {
  readonly env: Readonly<Record<string, string | undefined>>;
  out(data: string | Uint8Array): void;
  err(data: string | Uint8Array): void;
  /** All of standard input, or undefined where it is longer than `limit` bytes. */
  stdin(limit: number): Promise<Uint8Array | undefined>;
}

export const thisProcess: Outside = { env: process.env, out: toStdout, err: toStderr, stdin: readStdin };

async function readStdin(limit: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    size += bytes.length;
    if (size > limit) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}
