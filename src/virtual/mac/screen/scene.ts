import { Canvas, textWidth } from "./canvas.ts";
import type { Colour } from "./canvas.ts";
import type { StatusBar } from "../device.ts";
import { GLYPH_HEIGHT } from "./font.ts";

interface SceneApp {
  readonly bundleId: string;
  readonly name: string;
}

/** What a device shows, as facts. The same facts are the same pixels. */
export interface Scene {
  readonly width: number;
  readonly height: number;
  readonly appearance: "light" | "dark";
  readonly increaseContrast: boolean;
  /** 0 for the smallest text, 11 for the largest. */
  readonly contentSize: number;
  readonly statusBar: StatusBar;
  /** What the clock shows without an override. */
  readonly clock: string;
  /** The app in front; undefined is the home screen with `icons`. */
  readonly app: SceneApp | undefined;
  readonly icons: readonly SceneApp[];
  readonly content: readonly string[];
  readonly banner: string | undefined;
}

interface Theme {
  readonly ground: Colour;
  readonly ink: Colour;
  readonly faint: Colour;
}

function themeOf(scene: Scene): Theme {
  const dark = scene.appearance === "dark";
  const strong = scene.increaseContrast;
  return {
    ground: dark ? [0, 0, 0] : strong ? [255, 255, 255] : [242, 242, 247],
    ink: dark ? [255, 255, 255] : strong ? [0, 0, 0] : [28, 28, 30],
    faint: dark ? [72, 72, 74] : [199, 199, 204],
  };
}

const GREEN: Colour = [52, 199, 89];
const RED: Colour = [255, 59, 48];
const WHITE: Colour = [255, 255, 255];

/** An app's colour: always the same for the same bundle id, never near black or white. */
export function appColour(bundleId: string): Colour {
  let hash = 0x811c9dc5;
  for (const letter of bundleId) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  const channel = (shift: number) => 48 + (((hash >>> shift) & 0xff) * 144) / 255;
  return [Math.round(channel(0)), Math.round(channel(8)), Math.round(channel(16))];
}

/** Pixels a point: screens of 400 points and more have two or three, a watch has one. */
function pointOf(width: number, height: number): number {
  return Math.max(1, Math.round(Math.min(width, height) / 402));
}

/** Where the status bar's parts are, in pixels, so that a reader finds them again. */
export function statusBarLayout(width: number, height: number) {
  const point = pointOf(width, height);
  const right = width - 24 * point;
  return {
    point,
    height: 54 * point,
    time: { x: 24 * point, y: 20 * point, size: 2 * point },
    operator: { x: 100 * point, y: 24 * point, size: point },
    network: { x: right - 150 * point, y: 24 * point, size: point },
    /** Four bars: each `width` wide, `step` apart, standing on `bottom`. */
    cellular: { x: right - 104 * point, bottom: 34 * point, width: 4 * point, step: 6 * point, unit: 3 * point },
    wifi: { x: right - 70 * point, bottom: 34 * point, width: 6 * point, step: 8 * point, unit: 4 * point },
    /** The battery's inside: filled from the left by its level. */
    battery: { x: right - 32 * point, y: 22 * point, width: 30 * point, height: 12 * point },
  };
}

export function render(scene: Scene): Canvas {
  const theme = themeOf(scene);
  const canvas = new Canvas(scene.width, scene.height, theme.ground);
  if (scene.app === undefined) drawHome(canvas, scene, theme);
  else drawApp(canvas, scene, scene.app, theme);
  if (scene.banner !== undefined) drawBanner(canvas, scene, scene.banner, theme);
  drawStatusBar(canvas, scene, theme);
  return canvas;
}

function drawStatusBar(canvas: Canvas, scene: Scene, theme: Theme): void {
  const bar = scene.statusBar;
  const layout = statusBarLayout(scene.width, scene.height);
  canvas.text(layout.time.x, layout.time.y, timeText(bar.time) ?? scene.clock, layout.time.size, theme.ink);
  const { operator, network, battery } = layout;
  canvas.text(operator.x, operator.y, bar.operatorName ?? "", operator.size, theme.ink, network.x);
  const label = bar.dataNetwork === undefined || ["wifi", "hide"].includes(bar.dataNetwork) ? "" : bar.dataNetwork;
  canvas.text(network.x, network.y, label, network.size, theme.ink, layout.cellular.x);
  // Without an override a simulator shows no carrier, full Wi-Fi and a full battery.
  const cellular = (bar.cellularMode ?? "active") === "active" ? (bar.cellularBars ?? 0) : 0;
  const wifi = (bar.wifiMode ?? "active") === "active" ? (bar.wifiBars ?? 3) : 0;
  drawBars(canvas, layout.cellular, 4, cellular, theme);
  drawBars(canvas, layout.wifi, 3, wifi, theme);
  const level = bar.batteryLevel ?? 100;
  const charging = bar.batteryState === "charging" || bar.batteryState === "charged";
  const colour = charging ? GREEN : level <= 20 ? RED : theme.ink;
  const { point } = layout;
  canvas.fill(battery.x - point, battery.y - point, battery.width + 2 * point, battery.height + 2 * point, theme.ink);
  canvas.fill(battery.x, battery.y, battery.width, battery.height, theme.faint);
  canvas.fill(battery.x, battery.y, (battery.width * level) / 100, battery.height, colour);
}

