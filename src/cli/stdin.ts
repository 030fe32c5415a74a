import type { Readable } from "node:stream";
import { SimlockError } from "../contract/index.ts";
import { spanOf } from "./duration.ts";

/** A command's input travels in one frame of 8 MiB, in which one byte can take six characters. */
export const MAX_STDIN_BYTES = 1024 * 1024;
/** How long an open pipe may bring nothing before we ask what was meant. */
const SILENCE_MS = 5000;

/** Verbs that can read standard input; the others get none, so that an open pipe with nothing in it cannot hold them up. */
const READERS: Readonly<Record<string, readonly string[]>> = {
  simctl: ["push", "pbcopy", "location", "spawn", "launch"],
  adb: ["shell", "exec-in", "exec-out", "logcat", "install", "install-multiple", "sync"],
};

/** Whether any word of the command could be a verb that reads standard input. Too often yes is harmless. */
export function mayReadStdin(tool: string, args: readonly string[]): boolean {
  return args.some((arg) => READERS[tool]?.includes(arg) === true);
}

/**
 * All of standard input as text. Bounded: more than 1 MiB is refused, and, unless `patient`, a pipe on which nothing comes for 5 s. Throws `USAGE`.
 */
export async function readStdin(
  stdin: Readable,
  options: { readonly patient: boolean; readonly silenceMs?: number },
): Promise<string> {
  const silenceMs = options.silenceMs ?? SILENCE_MS;
  const parts: Buffer[] = [];
  let size = 0;
  const silent = new SimlockError("USAGE", `Standard input is open, but nothing came for ${spanOf(silenceMs)}.`, {
    hint: "Close it (`</dev/null`) or say --no-stdin where the command needs none; say --stdin to wait for its end.",
  });
  let timer: NodeJS.Timeout | undefined;
  const listen = () => {
    clearTimeout(timer);
    if (!options.patient) timer = setTimeout(() => stdin.destroy(silent), silenceMs);
  };
  listen();
  try {
    for await (const chunk of stdin) {
      listen();
      const bytes: Buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
      size += bytes.length;
      if (size > MAX_STDIN_BYTES) {
        throw new SimlockError("USAGE", `Standard input is longer than ${MAX_STDIN_BYTES / 1024 / 1024} MiB.`, {
          hint: "Push a file to the device instead, or pass the input through with --raw.",
        });
      }
      parts.push(bytes);
    }
  } finally {
    clearTimeout(timer);
  }
  return textOf(Buffer.concat(parts));
}

/** Input is text on the wire. Bytes that are not UTF-8 would arrive changed. */
function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new SimlockError("USAGE", "Standard input is not UTF-8 text.", {
      hint: "Pass it through byte for byte with --raw, or push it as a file.",
    });
  }
}
