import { z } from "zod";
import { domain, empty, get, json, patch, post, put, remove } from "../endpoint.ts";
import { flag, given, list, number, optionalFlag, optionalText, text, textFields } from "../shapes.ts";

const headers = ["displayId"] as const;

export const DeviceApp = z.object({
  packageName: z.string(),
  ...textFields("label", "versionName"),
  versionCode: number,
  isSystemApp: flag,
});
export type DeviceApp = z.infer<typeof DeviceApp>;

const Install = z.object({
  appId: text,
  ...textFields("platform", "status", "startedAt", "updatedAt"),
  /** download_failed, adb_install_failed, panic, timeout or failed. */
  errorClass: text,
});

export const deviceApps = domain("deviceApps", {
  list: get("/devices/{deviceId}/apps", {
    query: z.strictObject({ includeSystemApps: optionalFlag, includeProtectedApps: optionalFlag }),
    headers,
    answer: json(list(DeviceApp)),
  }),
  packages: get("/devices/{deviceId}/packages", {
    query: z.strictObject({ includeSystemPackages: optionalFlag, includeProtectedPackages: optionalFlag }),
    headers,
    answer: json(list(z.string())),
  }),
  /** One of packageName and bundleId. Answers when it is installed; with `background` at once, and `installs` says how it went. */
  install: post("/devices/{deviceId}/apps", {
    body: json(z.strictObject({ packageName: optionalText, bundleId: optionalText, background: optionalFlag })),
    headers,
    answer: empty,
  }),
  /** Installs that run or ended in the last quarter of an hour. */
  installs: get("/devices/{deviceId}/apps/installs", {
    headers,
    answer: json(z.object({ installs: list(Install) })),
  }),
  start: put("/devices/{deviceId}/apps/{packageName}", {
    body: json(z.strictObject({ activity: optionalText })),
    headers,
    answer: empty,
  }),
  /** With `clearData` the app's data is gone too. */
  stop: patch("/devices/{deviceId}/apps/{packageName}", {
    body: json(z.strictObject({ clearData: optionalFlag })),
    headers,
    answer: empty,
  }),
  remove: remove("/devices/{deviceId}/apps/{packageName}", { body: json(z.strictObject({})), headers, answer: empty }),
  openDeepLink: post("/devices/{deviceId}/apps/open-deep-link", {
    body: json(z.strictObject({ deepLink: given, action: optionalText, packageName: optionalText })),
    headers,
    answer: empty,
  }),
  /** `permission` is POST_NOTIFICATIONS, the only one that the API names. */
  grantPermission: put("/devices/{deviceId}/apps/{packageName}/permissions/{permission}", { headers, answer: empty }),
  revokePermission: remove("/devices/{deviceId}/apps/{packageName}/permissions/{permission}", {
    headers,
    answer: empty,
    effects: ["write"],
  }),
  /** Keeps one app in front until it is let go. */
  enterKiosk: put("/devices/{deviceId}/kiosk", {
    body: json(z.strictObject({ packageName: given })),
    headers,
    answer: empty,
  }),
  leaveKiosk: remove("/devices/{deviceId}/kiosk", { headers, answer: empty, effects: ["write"] }),
});
