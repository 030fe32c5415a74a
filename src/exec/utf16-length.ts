// How many UTF-16 units a decoder makes of some bytes. Counting is many times faster than decoding, and makes no garbage.

/**
 * Of valid UTF-8. It has a unit for each byte that does not continue a sequence, and a second one for each that begins one of four. Counted four bytes at a
 * time: the lanes of a word add up on their own for 255 words.
 */
export function lengthOfValid(bytes: Buffer): number {
  let units = 0;
  let at = 0;
  for (; at < bytes.length && (bytes.byteOffset + at) % 4 !== 0; at++) units += unitsOf(bytes[at] ?? 0);
  if (at === bytes.length) return units;
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset + at, (bytes.length - at) >>> 2);
  units += words.length * 4;
  for (let start = 0; start < words.length; start += 255) {
    const end = Math.min(words.length, start + 255);
    let continuing = 0;
    let four = 0;
    for (let index = start; index < end; index++) {
      const word = words[index] ?? 0;
      continuing += (word >>> 7) & ~(word >>> 6) & 0x01010101;
      four += (word >>> 7) & (word >>> 6) & (word >>> 5) & (word >>> 4) & 0x01010101;
    }
    units += lanes(four) - lanes(continuing);
  }
  for (at += words.length * 4; at < bytes.length; at++) units += unitsOf(bytes[at] ?? 0);
  return units;
}

const unitsOf = (byte: number): number => ((byte & 0xc0) === 0x80 ? 0 : byte >= 0xf0 ? 2 : 1);

const lanes = (word: number): number =>
  (word & 0xff) + ((word >>> 8) & 0xff) + ((word >>> 16) & 0xff) + ((word >>> 24) & 0xff);

/** States of a decoder: ready, or the bytes that may come next. */
const READY = 0;
const ONE_MORE = 1;
const TWO_MORE = 2;
const AFTER_E0 = 3;
const AFTER_ED = 4;
const THREE_MORE = 5;
const AFTER_F0 = 6;
const AFTER_F4 = 7;
const FOUR_TWO_MORE = 8;
const FOUR_ONE_MORE = 9;
const STATES = 10;

/** By state and byte: the next state, and above it how many units have come out. */
const STEPS = steps();

function steps(): Uint8Array {
  const table = new Uint8Array(STATES * 256);
  for (let state = 0; state < STATES; state++) {
    for (let byte = 0; byte < 256; byte++) table[(state << 8) | byte] = step(state, byte);
  }
  return table;
}

function step(state: number, byte: number): number {
  const next = (to: number, units: number): number => (units << 4) | to;
  if (state === READY) return next(afterLead(byte), beginsSequence(byte) ? 0 : 1);
  const [low, high] = bounds(state);
  if (byte < low || byte > high) {
    // What came so far is one replacement character, and this byte begins anew.
    return next(afterLead(byte), beginsSequence(byte) ? 1 : 2);
  }
  switch (state) {
    case ONE_MORE:
      return next(READY, 1);
    case TWO_MORE:
    case AFTER_E0:
    case AFTER_ED:
      return next(ONE_MORE, 0);
    case FOUR_ONE_MORE:
      return next(READY, 2);
    case FOUR_TWO_MORE:
      return next(FOUR_ONE_MORE, 0);
    default:
      return next(FOUR_TWO_MORE, 0);
  }
}

function bounds(state: number): readonly [number, number] {
  if (state === AFTER_E0) return [0xa0, 0xbf];
  if (state === AFTER_ED) return [0x80, 0x9f];
  if (state === AFTER_F0) return [0x90, 0xbf];
  if (state === AFTER_F4) return [0x80, 0x8f];
  return [0x80, 0xbf];
}

function beginsSequence(byte: number): boolean {
  return byte >= 0xc2 && byte <= 0xf4;
}

function afterLead(byte: number): number {
  if (!beginsSequence(byte)) return READY;
  if (byte < 0xe0) return ONE_MORE;
  if (byte === 0xe0) return AFTER_E0;
  if (byte === 0xed) return AFTER_ED;
  if (byte < 0xf0) return TWO_MORE;
  if (byte === 0xf0) return AFTER_F0;
  return byte === 0xf4 ? AFTER_F4 : THREE_MORE;
}

/** Of anything at all: each longest part that can't be a character counts as one replacement character. */
export function lengthOfAny(bytes: Buffer): number {
  let state = READY;
  let units = 0;
  for (let index = 0; index < bytes.length; index++) {
    const made = STEPS[(state << 8) | (bytes[index] ?? 0)] ?? 0;
    state = made & 15;
    units += made >>> 4;
  }
  return state === READY ? units : units + 1;
}
