import { isAscii, isUtf8 } from "node:buffer";
import { lengthOfAny, lengthOfValid } from "./utf16-length.ts";

const EMPTY = Buffer.alloc(0);

/**
 * Cuts a byte stream where a UTF-8 sequence may begin, so that each part decodes to what it is in the whole. Parts are views on the chunk, but for
 * the few bytes of a sequence that two chunks share.
 */
class Utf8Parts {
  #carry = EMPTY;

  push(chunk: Buffer): readonly Buffer[] {
    const parts: Buffer[] = [];
    let rest = chunk;
    if (this.#carry.length > 0) {
      const wanted = sequenceLength(this.#carry[0] ?? 0) - this.#carry.length;
      let taken = 0;
      while (taken < wanted && isContinuation(chunk[taken])) taken++;
      this.#carry = Buffer.concat([this.#carry, chunk.subarray(0, taken)]);
      rest = chunk.subarray(taken);
      if (taken < wanted && rest.length === 0) return parts;
      parts.push(this.#carry);
      this.#carry = EMPTY;
    }
    const open = openBytes(rest);
    if (open > 0) {
      // A copy: the chunk is given back.
      this.#carry = Buffer.from(rest.subarray(rest.length - open));
      rest = rest.subarray(0, rest.length - open);
    }
    if (rest.length > 0) parts.push(rest);
    return parts;
  }

  /** A sequence that the stream left open. */
  end(): readonly Buffer[] {
    const rest = this.#carry;
    this.#carry = EMPTY;
    return rest.length === 0 ? [] : [rest];
  }
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

function sequenceLength(lead: number): number {
  return lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf8 ? 4 : 1;
}

/** How many bytes at the end begin a sequence that is longer than what is there. */
function openBytes(bytes: Buffer): number {
  for (let back = 1; back <= 3; back++) {
    const byte = bytes[bytes.length - back];
    if (byte === undefined || byte < 0x80) return 0;
    if (byte >= 0xc0) return sequenceLength(byte) > back ? back : 0;
  }
  return 0;
}

/** The last bytes of a stream, copied into a ring: no chunk is kept, so each can be freed at once. */
class ByteTail {
  readonly #max: number;
  #ring: Buffer | undefined;
  #at = 0;
  #total = 0;

  constructor(maxBytes: number) {
    this.#max = maxBytes;
  }

  push(chunk: Buffer): void {
    // Not filled: memory that is never reached is never taken.
    this.#ring ??= Buffer.allocUnsafeSlow(this.#max);
    this.#total += chunk.length;
    const last = chunk.length > this.#max ? chunk.subarray(chunk.length - this.#max) : chunk;
    const upToEnd = last.copy(this.#ring, this.#at);
    if (upToEnd < last.length) last.copy(this.#ring, 0, upToEnd);
    this.#at = (this.#at + last.length) % this.#max;
  }

  get bytes(): Buffer {
    const ring = this.#ring ?? EMPTY;
    if (this.#total <= this.#max) return ring.subarray(0, this.#total);
    return Buffer.concat([ring.subarray(this.#at), ring.subarray(0, this.#at)]);
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
    // A unit takes 3 bytes at most; a decoder that starts in the middle of a sequence is in step again after 3 more.
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
    return this.#takeAll(this.#parts.push(chunk));
  }

  end(): string {
    return this.#takeAll(this.#parts.end());
  }

  /** What was kept: the last units, without half of a surrogate pair that the cut left. */
  get kept(): string {
    if (this.#keep === undefined || this.#tail === undefined) return "";
    const text = this.#tail.bytes.toString("utf8");
    if (!this.truncated) return text;
    const last = text.slice(text.length - this.#keep);
    return isLowSurrogate(last.charCodeAt(0)) ? last.slice(1) : last;
  }

  #takeAll(parts: readonly Buffer[]): string {
    let text = "";
    for (const part of parts) text += this.#take(part);
    return text;
  }

  #take(bytes: Buffer): string {
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

/**
 * Gives a chunk's memory back now, not when a collection comes round to it: a flood then reuses the same few pages. Only for a chunk that nobody
 * else holds.
 */
export function release(chunk: Buffer): void {
  const { buffer } = chunk;
  if (!(buffer instanceof ArrayBuffer) || buffer.byteLength !== chunk.length || chunk.length < WORTH_RELEASING) return;
  buffer.transfer(0);
}

/** Below it a chunk could be part of Node's pool, and is not worth the call. */
const WORTH_RELEASING = 16_384;

const isLowSurrogate = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff;
