import { once } from "node:events";
import type { Writable } from "node:stream";
import { SonicBoom } from "sonic-boom";
import type { ToolCallSink } from "../tool/index.ts";

/** JSON lines on standard error that no call waits for. */
export interface ErrorLines {
  write(line: object): void;
  /** Writes what is left, within a bound. */
  close(): Promise<void>;
}

/** Some tens of thousands of lines. Of a reader that has stalled for longer, those that come then are lost, and how many is told. */
const MOST_WAITING_BYTES = 8 * 1024 * 1024;
const CLOSE_MS = 1_000;

/** The audit: one line for each call of a tool. */
export const auditIn =
  (lines: Pick<ErrorLines, "write">): ToolCallSink =>
  (event) =>
    lines.write({ type: "mcp.tool_call", ts: new Date().toISOString(), ...event });

export function errorLines(stderr: Writable): ErrorLines {
  if (stderr === process.stderr) return linesTo(process.stderr.fd);
  return { write: (line) => void stderr.write(textOf(line)), close: async () => {} };
}

/**
 * Writes beside the thread that serves, many lines at once. Node's own stream makes a system call for each, a sixth of what a call costs, and keeps without end what
 * nobody reads.
 */
export function linesTo(fd: number, mostBytes = MOST_WAITING_BYTES): ErrorLines {
  const out = new SonicBoom({ fd, sync: false, maxLength: mostBytes });
  let lost = 0;
  let open = true;
  out.on("drop", () => (lost += 1));
  out.on("drain", () => {
    if (lost === 0) return;
    const line = textOf({ type: "lines_lost", ts: new Date().toISOString(), lost });
    lost = 0;
    out.write(line);
  });
  // Whoever read it is gone. The server goes on.
  out.on("error", () => (open = false));
  return {
    write: (line) => {
      if (open) out.write(textOf(line));
    },
    close: async () => {
      if (!open) return;
      open = false;
      const closed = once(out, "close", { signal: AbortSignal.timeout(CLOSE_MS) }).catch(() => {});
      out.end();
      await closed;
    },
  };
}

const textOf = (line: object): string => `${JSON.stringify(line)}\n`;
