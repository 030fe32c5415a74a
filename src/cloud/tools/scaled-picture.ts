import { decode as decodeJpeg, encode as encodeJpeg } from "jpeg-js";
import { PNG } from "pngjs";
import { imageType } from "./image-type.ts";

/**
 * Pictures for a model: scaled to its longer side and encoded as JPEG, by two small libraries without native code. sharp is several times as
 * fast and brings a native binary for each platform; one screenshot a call does not need that.
 */
export interface Picture {
  readonly bytes: Uint8Array;
  readonly mimeType: "image/jpeg" | "image/png";
  /** Of the picture that is sent. */
  readonly width: number;
  readonly height: number;
  /** Of the screen. */
  readonly originalWidth: number;
  readonly originalHeight: number;
}

/** No screen has as many; a picture that claims them would take gigabytes. */
const MAX_PIXELS = 40_000_000;
const QUALITIES = [80, 60, 40, 20] as const;

interface Pixels {
  readonly width: number;
  readonly height: number;
  /** RGBA. */
  readonly data: Uint8Array;
}

/** The picture is none, or one that nobody should unpack. */
export class UnreadablePicture extends Error {}

/** At most `maxSide` long and `maxBytes` big. Takes a third of a second of a processor for a phone's screen. @throws {UnreadablePicture} */
export async function scaledPicture(bytes: Uint8Array, maxSide: number, maxBytes: number): Promise<Picture> {
  const original = await pixelsOf(bytes);
  let side = Math.min(maxSide, Math.max(original.width, original.height));
  for (;;) {
    const scaled = scaledTo(original, side);
    for (const quality of QUALITIES) {
      const encoded = encodeJpeg({ ...scaled, data: scaled.data }, quality).data;
      if (encoded.byteLength > maxBytes && scaled.width + scaled.height > 2) continue;
      return {
        bytes: new Uint8Array(encoded),
        mimeType: "image/jpeg",
        width: scaled.width,
        height: scaled.height,
        originalWidth: original.width,
        originalHeight: original.height,
      };
    }
    side = Math.floor(side / 2);
  }
}

async function pixelsOf(bytes: Uint8Array): Promise<Pixels> {
  const type = imageType(bytes);
  if (type === undefined) throw new UnreadablePicture("it is neither PNG nor JPEG");
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    if (type === "image/jpeg") {
      return decodeJpeg(buffer, { useTArray: true, maxResolutionInMP: MAX_PIXELS / 1e6, maxMemoryUsageInMB: 512 });
    }
    // Looked at before it is unpacked.
    if (buffer.readUInt32BE(16) * buffer.readUInt32BE(20) > MAX_PIXELS)
      throw new UnreadablePicture("it has too many pixels");
    return await new Promise<Pixels>((resolve, reject) => {
      new PNG().parse(buffer, (error, png) => (error ? reject(error) : resolve(png)));
    });
  } catch (thrown) {
    throw thrown instanceof UnreadablePicture ? thrown : new UnreadablePicture("it is damaged");
  }
}

/** Each pixel is the mean of those that it stands for, so that thin strokes of text stay. */
function scaledTo({ width, height, data }: Pixels, side: number): { width: number; height: number; data: Buffer } {
  const scale = Math.min(1, side / Math.max(width, height));
  const toWidth = Math.max(1, Math.round(width * scale));
  const toHeight = Math.max(1, Math.round(height * scale));
  if (scale === 1) return { width, height, data: Buffer.from(data.buffer, data.byteOffset, data.byteLength) };
  const out = Buffer.alloc(toWidth * toHeight * 4);
  const columns = Array.from({ length: toWidth + 1 }, (_, x) => Math.floor((x * width) / toWidth));
  for (let y = 0; y < toHeight; y += 1) {
    const top = Math.floor((y * height) / toHeight);
    const bottom = Math.max(top + 1, Math.floor(((y + 1) * height) / toHeight));
    for (let x = 0; x < toWidth; x += 1) {
      const left = columns[x] ?? 0;
      const right = Math.max(left + 1, columns[x + 1] ?? 0);
      let [red, green, blue] = [0, 0, 0];
      for (let row = top; row < bottom; row += 1) {
        for (let at = (row * width + left) * 4, end = (row * width + right) * 4; at < end; at += 4) {
          red += data[at] ?? 0;
          green += data[at + 1] ?? 0;
          blue += data[at + 2] ?? 0;
        }
      }
      const count = (bottom - top) * (right - left);
      const to = (y * toWidth + x) * 4;
      out[to] = red / count;
      out[to + 1] = green / count;
      out[to + 2] = blue / count;
      out[to + 3] = 255;
    }
  }
  return { width: toWidth, height: toHeight, data: out };
}