type BarsLayout = ReturnType<typeof statusBarLayout>["wifi"];

function drawBars(canvas: Canvas, layout: BarsLayout, count: number, lit: number, theme: Theme): void {
  for (let bar = 0; bar < count; bar++) {
    const height = layout.unit * (bar + 1);
    const colour = bar < lit ? theme.ink : theme.faint;
    canvas.fill(layout.x + bar * layout.step, layout.bottom - height, layout.width, height, colour);
  }
}

/** An ISO date sets the date as well; the bar shows its time. Any other text is shown as it is. */
function timeText(time: string | undefined): string | undefined {
  const iso = time === undefined ? null : /^\d{4}-\d{2}-\d{2}T(\d{2}):(\d{2})/.exec(time);
  return iso === null ? time : `${Number(iso[1])}:${iso[2] ?? ""}`;
}

function initialsOf(name: string): string {
  const words = name.split(/[\s_-]+/).filter((word) => word !== "");
  const letters = words.length > 1 ? words.slice(0, 2).map((word) => [...word][0] ?? "") : [...name].slice(0, 2);
  return letters.join("").toUpperCase();
}

function drawApp(canvas: Canvas, scene: Scene, app: SceneApp, theme: Theme): void {
  const point = pointOf(scene.width, scene.height);
  const top = 54 * point;
  const colour = appColour(app.bundleId);
  canvas.fill(0, top, scene.width, 96 * point, colour);
  canvas.text(20 * point, top + 20 * point, initialsOf(app.name), 8 * point, WHITE, 130 * point);
  canvas.text(136 * point, top + 24 * point, app.name, 3 * point, WHITE);
  canvas.text(136 * point, top + 58 * point, app.bundleId, point, WHITE);
  // The middle size is twice a point; each step up or down is a third of one.
  const size = Math.max(1, Math.round(point * (2 + (scene.contentSize - 3) / 3)));
  let y = top + 120 * point;
  for (const line of scene.content.flatMap((text) => wrapped(text, size, scene.width - 40 * point))) {
    if (y > scene.height - 60 * point) return;
    canvas.text(20 * point, y, line, size, theme.ink);
    y += (GLYPH_HEIGHT + 4) * size;
  }
}

function wrapped(text: string, size: number, width: number): readonly string[] {
  const fit = Math.max(1, Math.floor(width / (6 * size)));
  const letters = [...text.slice(0, 4096)];
  return Array.from({ length: Math.max(1, Math.ceil(letters.length / fit)) }, (_, row) =>
    letters.slice(row * fit, (row + 1) * fit).join(""),
  );
}

function drawHome(canvas: Canvas, scene: Scene, theme: Theme): void {
  const point = pointOf(scene.width, scene.height);
  const cell = Math.floor(scene.width / 4);
  const side = Math.floor(cell * 0.62);
  for (const [index, icon] of scene.icons.entries()) {
    const x = (index % 4) * cell + (cell - side) / 2;
    const y = 78 * point + Math.floor(index / 4) * (side + 34 * point);
    if (y + side > scene.height) return;
    canvas.fill(x, y, side, side, appColour(icon.bundleId));
    const initials = initialsOf(icon.name);
    const size = Math.max(1, Math.floor(side / 16));
    canvas.text(x + (side - textWidth(initials, size)) / 2, y + side / 2 - 3.5 * size, initials, size, WHITE, x + side);
    canvas.text(x, y + side + 6 * point, icon.name, point, theme.ink, x + side);
  }
}

function drawBanner(canvas: Canvas, scene: Scene, text: string, theme: Theme): void {
  const point = pointOf(scene.width, scene.height);
  canvas.fill(8 * point, 58 * point, scene.width - 16 * point, 40 * point, theme.faint);
  canvas.text(20 * point, 72 * point, text, Math.max(1, point), theme.ink, scene.width - 20 * point);
}
