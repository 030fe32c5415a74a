import { GLYPH_STEP, GLYPH_WIDTH, glyphRows } from "./font.ts";

export type Colour = readonly [red: number, green: number, blue: number];

/**
 * A picture of at most 256 colours. Its rows lie as a PNG wants them, each behind a filter byte of 0, so that nothing is copied
 * to compress it.
 */
export class Canvas {
  readonly width: number;
  readonly height: number;
  readonly rows: Buffer;
  readonly palette: Colour[] = [];
  readonly #indexes = new Map<string, number>();

  constructor(width: number, height: number, background: Colour) {
    this.width = width;
    this.height = height;
    const index = this.#indexOf(background);
    this.rows = Buffer.alloc((width + 1) * height, index);
    for (let y = 0; y < height; y++) this.rows[y * (width + 1)] = 0;
  }

  #indexOf(colour: Colour): number {
    const key = colour.join();
    const known = this.#indexes.get(key);
    if (known !== undefined) return known;
    if (this.palette.length === 256) throw new Error("a picture has 256 colours at most");
    this.#indexes.set(key, this.palette.length);
    return this.palette.push(colour) - 1;
  }

  /** Fills a rectangle; what lies outside is left out. */
  fill(x: number, y: number, width: number, height: number, colour: Colour): void {
    const index = this.#indexOf(colour);
    const left = Math.max(0, Math.round(x));
    const right = Math.min(this.width, Math.round(x + width));
    const bottom = Math.min(this.height, Math.round(y + height));
    if (right <= left) return;
    for (let row = Math.max(0, Math.round(y)); row < bottom; row++) {
      const start = row * (this.width + 1) + 1;
      this.rows.fill(index, start + left, start + right);
    }
  }

  /** Draws one line of text, each point of a letter `size` pixels wide; it ends at `right`. */
  text(x: number, y: number, text: string, size: number, colour: Colour, right = this.width): void {
    let at = x;
    for (const letter of text) {
      if (at + GLYPH_WIDTH * size > right) return;
      for (const [row, bits] of glyphRows(letter).entries()) {
        for (let column = 0; column < GLYPH_WIDTH; column++) {
          if ((bits & (0x10 >> column)) !== 0) this.fill(at + column * size, y + row * size, size, size, colour);
        }
      }
      at += GLYPH_STEP * size;
    }
  }
}

export function textWidth(text: string, size: number): number {
  return [...text].length * GLYPH_STEP * size - size;
}
