import { Canvas, type Colour } from "../../mac/screen/canvas.ts";
import { png } from "../../mac/screen/encode.ts";
import type { Element } from "./element.ts";
import { SCREEN, type Phone } from "./phone.ts";

const PAPER: Colour = [246, 246, 248];
const INK: Colour = [28, 28, 32];
const FILLS: Readonly<Partial<Record<Element["kind"], Colour>>> = {
  button: [52, 92, 220],
  field: [255, 255, 255],
  password: [255, 255, 255],
  row: [230, 232, 238],
  icon: [214, 226, 250],
};
const FOCUS: Colour = [240, 150, 40];
const LETTER = 6;

/** The last picture of each phone, and what it shows: drawing one takes longer than all the rest of a call. */
const drawn = new WeakMap<Phone, { readonly shows: string; readonly png: Buffer }>();

/** A PNG of what lies on the screen; passwords are drawn as dots. The same bytes object as long as nothing changes. */
export function screenshot(phone: Phone, hideOverlay: boolean): Buffer {
  const elements = phone.elements();
  const overlay = phone.overlay && !hideOverlay;
  const shows = JSON.stringify([elements, overlay]);
  const last = drawn.get(phone);
  if (last?.shows === shows) return last.png;
  const png = draw(elements, overlay);
  drawn.set(phone, { shows, png });
  return png;
}

function draw(elements: readonly Element[], overlay: boolean): Buffer {
  const canvas = new Canvas(SCREEN.width, SCREEN.height, PAPER);
  for (const element of elements) {
    const { left, top, right, bottom } = element.rect;
    const fill = FILLS[element.kind];
    if (element.focused === true) canvas.fill(left - 6, top - 6, right - left + 12, bottom - top + 12, FOCUS);
    if (fill !== undefined) canvas.fill(left, top, right - left, bottom - top, fill);
    const text = element.kind === "password" ? "*".repeat(element.text.length) : element.text;
    canvas.text(left + 24, (top + bottom) / 2 - 21, text, LETTER, element.kind === "button" ? PAPER : INK, right - 24);
  }
  if (overlay) canvas.fill(0, 0, SCREEN.width, 12, FOCUS);
  return png(canvas);
}
