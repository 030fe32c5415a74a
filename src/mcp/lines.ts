/** One line of input, or one that was too long to keep. */
export type Line = { readonly kind: "line"; readonly bytes: Buffer } | { readonly kind: "too-long" };

/**
 * Cuts a byte stream into lines. A line over the limit is reported once and skipped to its end, so that one oversized message costs the
 * client that message and not the session. Blank lines are skipped.
 */
export class Lines {
  readonly #max: number;
  #parts: Buffer[] = [];
  #size = 0;
  #skipping = false;

  constructor(maxBytes: number) {
    this.#max = maxBytes;
  }

  push(chunk: Buffer): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(10, start);
      const part = chunk.subarray(start, end === -1 ? undefined : end);
      if (!this.#skipping) {
        this.#size += part.length;
        if (this.#size > this.#max) {
          lines.push({ kind: "too-long" });
          this.#drop();
          this.#skipping = true;
        } else if (part.length > 0) this.#parts.push(part);
      }
      if (end === -1) return lines;
      if (this.#skipping) this.#skipping = false;
      else lines.push(...this.end());
      start = end + 1;
    }
  }

  /** What stands in an unfinished last line when the stream has ended. */
  end(): Line[] {
    const bytes = Buffer.concat(this.#parts);
    this.#drop();
    return isBlank(bytes) ? [] : [{ kind: "line", bytes }];
  }

  #drop(): void {
    this.#parts = [];
    this.#size = 0;
  }
}

const isBlank = (bytes: Buffer): boolean => bytes.every((byte) => byte === 32 || byte === 9 || byte === 13);
