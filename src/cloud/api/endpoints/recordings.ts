import { z } from "zod";
import { binary, domain, empty, get, json, post, remove } from "../endpoint.ts";
import { flag, list, number, numberFields, optionalText, text, textFields, texts } from "../shapes.ts";

export const Recording = z.object({
  id: z.string(),
  ...textFields("deviceId", "name", "status"),
  types: texts,
  /** How many actions were recorded. */
  actions: number,
  display: z.object(numberFields("width", "height", "rotation")).nullish(),
  ...textFields("startedAt", "endedAt", "expiresAt", "error"),
  video: z
    .object({ ...numberFields("durationMs", "sizeBytes"), format: text, limited: flag, limitReason: text })
    .nullish(),
});
export type Recording = z.infer<typeof Recording>;

export const recordings = domain("recordings", {
  list: get("/devices/{deviceId}/recordings", {
    query: z.strictObject({ status: optionalText, type: optionalText }),
    answer: json(list(Recording)),
  }),
  start: post("/devices/{deviceId}/recordings", {
    body: json(
      z.strictObject({
        name: optionalText,
        retentionDays: z.int().positive().optional(),
        types: z.array(z.string()).optional(),
      }),
    ),
    answer: json(Recording),
  }),
  get: get("/devices/{deviceId}/recordings/{recordingId}", { answer: json(Recording) }),
  stop: post("/devices/{deviceId}/recordings/{recordingId}", { answer: json(Recording) }),
  remove: remove("/devices/{deviceId}/recordings/{recordingId}", { answer: empty }),
  /** What these two hold has no declared type. */
  trajectory: get("/devices/{deviceId}/recordings/{recordingId}/trajectory", { answer: binary() }),
  video: get("/devices/{deviceId}/recordings/{recordingId}/video", { answer: binary() }),
});

/** A session that puts pictures or sound into the device's camera or microphone. Its control token is a secret. */
const MediaSession = z.object({
  id: z.string(),
  ...textFields("deviceId", "status", "controlToken", "createdAt"),
  camera: z.unknown().optional(),
  microphone: z.unknown().optional(),
});

export const media = domain("media", {
  create: post("/devices/{deviceId}/media-sessions", {
    body: json(z.strictObject({ camera: z.unknown().optional(), microphone: z.unknown().optional() })),
    answer: json(MediaSession),
  }),
  current: get("/devices/{deviceId}/media-sessions/current", {
    headers: ["mediaControlToken"],
    answer: json(MediaSession.nullable()),
  }),
  activate: post("/devices/{deviceId}/media-sessions/{sessionId}/activate", {
    headers: ["mediaControlToken"],
    answer: json(MediaSession),
  }),
  end: remove("/devices/{deviceId}/media-sessions/{sessionId}", {
    headers: ["mediaControlToken"],
    answer: empty,
    effects: ["write"],
  }),
});
