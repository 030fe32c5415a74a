import { readFileSync } from "node:fs";
import { join } from "node:path";
import { operand, parseArguments } from "../arguments.ts";
import type { Call } from "../call.ts";
import { failure } from "../failure.ts";
import { writeWhole } from "../faults.ts";
import { runningDevice } from "../selection.ts";

const MOST_BYTES = 64 << 20;

/** `host` is the virtual Mac's own pasteboard, a file in its folder: never that of the machine it runs on. */
function boardOf(call: Call, word: string): { read(): Uint8Array; write(bytes: Uint8Array): void } {
  if (word === "host") {
    const path = join(call.root, "pasteboard");
    return {
      read: () => {
        try {
          return readFileSync(path);
        } catch {
          return new Uint8Array(0);
        }
      },
      write: (bytes) => writeWhole(path, bytes),
    };
  }
  const { udid } = runningDevice(call.set, word);
  return {
    read: () => call.set.pasteboard(udid),
    write: (bytes) =>
      call.set.write(() => {
        runningDevice(call.set, udid);
        call.set.putPasteboard(udid, bytes);
      }),
  };
}

export async function pbcopy(call: Call, args: readonly string[]): Promise<void> {
  const parsed = parseArguments("pbcopy", args, { flags: ["-v"] });
  const board = boardOf(call, operand(parsed, 0, "pbcopy", "[-v] <device>"));
  const bytes = await call.stdin(MOST_BYTES);
  if (bytes === undefined) throw failure("usage", { why: "What was to be copied is larger than 64 MiB." });
  board.write(bytes);
}

export function pbpaste(call: Call, args: readonly string[]): void {
  const parsed = parseArguments("pbpaste", args, { flags: ["-v"] });
  call.out(boardOf(call, operand(parsed, 0, "pbpaste", "[-v] <device>")).read());
}

export function pbinfo(call: Call, args: readonly string[]): void {
  const parsed = parseArguments("pbinfo", args, { flags: ["-v"] });
  const bytes = boardOf(call, operand(parsed, 0, "pbinfo", "[-v] <device>")).read();
  call.out(bytes.length === 0 ? "Items: 0\n" : `Items: 1\n  public.utf8-plain-text: ${bytes.length} bytes\n`);
}

export function pbsync(call: Call, args: readonly string[]): void {
  const parsed = parseArguments("pbsync", args, { flags: ["-v", "-p"] });
  const form = "[-v] <source device> <destination device>";
  const source = boardOf(call, operand(parsed, 0, "pbsync", form));
  const destination = boardOf(call, operand(parsed, 1, "pbsync", form));
  if (parsed.has("-p")) throw failure("refused", { what: "pbsync -p", why: "it would follow the pasteboard for ever" });
  destination.write(source.read());
}
