import { z } from "zod";
import { flag, flagFields, number, numberFields, text, textFields, texts, type Within } from "./fields.ts";
import type { Bytes } from "./devices.ts";

export const Capabilities = z.object({
  deviceType: text,
  capabilities: z.record(z.string(), z.boolean().nullish()).nullish(),
});

/** Names the device, its SIM and its phone number. */
export const Fingerprint = z.object({
  model: z
    .object(textFields("brand", "manufacturer", "model", "device", "hardware", "aospVersion", "imageRepository"))
    .nullish(),
  display: z.object(numberFields("width", "height", "densityDpi")).nullish(),
  carrier: z.record(z.string(), z.union([z.string(), z.number()]).nullish()).nullish(),
  identifiers: z.record(z.string(), text).nullish(),
});

export const Recording = z.object({
  id: z.string(),
  ...textFields("deviceId", "name", "status"),
  types: texts,
  actions: number,
  display: z.object(numberFields("width", "height", "rotation")).nullish(),
  ...textFields("startedAt", "endedAt", "expiresAt", "error"),
  video: z
    .object({ ...numberFields("durationMs", "sizeBytes"), format: text, limited: flag, limitReason: text })
    .nullish(),
});
export type Recording = z.input<typeof Recording>;

export const Install = z.object(textFields("appId", "platform", "status", "startedAt", "updatedAt", "errorClass"));
export type Install = z.input<typeof Install>;

const access = z.object(flagFields("read", "write", "execute")).nullish();
export const FileInfo = z.object({
  name: z.string(),
  type: text,
  size: number,
  ...textFields("modifiedAt", "owner", "group", "symlinkTarget"),
  permissions: z.object({ owner: access, group: access, others: access }).nullish(),
});
export type FileInfo = z.input<typeof FileInfo>;

export const Subscription = z.object({
  subId: z.number(),
  slot: number,
  ...textFields("type", "carrier", "displayName"),
  isEmbedded: flag,
});
export type Subscription = z.input<typeof Subscription>;

export const EsimStatus = z.object({
  subId: z.number(),
  ...textFields("carrier", "operator", "simState", "phoneType", "networkType", "dataState"),
  ...flagFields("isRoaming", "dataRoamingEnabled", "mobileDataEnabled"),
});

export const AccessPoint = z.object({
  id: z.union([z.string(), z.number()]),
  subId: number,
  ...textFields("name", "apn", "mcc", "mnc", "type", "protocol", "roamingProtocol"),
  isPreferred: flag,
});

export const ProxyStatus = z.object({ connected: flag, name: text, protocol: text });
export const Language = z.object({ locale: text });
export const Timezone = z.object({ timezone: text });
export const Location = z.object({ latitude: number, longitude: number });
export const Time = z.object({ time: z.string() });
export const Overlay = z.object({ visible: flag });

export interface OnDisplay {
  readonly displayId?: number | undefined;
}
export interface Tap extends OnDisplay {
  readonly x: number;
  readonly y: number;
  readonly stealth?: boolean | undefined;
}
export interface Swipe extends OnDisplay {
  readonly startX: number;
  readonly startY: number;
  readonly endX: number;
  readonly endY: number;
  /** Milliseconds. */
  readonly duration: number;
  readonly stealth?: boolean | undefined;
}
export interface Typing extends OnDisplay {
  readonly text: string;
  readonly clear?: boolean | undefined;
  readonly errorRate?: number | undefined;
  readonly wpm?: number | undefined;
  readonly stealth?: boolean | undefined;
}
export interface ProxyChoice {
  readonly name?: string | undefined;
  readonly smartIp?: boolean | undefined;
  readonly socks5?:
    { host: string; port: number; user?: string | undefined; password?: string | undefined } | undefined;
  readonly connect?: { id?: string | undefined; country?: string | undefined } | undefined;
}
export interface NewAccessPoint {
  readonly apn: string;
  readonly mcc: string;
  readonly mnc: string;
  readonly name: string;
  readonly subId: number;
  readonly protocol?: string | undefined;
  readonly roamingProtocol?: string | undefined;
  readonly type?: string | undefined;
}

/** What is done to one device. `void` where the platform says no more than that it did it. */
export interface DeviceControlBackend {
  rebootDevice(deviceId: string, within?: Within): Promise<void>;
  resetDevice(deviceId: string, within?: Within): Promise<void>;
  renameDevice(deviceId: string, name: string, within?: Within): Promise<void>;
  /** Answers when the device is ready, or fails with `timeout`. */
  waitDeviceReady(deviceId: string, within?: Within): Promise<void>;
  parkDevice(deviceId: string, within?: Within): Promise<void>;
  resumeDevice(deviceId: string, within?: Within): Promise<void>;
  getDeviceCapabilities(deviceId: string, within?: Within): Promise<z.input<typeof Capabilities>>;
  getDeviceFingerprint(deviceId: string, within?: Within): Promise<z.input<typeof Fingerprint>>;
  countDevices(within?: Within): Promise<Record<string, number>>;

