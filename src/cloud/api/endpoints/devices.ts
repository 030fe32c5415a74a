import { z } from "zod";
import { domain, empty, get, json, post, put, remove } from "../endpoint.ts";
import {
  direction,
  flagFields,
  given,
  mine,
  number,
  numberFields,
  optionalFlag,
  optionalText,
  page,
  paging,
  provenance,
  stamps,
  text,
  textFields,
} from "../shapes.ts";

export const DEVICE_STATES = [
  "creating",
  "assigned",
  "ready",
  "rebooting",
  "migrating",
  "resetting",
  "stopped",
  "terminated",
  "maintenance",
  "unknown",
] as const;

/** The four names in use, then the older ones that the API takes for them. */
export const DEVICE_TYPES = [
  "android_cloud_phone",
  "android_physical_phone",
  "ios_stealth_phone",
  "android_emulator",
  "dedicated_premium_device",
  "dedicated_physical_device",
  "dedicated_ios_device",
  "dedicated_emulated_device",
] as const;

export const Device = z.object({
  id: z.string(),
  ...textFields("name", "state", "stateMessage", "type", "providerId"),
  /** The token opens the device's screen to whoever has it. */
  ...textFields("streamUrl", "streamToken"),
  taskCount: number,
  ...textFields("activeTaskId", "assignedAt", "terminatesAt", "billingStrategy"),
  ...stamps,
  ...provenance,
});
export type Device = z.infer<typeof Device>;

const Socks5Login = z.strictObject({
  host: given,
  port: z.int().min(1).max(65_535),
  user: optionalText,
  password: optionalText,
});

export const DeviceProxy = z.strictObject({
  name: optionalText,
  smartIp: optionalFlag,
  socks5: Socks5Login.optional(),
  connect: z.strictObject({ id: optionalText, country: optionalText }).optional(),
});

const anything = z.record(z.string(), z.unknown()).optional();

export const DeviceSpec = z.strictObject({
  name: z.string().max(64).optional(),
  androidVersion: z.union([z.string(), z.number()]).optional(),
  apps: z.array(z.string()).optional(),
  carrier: anything,
  country: optionalText,
  files: z.array(z.string()).optional(),
  identifiers: anything,
  locale: optionalText,
  location: z.strictObject({ latitude: z.number(), longitude: z.number() }).optional(),
  proxy: DeviceProxy.optional(),
  timezone: optionalText,
});

/** Identifiers of the device and its SIM (IMEI, IMSI, phone number, …): not for everybody's eyes. */
export const Fingerprint = z.object({
  model: z
    .object(textFields("brand", "manufacturer", "model", "device", "hardware", "aospVersion", "imageRepository"))
    .nullish(),
  display: z.object(numberFields("width", "height", "densityDpi")).nullish(),
  carrier: z.record(z.string(), z.union([z.string(), z.number()]).nullish()).nullish(),
  identifiers: z.record(z.string(), z.string().nullish()).nullish(),
});

export const Capabilities = z.object({
  deviceType: text,
  capabilities: z
    .object(
      flagFields(
        "accessibility",
        "agent",
        "apps",
        "browser",
        "cameraInjection",
        "esim",
        "files",
        "fingerprint",
        "frida",
        "geo",
        "humanTouch",
        "language",
        "logcat",
        "microphoneInjection",
        "proxy",
        "reset",
        "shell",
        "spoofing",
        "stop",
        "stream",
        "time",
      ),
    )
    .nullish(),
});

const DeviceTask = z.object({ taskId: z.string(), ...stamps });

export const devices = domain("devices", {
  list: get("/devices", {
    query: z.strictObject({
      state: z.array(z.enum(DEVICE_STATES)).optional(),
      type: z.enum(DEVICE_TYPES).optional(),
      name: optionalText,
      country: optionalText,
      providerId: optionalText,
      orderBy: z.enum(["id", "createdAt", "updatedAt", "assignedAt"]).optional(),
      orderByDirection: direction,
      ...paging,
      ...mine,
    }),
    answer: json(page(Device)),
  }),
  /** Billed from the moment it is made. */
  create: post("/devices", {
    query: z.strictObject({
      deviceType: z.enum(DEVICE_TYPES).optional(),
      country: optionalText,
      profileId: optionalText,
      billing: z.enum(["auto", "subscription", "minute"]).optional(),
    }),
    body: json(DeviceSpec),
    answer: json(Device),
    effects: ["write", "commerce"],
  }),
  /** How many devices there are of each type. */
  count: get("/devices/count", { answer: json(z.record(z.string(), z.unknown()).transform(counts)) }),
  get: get("/devices/{deviceId}", { answer: json(Device) }),
  rename: put("/devices/{deviceId}/name", {
    body: json(z.strictObject({ name: z.string().max(64) })),
    answer: json(Device),
  }),
  /** Answers when the device is ready. Not sent again: each try may take as long as a device takes to start. */
  waitReady: get("/devices/{deviceId}/wait", { answer: json(Device), retry: "never" }),
  reboot: post("/devices/{deviceId}/reboot", { answer: empty }),
  /** Back to factory state: apps, files and settings of the user are gone. */
  reset: post("/devices/{deviceId}/reset", { answer: empty, effects: ["destructive"] }),
  terminate: remove("/devices/{deviceId}", {
    body: json(z.strictObject({ terminateAt: optionalText, previousDeviceId: optionalText })),
    answer: empty,
    effects: ["destructive", "commerce"],
  }),
  /** Parks the device; billing by the minute stands still until it is resumed. */
  stop: post("/devices/{deviceId}/stop", { answer: empty, effects: ["write", "commerce"] }),
  resume: post("/devices/{deviceId}/resume", { answer: empty, effects: ["write", "commerce"] }),
  capabilities: get("/devices/{deviceId}/capabilities", { answer: json(Capabilities) }),
  fingerprint: get("/devices/{deviceId}/fingerprint", { headers: ["displayId"], answer: json(Fingerprint) }),
  applyProfile: put("/devices/{deviceId}/profile", {
    body: json(z.strictObject({ profileId: given })),
    answer: empty,
    effects: ["destructive"],
  }),
  tasks: get("/devices/{deviceId}/tasks", {
    query: z.strictObject({
      orderBy: z.enum(["id", "createdAt", "updatedAt", "assignedAt"]).optional(),
      orderByDirection: direction,
      ...paging,
    }),
    answer: json(page(DeviceTask)),
  }),
});

/** The map of counts may carry `$schema`. */
function counts(answer: Readonly<Record<string, unknown>>): Record<string, number> {
  const numbers = Object.entries(answer).filter((entry): entry is [string, number] => typeof entry[1] === "number");
  return Object.fromEntries(numbers);
}
