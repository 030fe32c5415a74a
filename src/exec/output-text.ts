import { isAscii, isUtf8 } from "node:buffer";
import { lengthOfAny, lengthOfValid } from "./utf16-length.ts";

const EMPTY = Buffer.alloc(0);

/** Cuts a byte stream where a UTF-8 sequence may begin, so that each part decodes to what it is in the whole. */
export class Utf8Parts {
  #carry = EMPTY;

  push(chunk: Buffer): Buffer {
    const bytes = this.#carry.length === 0 ? chunk : Buffer.concat([this.#carry, chunk]);
    const open = openBytes(bytes);
    if (open === 0) {
      this.#carry = EMPTY;
      return bytes;
    }
    // A copy: a view would keep the whole chunk alive.
    this.#carry = Buffer.from(bytes.subarray(bytes.length - open));
    return bytes.subarray(0, bytes.length - open);
  }

  end(): Buffer {
    const rest = this.#carry;
    this.#carry = EMPTY;
    return rest;
  }
}

/** How many bytes at the end begin a sequence that is longer than what is there. */
function openBytes(bytes: Buffer): number {
  for (let back = 1; back <= 3; back++) {
    const byte = bytes[bytes.length - back];
    if (byte === undefined || byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    const sequence = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : byte < 0xf8 ? 4 : 1;
    return sequence > back ? back : 0;
  }
  return 0;
}

/** The last bytes of a stream. Keeps chunks as they came and joins them only when they are many and small. */
class ByteTail {
  readonly #max: number;
  #parts: Buffer[] = [];
  #size = 0;
  #lost = false;

  constructor(maxBytes: number) {
    this.#max = maxBytes;
  }

  push(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#size += chunk.length;
    for (;;) {
      const first = this.#parts[0];
      if (first === undefined || this.#size - first.length < this.#max) break;
      this.#parts.shift();
      this.#size -= first.length;
      this.#lost = true;
    }
    if (this.#parts.length > 256) this.#parts = [Buffer.concat(this.#parts)];
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  /** Whether something stood in front of `bytes`. */
  get lost(): boolean {
    return this.#lost;
  }
}

/**
 * One stream of a command as text. Counts every UTF-16 unit, but decodes only what somebody wants: each part as it comes, or the tail at the end.
 */
export class OutputText {
  readonly #parts = new Utf8Parts();
  readonly #keep: number | undefined;
  readonly #tail: ByteTail | undefined;
  #length = 0;
  #valid = true;

  /** With `keepLast`, keeps that many UTF-16 units instead of giving each part back. */
  constructor(keepLast: number | undefined) {
    this.#keep = keepLast;
    // A unit takes 3 bytes at most; 3 more and a decoder that starts in the middle of a sequence is in step again.
    this.#tail = keepLast === undefined ? undefined : new ByteTail(3 * keepLast + 3);
  }

  /** UTF-16 units so far. */
  get length(): number {
    return this.#length;
  }

  /** Whether all of it was UTF-8. */
  get valid(): boolean {
    return this.#valid;
  }

  get truncated(): boolean {
    return this.#keep !== undefined && this.#length > this.#keep;
  }

  push(chunk: Buffer): string {
    return this.#take(this.#parts.push(chunk));
  }

  end(): string {
    return this.#take(this.#parts.end());
  }

  /** What was kept: the last units, without half of a surrogate pair that the cut left. */
  get kept(): string {
    if (this.#keep === undefined || this.#tail === undefined) return "";
    const bytes = this.#tail.bytes;
    const text = bytes.toString("utf8", this.#tail.lost ? leadingContinuation(bytes) : 0);
    if (!this.truncated) return text;
    const last = text.slice(text.length - this.#keep);
    return isLowSurrogate(last.charCodeAt(0)) ? last.slice(1) : last;
  }

  #take(bytes: Buffer): string {
    if (bytes.length === 0) return "";
    const ascii = isAscii(bytes);
    const valid = ascii || isUtf8(bytes);
    if (!valid) this.#valid = false;
    if (this.#tail === undefined) {
      const text = bytes.toString(ascii ? "latin1" : "utf8");
      this.#length += text.length;
      return text;
    }
    this.#length += ascii ? bytes.length : valid ? lengthOfValid(bytes) : lengthOfAny(bytes);
    this.#tail.push(bytes);
    return "";
  }
}

function leadingContinuation(bytes: Buffer): number {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return start;
}

const isLowSurrogate = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff;
