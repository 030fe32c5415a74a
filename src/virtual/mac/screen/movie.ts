export interface Frame {
  /** A whole PNG file. */
  readonly png: Uint8Array;
  /** When it is first shown, in milliseconds from the start. */
  readonly at: number;
}

/**
 * A QuickTime movie whose frames are PNG pictures, a codec that QuickTime has had from the start. There is no H.264 or HEVC encoder
 * here; the file is a real one all the same, with each change of the screen at its time. `length` is its length in milliseconds.
 */
export function movie(width: number, height: number, frames: readonly Frame[], length: number): Buffer {
  const durations = frames.map((frame, index) => Math.max(1, (frames[index + 1]?.at ?? length) - frame.at));
  const total = durations.reduce((sum, each) => sum + each, 0);
  const type = atom("ftyp", text("qt  "), u32(0x20050300), text("qt  "));
  const data = atom("mdat", ...frames.map((frame) => Buffer.from(frame.png)));
  let at = type.length + 8;
  const offsets = frames.map((frame) => {
    const start = at;
    at += frame.png.length;
    return start;
  });

  const table = atom(
    "stbl",
    atom("stsd", u32(0), u32(1), pngDescription(width, height)),
    atom("stts", u32(0), u32(frames.length), ...durations.flatMap((each) => [u32(1), u32(each)])),
    atom("stsc", u32(0), u32(1), u32(1), u32(1), u32(1)),
    atom("stsz", u32(0), u32(0), u32(frames.length), ...frames.map((frame) => u32(frame.png.length))),
    atom("stco", u32(0), u32(frames.length), ...offsets.map(u32)),
  );
  const references = atom("dinf", atom("dref", u32(0), u32(1), atom("url ", u32(1))));
  const media = atom(
    "mdia",
    atom("mdhd", u32(0), u32(0), u32(0), u32(TIMESCALE), u32(total), u16(0), u16(0)),
    atom("hdlr", u32(0), text("mhlr"), text("vide"), u32(0), u32(0), u32(0), Buffer.from([0])),
    atom(
      "minf",
      atom("vmhd", u32(1), u16(0x40), u16(0x8000), u16(0x8000), u16(0x8000)),
      atom("hdlr", u32(0), text("dhlr"), text("url "), u32(0), u32(0), u32(0), Buffer.from([0])),
      references,
      table,
    ),
  );
  const header = atom(
    "tkhd",
    u32(0x0f),
    ...[0, 0, 1, 0, total, 0, 0].map(u32),
    ...[0, 0, 0, 0].map(u16),
    MATRIX,
    u32(width * 65536),
    u32(height * 65536),
  );
  const movieHeader = atom(
    "mvhd",
    u32(0),
    u32(0),
    u32(0),
    u32(TIMESCALE),
    u32(total),
    u32(0x10000),
    u16(0x100),
    Buffer.alloc(10),
    MATRIX,
    Buffer.alloc(24),
    u32(2),
  );
  return Buffer.concat([type, data, atom("moov", movieHeader, atom("trak", header, media))]);
}

/** Times are milliseconds. */
const TIMESCALE = 1000;

const MATRIX = Buffer.concat([0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000].map(u32));

function pngDescription(width: number, height: number): Buffer {
  const name = Buffer.alloc(32);
  name.writeUInt8(3, 0);
  name.write("PNG", 1, "latin1");
  return atom(
    "png ",
    Buffer.alloc(6),
    u16(1),
    u32(0),
    text("appl"),
    u32(0),
    u32(512),
    u16(width),
    u16(height),
    u32(72 * 65536),
    u32(72 * 65536),
    u32(0),
    u16(1),
    name,
    u16(24),
    u16(0xffff),
  );
}

function atom(type: string, ...parts: readonly Uint8Array[]): Buffer {
  const size = parts.reduce((sum, part) => sum + part.length, 8);
  return Buffer.concat([u32(size), text(type), ...parts]);
}

function text(value: string): Buffer {
  return Buffer.from(value, "latin1");
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
