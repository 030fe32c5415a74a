import { crc32, deflateSync } from "node:zlib";
import type { Canvas } from "./canvas.ts";

export type ImageType = "png" | "bmp" | "tiff";

export function encode(canvas: Canvas, type: ImageType): Buffer {
  if (type === "bmp") return bmp(canvas);
  return type === "tiff" ? tiff(canvas) : png(canvas);
}

/** PNG with a palette. pngjs writes true colour only, four times the bytes, and takes ten times as long for a phone's screen. */
export function png(canvas: Canvas): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(canvas.width, 0);
  header.writeUInt32BE(canvas.height, 4);
  // Eight bits a pixel, palette; the remaining three bytes are the only methods that PNG has.
  header.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    pngChunk("IHDR", header),
    pngChunk("PLTE", Buffer.from(canvas.palette.flat())),
    pngChunk("IDAT", deflateSync(canvas.rows, { level: 1 })),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}

function row(canvas: Canvas, y: number): Buffer {
  const start = y * (canvas.width + 1) + 1;
  return canvas.rows.subarray(start, start + canvas.width);
}

/** Rows go from the bottom up, each filled to four bytes; colours are blue, green, red. */
function bmp(canvas: Canvas): Buffer {
  const stride = (canvas.width + 3) & ~3;
  const offset = 14 + 40 + 256 * 4;
  const file = Buffer.alloc(offset + stride * canvas.height);
  file.write("BM", 0, "latin1");
  file.writeUInt32LE(file.length, 2);
  file.writeUInt32LE(offset, 10);
  file.writeUInt32LE(40, 14);
  file.writeInt32LE(canvas.width, 18);
  file.writeInt32LE(canvas.height, 22);
  file.writeUInt16LE(1, 26);
  file.writeUInt16LE(8, 28);
  file.writeUInt32LE(stride * canvas.height, 34);
  file.writeUInt32LE(256, 46);
  for (const [index, [red, green, blue]] of canvas.palette.entries()) file.set([blue, green, red, 0], 54 + index * 4);
  for (let y = 0; y < canvas.height; y++) row(canvas, y).copy(file, offset + (canvas.height - 1 - y) * stride);
  return file;
}

const SHORT = 3;
const LONG = 4;

/** One uncompressed strip with a colour map of 256 values each of red, green and blue. */
function tiff(canvas: Canvas): Buffer {
  const fields: readonly (readonly [tag: number, type: number, count: number, value: number])[] = [
    [256, LONG, 1, canvas.width],
    [257, LONG, 1, canvas.height],
    [258, SHORT, 1, 8],
    [259, SHORT, 1, 1],
    [262, SHORT, 1, 3],
    [273, LONG, 1, 8 + 2 + 10 * 12 + 4 + 768 * 2],
    [277, SHORT, 1, 1],
    [278, LONG, 1, canvas.height],
    [279, LONG, 1, canvas.width * canvas.height],
    [320, SHORT, 768, 8 + 2 + 10 * 12 + 4],
  ];
  const head = Buffer.alloc(8 + 2 + fields.length * 12 + 4 + 768 * 2);
  head.write("II*\0", 0, "latin1");
  head.writeUInt32LE(8, 4);
  head.writeUInt16LE(fields.length, 8);
  for (const [index, [tag, type, count, value]] of fields.entries()) {
    const at = 10 + index * 12;
    head.writeUInt16LE(tag, at);
    head.writeUInt16LE(type, at + 2);
    head.writeUInt32LE(count, at + 4);
    head.writeUInt32LE(value, at + 8);
  }
  const map = 10 + fields.length * 12 + 4;
  for (const [index, colour] of canvas.palette.entries()) {
    for (const [channel, value] of colour.entries()) head.writeUInt16LE(value * 257, map + (channel * 256 + index) * 2);
  }
  return Buffer.concat([head, ...Array.from({ length: canvas.height }, (_, y) => row(canvas, y))]);
}
