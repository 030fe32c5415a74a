import { decode, encode } from "jpeg-js";
import { expect, test } from "vitest";
import { png } from "./backend.fixture.ts";
import { createOriginals } from "./originals.ts";
import { MAX_PICTURE_BYTES, pictureOf } from "./pictures.ts";
import { toolsetForTest } from "./toolset.fixture.ts";

test("a screenshot becomes a small JPEG of the same shape", async () => {
  const screen = png(270, 585, (x) => (x < 135 ? 10 : 240));
  const picture = await pictureOf(screen, 320);
  expect(picture).toMatchObject({ mimeType: "image/jpeg", width: 148, height: 320, originalWidth: 270 });
  expect(picture.bytes.byteLength).toBeLessThan(MAX_PICTURE_BYTES);
  const seen = decode(picture.bytes, { useTArray: true });
  expect([seen.width, seen.height]).toEqual([148, 320]);
  const at = (x: number) => seen.data[(160 * 148 + x) * 4] ?? 0;
  expect(at(30)).toBeLessThan(30);
  expect(at(120)).toBeGreaterThan(220);
});

test("a small picture is not blown up, a JPEG is read too", async () => {
  const jpeg = encode({ width: 20, height: 10, data: Buffer.alloc(800, 128) }, 90).data;
  expect(await pictureOf(new Uint8Array(jpeg))).toMatchObject({ width: 20, height: 10, originalHeight: 10 });
});

test("even noise stays under the limit", async () => {
  let seed = 1;
  const noise = png(200, 200, () => (seed = (seed * 48_271) % 2_147_483_647) & 255);
  const picture = await pictureOf(noise, 4096, 3000);
  expect(picture.bytes.byteLength).toBeLessThanOrEqual(3000);
  expect(picture.width).toBeLessThan(200);
});

test("others go on while pictures are scaled, and each caller gets its own", async () => {
  const sizes = [450, 350, 250];
  const screens = sizes.map((width) => png(width, 800, (x, y) => (x * y) & 255));
  let turns = 0;
  const turn = () => {
    turns += 1;
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  const pictures = await Promise.all(screens.map((screen) => pictureOf(screen, 400)));
  clearImmediate(next);
  expect(pictures.map(({ originalWidth }) => originalWidth)).toEqual(sizes);
  // On this thread there would be a handful.
  expect(turns).toBeGreaterThan(200);
});

test("there is a limit to how many wait", async () => {
  const screen = png(40, 80, (x) => x);
  const asked = await Promise.allSettled(Array.from({ length: 40 }, () => pictureOf(screen)));
  const refused = asked.filter(({ status }) => status === "rejected");
  expect(refused).toHaveLength(8);
  expect(refused[0]).toMatchObject({ reason: { code: "rate_limited" } });
  expect(await pictureOf(screen)).toMatchObject({ width: 40 });
});

test.each([
  ["a page", new TextEncoder().encode("<html>")],
  ["nothing", new Uint8Array()],
  ["half a picture", png(50, 50, (x) => x).slice(0, 60)],
  ["a picture that claims a billion pixels", claims(100_000, 100_000)],
])("%s is refused, not decoded", async (_, bytes) => {
  await expect(pictureOf(bytes)).rejects.toMatchObject({ code: "upstream_error" });
});

function claims(width: number, height: number): Uint8Array {
  const bytes = Buffer.from(png(4, 4, () => 0));
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

test("the tool sends the picture, says how to scale, and links to the original for its caller alone", async () => {
  const bytes = png(300, 600, (x) => x & 255);
  const originals = createOriginals();
  const { call } = toolsetForTest({
    context: { originals },
    answers: { getDeviceScreenshot: () => ({ bytes, contentType: "application/octet-stream" }) },
  });
  const outcome = await call("get_device_screenshot", { deviceId: "d1", maxSide: 300 });
  expect(outcome).toMatchObject({
    kind: "ok",
    structured: { width: 300, height: 600, pictureWidth: 150, pictureHeight: 300, scale: 2, mimeType: "image/jpeg" },
    attachments: [
      { kind: "image", mimeType: "image/jpeg" },
      { kind: "resource_link", mimeType: "image/png", size: bytes.length },
    ],
  });
  const uri = outcome.kind === "ok" ? String(outcome.structured.original) : "";
  expect(originals.read("k1", uri)).toEqual({ bytes, mimeType: "image/png" });
  expect(originals.read("k2", uri)).toBeUndefined();
});

test("originals make room for newer ones, and what is too big is not kept", () => {
  const originals = createOriginals(10);
  const keep = (length: number) => originals.keep("k", { bytes: new Uint8Array(length), mimeType: "image/png" });
  const [first, second] = [keep(6), keep(6)];
  expect(originals.read("k", first ?? "")).toBeUndefined();
  expect(originals.read("k", second ?? "")?.bytes).toHaveLength(6);
  expect(keep(11)).toBeUndefined();
});
