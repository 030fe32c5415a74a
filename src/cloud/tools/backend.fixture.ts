import { PNG } from "pngjs";
import type { Backend } from "../backend/index.ts";

/** Stands in every place where the platform could send a secret. */
export const SECRET = "S3CRET-value";

/** What no answer may pass on, under the names that the platform gives it. */
const secrets = {
  $schema: `https://schemas.test/${SECRET}`,
  userId: SECRET,
  ownerId: SECRET,
  createdBy: SECRET,
  streamToken: SECRET,
  password: SECRET,
  config: `[Interface]\nPrivateKey = ${SECRET}`,
  secret: SECRET,
  secretPath: SECRET,
  value: SECRET,
  controlToken: SECRET,
  iccid: SECRET,
  requestBody: SECRET,
  requestHeaders: { authorization: SECRET },
  responseHeaders: { "set-cookie": SECRET },
  responseSnippet: SECRET,
  requestUrl: `https://hooks.test/?token=${SECRET}`,
  rawEventId: SECRET,
};

const pagination = { page: 1, pages: 1, pageSize: 20, total: 1, hasNext: false, hasPrev: false };

/** Enough of everything for each answer to be read, and more than any may show. */
const thing = {
  ...secrets,
  id: "x-1",
  name: "thing",
  taskId: "t-1",
  proxyId: "p-1",
  packageName: "com.example.notes",
  credentialName: "main",
  state: "ready",
  status: "success",
  eventType: "e",
  method: "m",
  code: "de",
  subId: 3,
  appId: "a-1",
  versionId: "v-1",
  eventId: "e-1",
  visible: true,
  message: "done",
  task: "Open Notes",
  credentials: [{ packageName: "com.example.notes", credentialNames: [SECRET] }],
  fields: [{ fieldType: "password", value: SECRET }],
  params: { task: "Open", password: SECRET, nested: { apiKey: SECRET } },
  payload: { token: SECRET },
  identifiers: { IMEI: SECRET },
};

const whole = {
  ...thing,
  items: [thing],
  pagination,
  data: thing,
  events: [{ event: "e", data: { password: SECRET } }],
};

const node = { className: "android.widget.Button", boundsInScreen: { left: 0, top: 0, right: 100, bottom: 50 } };
export const screen = {
  a11y_tree: {
    ...node,
    children: [
      { ...node, text: "Save", resourceId: "com.example:id/save", isClickable: true },
      { ...node, text: SECRET, resourceId: "com.example:id/pin", isPassword: true, isFocused: true, isClickable: true },
    ],
  },
  phone_state: {
    currentApp: "Notes",
    focusedElement: { className: "android.widget.EditText", resourceId: "com.example:id/pin", text: SECRET },
  },
  device_context: { screen_bounds: { width: 1080, height: 2340 } },
};

/** A picture of noise in the size of a phone's screen is the worst that an encoder can get; stripes are what a screen looks like. */
export function png(width: number, height: number, pixel: (x: number, y: number) => number): Uint8Array {
  const image = new PNG({ width, height });
  for (let at = 0; at < width * height; at += 1) {
    image.data.fill(pixel(at % width, Math.floor(at / width)), at * 4, at * 4 + 3);
    image.data[at * 4 + 3] = 255;
  }
  return PNG.sync.write(image);
}
const smallPng = png(40, 80, (x) => x * 6);

const answers: Readonly<Record<string, unknown>> = {
  getDeviceScreenshot: { bytes: smallPng, contentType: "image/png" },
  getDeviceUiState: screen,
  listAppsOnDevice: [thing],
  countDevices: { android_cloud_phone: 2, $schema: SECRET },
  listPackages: ["com.example.notes"],
  listInstalls: [],
  listFiles: { ...secrets, path: "/sdcard", files: [thing] },
  downloadFile: { bytes: Buffer.from(`key=${SECRET}`), contentType: "application/octet-stream" },
  getTime: { time: "2026-03-01T10:15:00+01:00" },
  listEsims: [thing],
  getEsimStatus: [thing],
  listAccessPoints: [thing],
  listRecordings: [thing],
  executeScript: { result: SECRET },
  listServiceMethods: { items: [{ ...secrets, method: "tasks.run", params: [{ name: "task", required: true }] }] },
  listServices: { items: ["tasks_api"] },
  getWebhookDelivery: { data: { ...thing, attempts: [{ ...secrets, attemptNo: 1 }] } },
  listAppVersions: { data: [thing] },
  listStoreCategories: { categories: ["games"] },
  listProxies: { data: [thing] },
  listModels: { object: "list", data: [thing] },
  listTimezones: { data: ["Europe/Berlin"] },
  listTaskMedia: { urls: ["https://media.test/1"] },
  getTaskMedia: { url: "https://media.test/1" },
  getTaskStatus: { ...thing, status: "completed", output: { ok: true } },
};

const NOTHING =
  /^(terminate|reboot|reset|rename|wait|park|resume|tap|swipe|keyboard|global|openDeep|install|delete(App|File|Recording)|start(App)|stopApp|grant|revoke|upload|set|connectProxy|disconnect|enter|leave|enable|remove(Esim)|select|createAccess|cancel)/;

export interface RecordedCall {
  readonly method: string;
  readonly args: readonly unknown[];
}

/** A backend that notes each call and answers with more than it should. `special` answers take the place of those. */
export function recordingBackend(special: Readonly<Record<string, (...args: never[]) => unknown>> = {}): {
  backend: Backend;
  calls: RecordedCall[];
} {
  const calls: RecordedCall[] = [];
  const port = (domain: string) =>
    new Proxy(
      {},
      {
        get:
          (_, name) =>
          async (...args: unknown[]) => {
            const method = String(name);
            // The last argument says how long a call may take, not what it does.
            calls.push({ method: `${domain}.${method}`, args: args.slice(0, -1) });
            const own = special[method] as ((...given: unknown[]) => unknown) | undefined;
            if (own !== undefined) return own(...args);
            return answers[method] ?? (NOTHING.test(method) && method !== "deleteApp" ? undefined : whole);
          },
      },
    );
  const backend = new Proxy({}, { get: (_, domain) => port(String(domain)) }) as Backend;
  return { backend, calls };
}