  tap(deviceId: string, tap: Tap, within?: Within): Promise<void>;
  swipe(deviceId: string, swipe: Swipe, within?: Within): Promise<void>;
  keyboardWrite(deviceId: string, typing: Typing, within?: Within): Promise<void>;
  keyboardKey(deviceId: string, press: OnDisplay & { key: number }, within?: Within): Promise<void>;
  keyboardClear(deviceId: string, on: OnDisplay, within?: Within): Promise<void>;
  globalAction(deviceId: string, act: OnDisplay & { action: number }, within?: Within): Promise<void>;
  openDeepLink(
    deviceId: string,
    link: OnDisplay & { deepLink: string; packageName?: string | undefined },
    within?: Within,
  ): Promise<void>;
  executeScript(
    deviceId: string,
    script: OnDisplay & { script: string },
    within?: Within,
  ): Promise<{ result?: unknown }>;

  installApp(
    deviceId: string,
    app: { packageName?: string | undefined; bundleId?: string | undefined; background?: boolean | undefined },
    within?: Within,
  ): Promise<void>;
  listInstalls(deviceId: string, within?: Within): Promise<Install[] | null>;
  deleteApp(deviceId: string, packageName: string, within?: Within): Promise<void>;
  startApp(
    deviceId: string,
    packageName: string,
    how: { activity?: string | undefined },
    within?: Within,
  ): Promise<void>;
  stopApp(
    deviceId: string,
    packageName: string,
    how: { clearData?: boolean | undefined },
    within?: Within,
  ): Promise<void>;
  grantPermission(deviceId: string, packageName: string, permission: string, within?: Within): Promise<void>;
  revokePermission(deviceId: string, packageName: string, permission: string, within?: Within): Promise<void>;
  listPackages(
    deviceId: string,
    options: { includeSystemPackages?: boolean | undefined; includeProtectedPackages?: boolean | undefined },
    within?: Within,
  ): Promise<string[] | null>;

  listFiles(
    deviceId: string,
    path: string,
    within?: Within,
  ): Promise<{ path?: string | null | undefined; files?: FileInfo[] | null | undefined }>;
  /** `path` is a folder. */
  uploadFile(
    deviceId: string,
    file: { path: string; fileName: string; bytes: Uint8Array; contentType?: string | undefined },
    within?: Within,
  ): Promise<void>;
  downloadFile(deviceId: string, path: string, within?: Within): Promise<Bytes>;
  deleteFile(deviceId: string, path: string, within?: Within): Promise<void>;

  getLanguage(deviceId: string, within?: Within): Promise<z.input<typeof Language>>;
  setLanguage(deviceId: string, to: { locale: string; restart?: boolean | undefined }, within?: Within): Promise<void>;
  getTimezone(deviceId: string, within?: Within): Promise<z.input<typeof Timezone>>;
  setTimezone(deviceId: string, timezone: string, within?: Within): Promise<void>;
  getLocation(deviceId: string, within?: Within): Promise<z.input<typeof Location>>;
  setLocation(deviceId: string, to: { latitude: number; longitude: number }, within?: Within): Promise<void>;
  resetLocation(deviceId: string, within?: Within): Promise<void>;
  getTime(deviceId: string, within?: Within): Promise<{ time: string }>;
  getOverlay(deviceId: string, within?: Within): Promise<z.input<typeof Overlay>>;
  setOverlay(deviceId: string, visible: boolean, within?: Within): Promise<void>;
  connectProxy(deviceId: string, proxy: ProxyChoice, within?: Within): Promise<void>;
  disconnectProxy(deviceId: string, within?: Within): Promise<void>;
  getProxyStatus(deviceId: string, within?: Within): Promise<z.input<typeof ProxyStatus>>;
  enterKiosk(deviceId: string, packageName: string, within?: Within): Promise<void>;
  leaveKiosk(deviceId: string, within?: Within): Promise<void>;

  listEsims(deviceId: string, within?: Within): Promise<Subscription[] | null>;
  activateEsim(
    deviceId: string,
    esim: {
      enable: boolean;
      smDpAddr: string;
      confirmationCode?: string | undefined;
      matchingId?: string | undefined;
    },
    within?: Within,
  ): Promise<Subscription>;
  enableEsim(deviceId: string, subId: number, within?: Within): Promise<void>;
  removeEsim(deviceId: string, subId: number, within?: Within): Promise<void>;
  getEsimStatus(deviceId: string, within?: Within): Promise<z.input<typeof EsimStatus>[] | null>;
  listAccessPoints(deviceId: string, within?: Within): Promise<z.input<typeof AccessPoint>[] | null>;
  selectAccessPoint(deviceId: string, to: { apnId: string | number; subId: number }, within?: Within): Promise<void>;
  createAccessPoint(deviceId: string, accessPoint: NewAccessPoint, within?: Within): Promise<void>;
  setRoaming(deviceId: string, enabled: boolean, within?: Within): Promise<void>;

  listRecordings(deviceId: string, within?: Within): Promise<Recording[] | null>;
  getRecording(deviceId: string, recordingId: string, within?: Within): Promise<Recording>;
  startRecording(
    deviceId: string,
    recording: { name?: string | undefined; retentionDays?: number | undefined; types?: string[] | undefined },
    within?: Within,
  ): Promise<Recording>;
  stopRecording(deviceId: string, recordingId: string, within?: Within): Promise<Recording>;
  deleteRecording(deviceId: string, recordingId: string, within?: Within): Promise<void>;
}
