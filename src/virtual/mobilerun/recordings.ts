import { movie, type Frame } from "../mac/screen/movie.ts";
import type { Account } from "./account.ts";
import type { Devices, VirtualDevice } from "./device.ts";
import type { Received } from "./handler.ts";
import { SCREEN } from "./phone/phone.ts";
import { screenshot } from "./phone/picture.ts";
import { Problem } from "./problem.ts";

const DAY_MS = 86_400_000;
/** A recording that has seen so many screens sees no more. */
const MAX_FRAMES = 60;
const MAX_ACTIONS = 1000;
/** How many recordings one key may have. */
const MAX_RECORDINGS = 20;

/** What counts as something done on the device, by endpoint. */
const ACTIONS: ReadonlySet<string> = new Set([
  "screen.tap",
  "screen.swipe",
  "screen.type",
  "screen.pressKey",
  "screen.clearText",
  "screen.globalAction",
  "deviceApps.start",
  "deviceApps.stop",
  "deviceApps.openDeepLink",
]);

export interface Recording {
  readonly id: string;
  readonly deviceId: string;
  readonly name: string;
  status: "recording" | "completed";
  readonly types: readonly string[];
  readonly startedAt: string;
  readonly startedMs: number;
  readonly expiresAt: string;
  endedAt: string | null;
  durationMs: number;
  readonly actions: { readonly at: number; readonly action: string; readonly params: unknown }[];
  frames: Frame[];
  limitReason: string | null;
  /** A QuickTime movie, once it is stopped. */
  video: Buffer | undefined;
}

export interface Recordings {
  readonly all: ReadonlyMap<string, Recording>;
  start(
    device: VirtualDevice,
    order: { name?: string | undefined; types?: readonly string[] | undefined; retentionDays?: number | undefined },
  ): Recording;
  stop(recording: Recording): void;
  remove(recording: Recording): void;
  /** Looks at the screen of a device that is recorded, after each call to it. */
  called(endpoint: string, call: Received): void;
}

export function createRecordings(account: Account, devices: Devices): Recordings {
  const all = new Map<string, Recording>();
  const running = new Map<string, Recording>();

  function look(recording: Recording): void {
    if (!recording.types.includes("video")) return;
    const png = screenshot(devices.get(recording.deviceId).phone, true);
    if (recording.frames.at(-1)?.png === png) return;
    if (recording.frames.length === MAX_FRAMES) recording.limitReason = "frames";
    else recording.frames.push({ png, at: account.clock.now() - recording.startedMs });
  }

  const recordings: Recordings = {
    all,
    start(device, order) {
      if (running.has(device.id)) throw new Problem(409, `Device ${device.id} is being recorded already`);
      if (all.size >= MAX_RECORDINGS) throw new Problem(409, "There are too many recordings: delete one");
      const startedMs = account.clock.now();
      const keptMs = (order.retentionDays ?? 7) * DAY_MS;
      const recording: Recording = {
        id: account.mint("rec"),
        deviceId: device.id,
        name: order.name ?? "Recording",
        status: "recording",
        types: order.types ?? ["video", "trajectory"],
        startedAt: account.now(),
        startedMs,
        expiresAt: new Date(startedMs + keptMs).toISOString(),
        endedAt: null,
        durationMs: 0,
        actions: [],
        frames: [],
        limitReason: null,
        video: undefined,
      };
      all.set(recording.id, recording);
      running.set(device.id, recording);
      account.clock.after(keptMs, () => recordings.remove(recording));
      look(recording);
      return recording;
    },
    stop(recording) {
      if (recording.status !== "recording") throw new Problem(409, `Recording ${recording.id} has ended`);
      look(recording);
      running.delete(recording.deviceId);
      recording.status = "completed";
      recording.endedAt = account.now();
      recording.durationMs = account.clock.now() - recording.startedMs;
      if (recording.frames.length > 0)
        recording.video = movie(SCREEN.width, SCREEN.height, recording.frames, recording.durationMs);
      recording.frames = [];
    },
    remove(recording) {
      all.delete(recording.id);
      if (running.get(recording.deviceId) === recording) running.delete(recording.deviceId);
    },
    called(endpoint, { path, body }) {
      const recording = running.get((path as Readonly<Record<string, string>>)["deviceId"] ?? "");
      if (recording === undefined) return;
      look(recording);
      if (!ACTIONS.has(endpoint) || !recording.types.includes("trajectory")) return;
      if (recording.actions.length === MAX_ACTIONS) return;
      // What is typed into a password field is nobody's to read.
      const written = endpoint === "screen.type" || endpoint === "screen.pressKey";
      const secret = written && devices.get(recording.deviceId).phone.focus === "password";
      const at = account.clock.now() - recording.startedMs;
      recording.actions.push({ at, action: endpoint, params: secret ? null : (body ?? null) });
    },
  };
  return recordings;
}
