import type { endpoints } from "../../../cloud/index.ts";
import type { Account } from "../account.ts";
import type { Devices } from "../device.ts";
import { bytes, type Handlers } from "../handler.ts";
import { SCREEN } from "../phone/phone.ts";
import { Problem, notFound } from "../problem.ts";
import type { Recording, Recordings } from "../recordings.ts";
import { without } from "../without.ts";

export function recordingHandlers(devices: Devices, recordings: Recordings): Handlers<typeof endpoints.recordings> {
  const find = (path: { readonly deviceId: string; readonly recordingId: string }) => {
    devices.get(path.deviceId);
    const found = recordings.all.get(path.recordingId);
    if (found === undefined || found.deviceId !== path.deviceId) throw notFound("Recording", path.recordingId);
    return found;
  };
  const shown = ({ durationMs, actions, video, limitReason, ...recording }: Recording) => ({
    ...without(recording, "startedMs", "frames"),
    actions: actions.length,
    display: { width: SCREEN.width, height: SCREEN.height, rotation: 0 },
    error: null,
    video:
      video === undefined
        ? null
        : { durationMs, format: "mov", sizeBytes: video.length, limited: limitReason !== null, limitReason },
  });

  return {
    list({ path, query }) {
      const { id } = devices.get(path.deviceId);
      const found = [...recordings.all.values()].filter(
        (recording) =>
          recording.deviceId === id &&
          (query.status === undefined || recording.status === query.status) &&
          (query.type === undefined || recording.types.includes(query.type)),
      );
      return found.length === 0 ? null : found.map(shown);
    },
    start: ({ path, body }) => shown(recordings.start(devices.ready(path.deviceId), body)),
    get: ({ path }) => shown(find(path)),
    stop({ path }) {
      const recording = find(path);
      recordings.stop(recording);
      return shown(recording);
    },
    remove: ({ path }) => recordings.remove(find(path)),
    trajectory({ path }) {
      const { id, types, actions } = find(path);
      if (!types.includes("trajectory")) throw new Problem(404, `Recording ${id} has no trajectory`);
      return bytes("application/json", Buffer.from(JSON.stringify({ recordingId: id, actions })));
    },
    video({ path }) {
      const { id, endedAt, video } = find(path);
      if (endedAt === null) throw new Problem(409, "The recording still runs");
      if (video === undefined) throw new Problem(404, `Recording ${id} has no video`);
      return bytes("video/quicktime", video);
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
