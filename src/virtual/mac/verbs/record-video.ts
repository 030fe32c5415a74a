import { existsSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { operand } from "../arguments.ts";
import type { Parsed } from "../arguments.ts";
import type { Call } from "../call.ts";
import { stateAt } from "../device.ts";
import { failure } from "../failure.ts";
import { freeRecordingSlot, takeRecordingSlot } from "../recording-slot.ts";
import { requireDisplay, screenOf } from "../screen/device-screen.ts";
import { png } from "../screen/encode.ts";
import { movie } from "../screen/movie.ts";
import type { Frame } from "../screen/movie.ts";
import { runningDevice } from "../selection.ts";

const FORM = "<device> recordVideo [--codec=<codec>] [--display=<display>] [--mask=<policy>] [--force] <file>";
const MOST_FRAMES = 1000;

/** `recordVideo FILE` records until it is interrupted, then writes the file. One recording a host. */
export async function record(call: Call, udid: string, parsed: Parsed): Promise<void> {
  const file = operand(parsed, 2, "io", FORM);
  const codec = parsed.value("--codec") ?? "hevc";
  if (codec !== "hevc" && codec !== "h264") throw failure("invalidValue", { what: "codec", value: codec });
  if (file === "-") throw failure("invalidValue", { what: "file", value: file });
  if (existsSync(file) && !parsed.has("--force")) throw failure("fileExists", { path: file });
  // Heard from now on: an interrupt right after "Recording started" must end the recording, not the process.
  const end = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => end.abort());
  takeRecordingSlot(call, udid);
  try {
    await recordInto(call, udid, file, end.signal);
  } finally {
    freeRecordingSlot(call);
  }
}

async function recordInto(call: Call, udid: string, file: string, end: AbortSignal): Promise<void> {
  await requireDisplay(call, udid);
  const startedAt = Date.now();
  const frames: Frame[] = [];
  let size = { width: 0, height: 0 };
  let last: Buffer | undefined;
  const look = () => {
    const device = call.set.device(udid);
    if (device === undefined || stateAt(device, Date.now()) !== "Booted") return false;
    const screen = screenOf(call, device);
    size = screen;
    const image = png(screen);
    // A still screen makes no frames: a recording of an hour stays small.
    if (last?.equals(image) !== true && frames.length < MOST_FRAMES)
      frames.push({ png: image, at: Date.now() - startedAt });
    last = image;
    return true;
  };
  runningDevice(call.set, udid);
  look();
  call.err("Recording started\n");
  while (!end.aborted) {
    await sleep(200, undefined, { signal: end }).catch(() => {});
    if (!look()) break;
  }
  call.err("Recording completed. Writing to disk.\n");
  writeFileSync(file, movie(size.width, size.height, frames, Date.now() - startedAt));
  call.err(`Wrote video to: ${file}\n`);
}
