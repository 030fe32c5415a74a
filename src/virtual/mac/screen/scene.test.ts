import { PNG } from "pngjs";
import { expect, test } from "vitest";
import { DEVICE_TYPES } from "../catalog/models.ts";
import { encode, png } from "./encode.ts";
import { appColour, render, statusBarLayout } from "./scene.ts";
import type { Scene } from "./scene.ts";

// A phone's shape at one pixel a point: decoding a full screen takes pngjs most of a second.
const scene: Scene = {
  width: 402,
  height: 874,
  appearance: "light",
  increaseContrast: false,
  contentSize: 3,
  statusBar: {},
  clock: "9:41",
  app: { bundleId: "com.example.demo", name: "Demo" },
  icons: [],
  content: [],
  banner: undefined,
};

function decoded(of: Scene): { readonly image: PNG; at(x: number, y: number): readonly number[] } {
  const image = PNG.sync.read(png(render(of)));
  return {
    image,
    at: (x, y) => {
      const start = (Math.round(y) * image.width + Math.round(x)) * 4;
      return [...image.data.subarray(start, start + 3)];
    },
  };
}

function differ(a: Scene, b: Scene): number {
  const [first, second] = [decoded(a).image, decoded(b).image];
  let pixels = 0;
  for (let at = 0; at < first.data.length; at += 4) {
    if (first.data.readUInt32BE(at) !== second.data.readUInt32BE(at)) pixels++;
  }
  return pixels;
}

test("a picture has its model's size, for every model", () => {
  for (const { width, height } of DEVICE_TYPES) {
    const image = render({ ...scene, width, height });
    const head = png(image).subarray(16, 24);
    expect([head.readUInt32BE(0), head.readUInt32BE(4)]).toEqual([width, height]);
    expect(image.palette.length).toBeLessThan(64);
  }
});

test("the same facts are the same bytes, and each fact changes pixels", () => {
  expect(png(render(scene)).equals(png(render({ ...scene })))).toBe(true);
  const changes: readonly Partial<Scene>[] = [
    { app: { bundleId: "com.example.other", name: "Demo" } },
    { app: undefined },
    { appearance: "dark" },
    { increaseContrast: true },
    { clock: "9:42" },
    { content: ["hello"] },
    { banner: "news" },
    { statusBar: { time: "10:00" } },
    { statusBar: { operatorName: "Acme" } },
    { statusBar: { dataNetwork: "5g" } },
    { statusBar: { wifiBars: 1 } },
    { statusBar: { wifiMode: "failed" } },
    { statusBar: { cellularBars: 1 } },
    { statusBar: { batteryLevel: 50 } },
    { statusBar: { batteryState: "charging" } },
  ];
  const unseen = changes.filter((change) => differ(scene, { ...scene, ...change }) <= 10);
  expect(unseen).toEqual([]);
  const sized = { ...scene, content: ["hello"] };
  expect(differ(sized, { ...sized, contentSize: 9 })).toBeGreaterThan(10);
});

test("the app in front is told by its colour, the home screen by its icons", () => {
  const front = decoded(scene);
  const { height } = statusBarLayout(scene.width, scene.height);
  expect(front.at(4, height + 4)).toEqual(appColour("com.example.demo"));
  const home = decoded({ ...scene, app: undefined, icons: [{ bundleId: "com.example.demo", name: "Demo" }] });
  const colours = new Set<string>();
  for (let x = 0; x < scene.width / 4; x++) colours.add(home.at(x, height + 30).join());
  expect(colours).toContain(appColour("com.example.demo").join());
});

test("bars and battery can be read off the pixels", () => {
  const layout = statusBarLayout(scene.width, scene.height);
  for (const level of [0, 20, 55, 100]) {
    for (const lit of [0, 1, 2, 3]) {
      const picture = decoded({
        ...scene,
        statusBar: { batteryLevel: level, batteryState: "charged", wifiBars: lit, cellularBars: lit },
      });
      const { battery, wifi, cellular } = layout;
      let filled = 0;
      for (let x = 0; x < battery.width; x++) {
        if (picture.at(battery.x + x, battery.y + battery.height / 2).join() === "52,199,89") filled++;
      }
      expect(Math.round((filled / battery.width) * 100)).toBeCloseTo(level, -1);
      for (const bars of [wifi, cellular]) {
        const dark = [0, 1, 2].filter(
          (bar) => picture.at(bars.x + bar * bars.step + 1, bars.bottom - 2).join() === "28,28,30",
        );
        expect(dark.length).toBe(lit);
      }
    }
  }
});

test("an ISO date shows its time", () => {
  expect(
    differ({ ...scene, statusBar: { time: "2026-01-09T09:41:00+02:00" } }, { ...scene, statusBar: { time: "9:41" } }),
  ).toBe(0);
});

test("BMP and TIFF hold the same pixels as PNG", () => {
  const small = { ...scene, width: 374, height: 446 };
  const canvas = render(small);
  const picture = decoded(small);
  const bmp = encode(canvas, "bmp");
  const tiff = encode(canvas, "tiff");
  const stride = (canvas.width + 3) & ~3;
  for (const [x, y] of [
    [0, 0],
    [5, 60],
    [100, 100],
    [373, 445],
    [330, 26],
  ] as const) {
    const wanted = picture.at(x, y);
    const inBmp = bmp[bmp.readUInt32LE(10) + (canvas.height - 1 - y) * stride + x] ?? -1;
    expect([2, 1, 0].map((channel) => bmp[54 + inBmp * 4 + channel])).toEqual(wanted);
    const strip = tiff.length - canvas.width * canvas.height;
    const inTiff = tiff[strip + y * canvas.width + x] ?? -1;
    const map = strip - 768 * 2;
    expect([0, 1, 2].map((channel) => tiff.readUInt16LE(map + (channel * 256 + inTiff) * 2) / 257)).toEqual(wanted);
  }
});
