import { z } from "zod";
import { domain, empty, get, json, post, remove } from "../endpoint.ts";
import { flag, given, number, optionalFlag, text } from "../shapes.ts";
import { DeviceProxy } from "./devices.ts";

const headers = ["displayId"] as const;

export const deviceSettings = domain("deviceSettings", {
  language: get("/devices/{deviceId}/language", { headers, answer: json(z.object({ locale: text })) }),
  /** A language, an optional script and an optional region: `de`, `pt-BR`, `zh-Hant-TW`. */
  setLanguage: post("/devices/{deviceId}/language", {
    body: json(
      z.strictObject({
        locale: z.string().regex(/^[A-Za-z]{2,3}(-[A-Za-z]{4})?(-[A-Za-z]{2})?$/),
        restart: optionalFlag,
      }),
    ),
    headers,
    answer: empty,
  }),
  timezone: get("/devices/{deviceId}/timezone", { headers, answer: json(z.object({ timezone: text })) }),
  setTimezone: post("/devices/{deviceId}/timezone", {
    body: json(z.strictObject({ timezone: given })),
    headers,
    answer: empty,
  }),
  location: get("/devices/{deviceId}/location", {
    headers,
    answer: json(z.object({ latitude: number, longitude: number })),
  }),
  setLocation: post("/devices/{deviceId}/location", {
    body: json(z.strictObject({ latitude: z.number().min(-90).max(90), longitude: z.number().min(-180).max(180) })),
    headers,
    answer: empty,
  }),
  resetLocation: remove("/devices/{deviceId}/location", { headers, answer: empty, effects: ["write"] }),
  proxy: get("/devices/{deviceId}/proxy", {
    headers,
    answer: json(z.object({ connected: flag, name: text, protocol: text })),
  }),
  /** Takes the place of a connection that stands. */
  connectProxy: post("/devices/{deviceId}/proxy", { body: json(DeviceProxy), headers, answer: empty }),
  disconnectProxy: remove("/devices/{deviceId}/proxy", { headers, answer: empty, effects: ["write"] }),
});
