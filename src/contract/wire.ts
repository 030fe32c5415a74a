import { z } from "zod";
import { SimlockError, WireError } from "./errors.ts";

/** Moves only when something old stops working; additions do not move it. */
export const PROTOCOL_VERSION = 1;
export const PROTOCOL_RANGE = { min: 1, max: 1 } as const;

/** One frame, its line end not counted. */
export const MAX_FRAME_BYTES = 8 * 1024 * 1024;

export const RequestFrame = z.object({
  id: z.union([z.string().max(200), z.number()]),
  type: z.string().max(200),
  /** Left out: an operation without fields. */
  payload: z.unknown().optional(),
});
export type RequestFrame = z.infer<typeof RequestFrame>;

export const ReplyFrame = z.union([
  z.object({ id: z.union([z.string(), z.number(), z.null()]), ok: z.literal(true), payload: z.unknown() }),
  z.object({ id: z.union([z.string(), z.number(), z.null()]), ok: z.literal(false), error: WireError }),
]);
export type ReplyFrame = z.infer<typeof ReplyFrame>;

export const PushFrame = z.object({ push: z.string(), payload: z.unknown() });
export type PushFrame = z.infer<typeof PushFrame>;

export const encodeFrame = (frame: object): string => `${JSON.stringify(frame)}\n`;

/**
 * Cuts a byte stream into lines. A line over the limit throws `BAD_FRAME` as soon as the limit is passed, so that nobody can make us keep more.
 * Blank lines are skipped; a line that was not ended when the stream ends is dropped.
 */
export class LineSplitter {
  readonly #max: number;
  #parts: Buffer[] = [];
  #size = 0;

  constructor(maxBytes: number = MAX_FRAME_BYTES) {
    this.#max = maxBytes;
  }

  /** Whether part of a line is waiting for its end. */
  get pending(): boolean {
    return this.#size > 0;
  }

  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(10, start);
      if (end === -1) break;
      this.#keep(chunk.subarray(start, end));
      const line = Buffer.concat(this.#parts).toString("utf8").trim();
      this.#parts = [];
      this.#size = 0;
      start = end + 1;
      if (line !== "") lines.push(line);
    }
    this.#keep(chunk.subarray(start));
    return lines;
  }

  #keep(part: Buffer): void {
    this.#size += part.length;
    if (this.#size > this.#max) {
      throw new SimlockError("BAD_FRAME", `A frame is longer than ${this.#max} bytes.`);
    }
    if (part.length > 0 || this.#parts.length === 0) this.#parts.push(part);
  }
}
