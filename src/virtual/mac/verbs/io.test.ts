import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PNG } from "pngjs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { setFaults } from "../../index.ts";
import { ended, heard, macForTest } from "../mac-for-test.ts";
import type { TestMac } from "../mac-for-test.ts";

let mac: TestMac;
let udid: string;
beforeAll(async () => {
  mac = macForTest();
  udid = await mac.booted();
});
afterAll(() => mac.dispose());

async function shot(): Promise<PNG> {
  return PNG.sync.read((await mac.simctl("io", udid, "screenshot", "-")).bytes);
}

test("a screenshot as a process is a PNG of the model's size, and says where it went", async () => {
  const answer = await mac.xcrun(["simctl", "io", udid, "screenshot", "shot.png"]);
  expect(answer).toMatchObject({
    exit: 0,
    stdout: "",
    stderr: "Detected file type 'PNG' from extension\nWrote screenshot to: shot.png\n",
  });
  const image = PNG.sync.read(readFileSync(join(mac.files, "shot.png")));
  expect([image.width, image.height]).toEqual([1206, 2622]);
  const piped = await mac.xcrun(["simctl", "io", udid, "screenshot", "-"]);
  expect(PNG.sync.read(piped.bytes).width).toBe(1206);
});

test("its pixels follow the app in front, the status bar and the appearance, and come back", async () => {
  await mac.say("status_bar", udid, "override", "--time", "9:41");
  const home = await shot();
  const changes: readonly (readonly string[])[] = [
    ["launch", udid, "com.apple.Preferences"],
    ["status_bar", udid, "override", "--batteryLevel", "10"],
    ["ui", udid, "appearance", "dark"],
    ["openurl", udid, "https://example.com/a"],
    ["openurl", udid, "https://example.com/b"],
  ];
  let before = home;
  const unseen: (readonly string[])[] = [];
  for (const change of changes) {
    await mac.say(...change);
    const after = await shot();
    if (after.data.equals(before.data)) unseen.push(change);
    before = after;
  }
  expect(unseen).toEqual([]);
  await mac.say("ui", udid, "appearance", "light");
  await mac.say("status_bar", udid, "override", "--batteryLevel", "100");
  await mac.say("terminate", udid, "com.apple.mobilesafari");
  expect((await shot()).data.equals(home.data)).toBe(true);
});

test("other types are written where they can be, and refused where they can't", async () => {
  expect((await mac.simctl("io", udid, "screenshot", "--type=bmp", "-")).bytes.subarray(0, 2).toString()).toBe("BM");
  expect(
    (await mac.simctl("io", udid, "screenshot", "--type", "tiff", "-")).bytes.subarray(0, 4).toString("latin1"),
  ).toBe("II*\0");
  const jpeg = await mac.simctl("io", udid, "screenshot", join(mac.files, "a.jpeg"));
  expect(jpeg).toMatchObject({
    exit: 22,
    stderr: "Unsupported image type: jpeg. The virtual Mac writes png, bmp and tiff.\n",
  });
  expect((await mac.simctl("io", udid, "screenshot", join(mac.files, "no", "a.png"))).exit).toBe(2);
  expect((await mac.simctl("io", udid, "screenshot", "--display=external", "-")).exit).toBe(22);
});

test("a device without a screen shows no display port, and its screenshot times out with exit 60", async () => {
  const dark = await mac.say("create", "dark", "iPhone 17");
  setFaults(mac.root, {
    pace: "none",
    latencyMs: { "screen timeout": 20 },
    faults: [{ verb: "boot", boot: "no-display", times: 1 }],
  });
  await mac.say("boot", dark);
  expect(await mac.say("io", dark, "enumerate")).not.toContain("com.apple.framebuffer.display");
  expect(await mac.simctl("io", dark, "screenshot", "-")).toMatchObject({ exit: 60, stdout: "" });
  await mac.say("shutdown", dark);
  await mac.say("boot", dark);
  expect(await mac.say("io", dark, "enumerate")).toContain("Default width: 1206");
  await mac.say("io", dark, "screenConfig", "power", "off");
  expect((await mac.simctl("io", dark, "screenshot", "-")).exit).toBe(60);
  setFaults(mac.root, { pace: "none" });
});

test("a recording runs until it is interrupted, then is a movie with a frame for each change", async () => {
  const file = join(mac.files, "video.mov");
  const child = mac.start(["simctl", "io", udid, "recordVideo", "--codec=h264", file]);
  const end = ended(child);
  await heard(child, "Recording started");
  // One recording a host, whichever device.
  expect((await mac.simctl("io", udid, "recordVideo", join(mac.files, "second.mov"))).exit).toBe(16);
  await mac.say("launch", udid, "com.apple.Maps");
  child.kill("SIGINT");
  const { exit, stderr } = await end;
  expect(exit).toBe(0);
  expect(stderr).toBe(`Recording started\nRecording completed. Writing to disk.\nWrote video to: ${file}\n`);
  const frames = framesOf(readFileSync(file));
  expect(frames.length).toBe(2);
  for (const frame of frames) expect(PNG.sync.read(frame).width).toBe(1206);
  expect(frames[0]?.equals(frames[1] ?? Buffer.alloc(0))).toBe(false);
  expect((await mac.simctl("io", udid, "recordVideo", file)).exit).toBe(17);
});

test("a recorder that is killed leaves the slot taken until its device is booted anew", async () => {
  const other = await mac.booted("recorded");
  const child = mac.start(["simctl", "io", other, "recordVideo", join(mac.files, "lost.mov")]);
  const end = ended(child);
  await heard(child, "Recording started");
  child.kill("SIGKILL");
  await end;
  expect(existsSync(join(mac.files, "lost.mov"))).toBe(false);
  expect((await mac.simctl("io", udid, "recordVideo", join(mac.files, "next.mov"))).exit).toBe(16);
  await mac.say("shutdown", other);
  await mac.say("boot", other);
  const next = mac.start(["simctl", "io", udid, "recordVideo", join(mac.files, "next.mov")]);
  const nextEnd = ended(next);
  await heard(next, "Recording started");
  next.kill("SIGINT");
  expect((await nextEnd).exit).toBe(0);
});

/** The samples of a movie with one track, found through its own tables. */
function framesOf(movie: Buffer): readonly Buffer[] {
  const find = (path: readonly string[], start: number, end: number): Buffer => {
    for (let at = start; at < end;) {
      const size = movie.readUInt32BE(at);
      const [type, ...rest] = path;
      if (movie.toString("latin1", at + 4, at + 8) === type) {
        return rest.length === 0 ? movie.subarray(at + 8, at + size) : find(rest, at + 8, at + size);
      }
      at += size;
    }
    throw new Error(`the movie has no ${path.join("/")}`);
  };
  expect(movie.toString("latin1", 4, 12)).toBe("ftypqt  ");
  const table = (name: string) => find(["moov", "trak", "mdia", "minf", "stbl", name], 0, movie.length);
  const [sizes, offsets, times] = [table("stsz"), table("stco"), table("stts")];
  const count = sizes.readUInt32BE(8);
  expect([offsets.readUInt32BE(4), times.readUInt32BE(4)]).toEqual([count, count]);
  return Array.from({ length: count }, (_, index) => {
    const start = offsets.readUInt32BE(8 + index * 4);
    return movie.subarray(start, start + sizes.readUInt32BE(12 + index * 4));
  });
}
