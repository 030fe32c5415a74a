import type { endpoints } from "../../../cloud/index.ts";
import type { Account } from "../account.ts";
import type { Devices } from "../device.ts";
import { bytes, type Handlers } from "../handler.ts";
import { SCREEN } from "../phone/phone.ts";
import { Problem, notFound } from "../problem.ts";
import { without } from "../without.ts";

const DAY_MS = 86_400_000;

interface Recording {
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
}

/** The head of an MP4 file: enough to be told from other bytes. What a screen looked like over time is not drawn here. */
const VIDEO = Buffer.from("00000018667479706d703432000000006d70343269736f6d", "hex");

export function recordingHandlers(account: Account, devices: Devices): Handlers<typeof endpoints.recordings> {
  const all = new Map<string, Recording>();
  const find = (path: { readonly deviceId: string; readonly recordingId: string }) => {
    devices.get(path.deviceId);
    const found = all.get(path.recordingId);
    if (found === undefined || found.deviceId !== path.deviceId) throw notFound("Recording", path.recordingId);
    return found;
  };
  const shown = ({ durationMs, ...recording }: Recording) => ({
    ...without(recording, "startedMs"),
    actions: 0,
    display: { width: SCREEN.width, height: SCREEN.height, rotation: 0 },
    error: null,
    video:
      recording.endedAt === null
        ? null
        : { durationMs, format: "mp4", sizeBytes: VIDEO.length, limited: false, limitReason: null },
  });

  return {
    list({ path, query }) {
      const { id } = devices.get(path.deviceId);
      const found = [...all.values()].filter(
        (recording) =>
          recording.deviceId === id &&
          (query.status === undefined || recording.status === query.status) &&
          (query.type === undefined || recording.types.includes(query.type)),
      );
      return found.length === 0 ? null : found.map(shown);
    },
    start({ path, body }) {
      const { id: deviceId } = devices.ready(path.deviceId);
      if ([...all.values()].some((other) => other.deviceId === deviceId && other.status === "recording")) {
        throw new Problem(409, `Device ${deviceId} is being recorded already`);
      }
      const startedMs = account.clock.now();
      const recording: Recording = {
        id: account.mint("rec"),
        deviceId,
        name: body.name ?? "Recording",
        status: "recording",
        types: body.types ?? ["video", "trajectory"],
        startedAt: account.now(),
        startedMs,
        expiresAt: new Date(startedMs + (body.retentionDays ?? 7) * DAY_MS).toISOString(),
        endedAt: null,
        durationMs: 0,
      };
      all.set(recording.id, recording);
      return shown(recording);
    },
    get: ({ path }) => shown(find(path)),
    stop({ path }) {
      const recording = find(path);
      if (recording.status !== "recording") throw new Problem(409, `Recording ${recording.id} has ended`);
      recording.status = "completed";
      recording.endedAt = account.now();
      recording.durationMs = account.clock.now() - recording.startedMs;
      return shown(recording);
    },
    remove: ({ path }) => void all.delete(find(path).id),
    trajectory: ({ path }) =>
      bytes("application/json", Buffer.from(JSON.stringify({ recordingId: find(path).id, actions: [] }))),
    video({ path }) {
      if (find(path).endedAt === null) throw new Problem(409, "The recording still runs");
      return bytes("video/mp4", VIDEO);
    },
  };
}

interface Session {
  readonly id: string;
  readonly deviceId: string;
  status: "created" | "active";
  readonly controlToken: string;
  readonly camera: unknown;
  readonly microphone: unknown;
  readonly createdAt: string;
}

export function mediaHandlers(account: Account, devices: Devices): Handlers<typeof endpoints.media> {
  const sessions = new Map<string, Session>();
  const controlled = (path: { readonly deviceId: string; readonly sessionId: string }, token: string | undefined) => {
    const session = sessions.get(devices.ready(path.deviceId).id);
    if (session?.id !== path.sessionId) throw notFound("Media session", path.sessionId);
    if (token !== session.controlToken) throw new Problem(403, "The control token is another one");
    return session;
  };
  const shown = (session: Session) => without(session, "controlToken");
  return {
    create({ path, body }) {
      const { id: deviceId } = devices.ready(path.deviceId);
      if (sessions.has(deviceId)) throw new Problem(409, `Device ${deviceId} has a media session`);
      const id = account.mint("med");
      const session: Session = {
        id,
        deviceId,
        status: "created",
        controlToken: `mct_virtual_${id}`,
        camera: body.camera ?? null,
        microphone: body.microphone ?? null,
        createdAt: account.now(),
      };
      sessions.set(deviceId, session);
      return session;
    },
    current({ path }) {
      const session = sessions.get(devices.ready(path.deviceId).id);
      return session === undefined ? null : shown(session);
    },
    activate({ path, headers }) {
      const session = controlled(path, headers.mediaControlToken);
      session.status = "active";
      return shown(session);
    },
    end: ({ path, headers }) => void sessions.delete(controlled(path, headers.mediaControlToken).deviceId),
  };
}
