/** Letters of five by seven points. Each is seven rows of five bits, two hex digits a row, the leftmost point in the highest bit. */
const GLYPHS: Readonly<Record<string, string>> = {
  " ": "00000000000000",
  A: "0e11111f111111",
  B: "1e11111e11111e",
  C: "0e11101010110e",
  D: "1e11111111111e",
  E: "1f10101e10101f",
  F: "1f10101e101010",
  G: "0e11101711110f",
  H: "1111111f111111",
  I: "0e04040404040e",
  J: "0702020202120c",
  K: "11121418141211",
  L: "1010101010101f",
  M: "111b1515111111",
  N: "11191513111111",
  O: "0e11111111110e",
  P: "1e11111e101010",
  Q: "0e11111115120d",
  R: "1e11111e141211",
  S: "0f10100e01011e",
  T: "1f040404040404",
  U: "1111111111110e",
  V: "11111111110a04",
  W: "11111115151b11",
  X: "11110a040a1111",
  Y: "11110a04040404",
  Z: "1f01020408101f",
  "0": "0e11131519110e",
  "1": "040c040404040e",
  "2": "0e11010204081f",
  "3": "1f02040201110e",
  "4": "02060a121f0202",
  "5": "1f101e0101110e",
  "6": "0608101e11110e",
  "7": "1f010204080808",
  "8": "0e11110e11110e",
  "9": "0e11110f01020c",
  ".": "00000000000c0c",
  ",": "000000000c0408",
  ":": "000c0c000c0c00",
  "-": "0000001f000000",
  _: "0000000000001f",
  "/": "00010204081000",
  "+": "0004041f040400",
  "%": "18190204081303",
  "(": "02040808080402",
  ")": "08040202020408",
  "=": "00001f001f0000",
  "?": "0e110102040004",
  "!": "04040404040004",
  "&": "0c12140815120d",
  "#": "0a0a1f0a1f0a0a",
  "'": "0c040800000000",
  '"': "0a0a0a00000000",
};

/** What stands for a letter that is not drawn. */
const BOX = "1f11111111111f";

export const GLYPH_WIDTH = 5;
export const GLYPH_HEIGHT = 7;
/** From one letter to the next. */
export const GLYPH_STEP = 6;

/** The seven rows of a letter. Small letters look like capitals. */
export function glyphRows(letter: string): readonly number[] {
  const capital = letter.toUpperCase();
  const hex = (Object.hasOwn(GLYPHS, capital) ? GLYPHS[capital] : undefined) ?? BOX;
  return Array.from({ length: GLYPH_HEIGHT }, (_, row) => Number.parseInt(hex.slice(row * 2, row * 2 + 2), 16));
}
