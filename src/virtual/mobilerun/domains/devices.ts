import type { endpoints } from "../../../cloud/index.ts";
import type { Account } from "../account.ts";
import { PACE, appNamed, erase, type Devices, type VirtualDevice } from "../device.ts";
import type { Handlers, Received } from "../handler.ts";
import { contains, paged, sorted } from "../paging.ts";
import { SCREEN } from "../phone/phone.ts";
import { Problem } from "../problem.ts";
import type { Tasks } from "../task.ts";
import { without } from "../without.ts";
import { proxyOf } from "./device-settings.ts";

/** `/wait` is held for this long at most. */
const MAX_WAIT_MS = 300_000;

const ALIASES: Readonly<Record<string, string>> = {
  dedicated_premium_device: "android_cloud_phone",
  dedicated_physical_device: "android_physical_phone",
  dedicated_ios_device: "ios_stealth_phone",
  dedicated_emulated_device: "android_emulator",
};
const nameOf = (type: string) => ALIASES[type] ?? type;

export function deviceHandlers(account: Account, devices: Devices, tasks: Tasks): Handlers<typeof endpoints.devices> {
  const shown = (device: VirtualDevice) => ({
    $schema: "https://virtual.test/schemas/Device.json",
    id: device.id,
    name: device.name,
    state: device.state,
    stateMessage: "",
    type: device.type,
    providerId: "prov-1",
    streamUrl: `wss://stream.virtual.test/${device.id}`,
    streamToken: `stk_virtual_${device.id}`,
    taskCount: device.taskCount,
    activeTaskId: device.activeTaskId,
    createdAt: device.createdAt,
    assignedAt: device.assignedAt,
    terminatesAt: device.terminatesAt,
    updatedAt: device.updatedAt,
    billingStrategy: device.billingStrategy,
    ...account.owner,
  });

  return {
    list({ query }) {
      const found = [...devices.all.values()].filter(
        (device) =>
          (query.state === undefined ? device.state !== "terminated" : isOneOf(query.state, device.state)) &&
          (query.type === undefined || nameOf(query.type) === device.type) &&
          (query.country === undefined || query.country.toUpperCase() === device.country) &&
          contains(device.name, query.name),
      );
      const page = paged(sorted(found, query.orderBy, query.orderByDirection), query);
      return { ...page, items: page.items.length === 0 ? null : page.items.map(shown) };
    },
    create({ query, body }) {
      const proxy = body.proxy === undefined ? undefined : proxyOf(body.proxy);
      const device = devices.add({
        name: body.name ?? "",
        type: nameOf(query.deviceType ?? "android_cloud_phone"),
        country: (query.country ?? body.country ?? "US").toUpperCase(),
        billing: query.billing ?? "auto",
      });
      if (body.locale !== undefined) device.settings.locale = body.locale;
      if (body.timezone !== undefined) device.settings.timezone = body.timezone;
      for (const app of body.apps ?? []) device.apps.set(app, appNamed(app));
      if (proxy !== undefined) device.settings.proxy = proxy;
      if (body.location !== undefined) Object.assign(device.settings, body.location);
      return shown(device);
    },
    count() {
      const counts: Record<string, number | string> = { $schema: "https://virtual.test/schemas/Counts.json" };
      for (const { type, state } of devices.all.values()) {
        if (state !== "terminated") counts[type] = Number(counts[type] ?? 0) + 1;
      }
      return counts;
    },
    get: ({ path }) => shown(devices.get(path.deviceId)),
    rename({ path, body }) {
      const device = devices.get(path.deviceId);
      device.name = body.name;
      device.updatedAt = account.now();
      return shown(device);
    },
    async waitReady(call) {
      const device = devices.get(call.path.deviceId);
      await untilReady(account, devices, device, call);
      return shown(device);
    },
    reboot: ({ path }) => devices.reboot(path.deviceId),
    reset({ path }) {
      const device = devices.ready(path.deviceId);
      devices.pass(device, "resetting", PACE.reset, () => erase(device));
    },
    terminate({ path, body }) {
      if (body.terminateAt !== undefined || body.previousDeviceId !== undefined)
        throw new Problem(403, "This needs a service key");
      const device = devices.get(path.deviceId);
      if (device.state === "terminated") throw new Problem(409, `Device ${device.id} is terminated`);
      device.terminatesAt = account.now();
      devices.set(device, "terminated");
    },
    stop: ({ path }) => devices.set(devices.ready(path.deviceId), "stopped"),
    resume({ path }) {
      const device = devices.get(path.deviceId);
      if (device.state !== "stopped") throw new Problem(409, `Device ${device.id} is ${device.state}, not stopped`);
      devices.pass(device, "assigned", PACE.resume);
    },
    capabilities: ({ path }) => ({ deviceType: devices.get(path.deviceId).type, capabilities: CAPABILITIES }),
    fingerprint: ({ path }) => fingerprint(devices.ready(path.deviceId)),
    applyProfile({ path }) {
      const device = devices.ready(path.deviceId);
      devices.pass(device, "resetting", PACE.reset, () => erase(device));
    },
    tasks({ path, query }) {
      const { id } = devices.get(path.deviceId);
      const mine = tasks.all().filter(({ deviceId }) => deviceId === id);
      const items = mine.map((task) => ({
        id: task.id,
        taskId: task.id,
        createdAt: task.createdAt,
        updatedAt: task.updatedAt,
      }));
      const page = paged(sorted(items, query.orderBy, query.orderByDirection), query);
      return { ...page, items: page.items.map((item) => without(item, "id")) };
    },
  };
}

function isOneOf(states: readonly string[], state: string): boolean {
  return states.length === 0 ? state !== "terminated" : states.includes(state);
}

async function untilReady(
  account: Account,
  devices: Devices,
  device: VirtualDevice,
  { signal }: Pick<Received, "signal">,
) {
  const ended = Promise.withResolvers<"late" | "gone">();
  const callOff = account.clock.after(MAX_WAIT_MS, () => ended.resolve("late"));
  const onAbort = () => ended.resolve("gone");
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    while (device.state !== "ready") {
      if (device.state === "terminated") throw new Problem(409, `Device ${device.id} is terminated`);
      const end = await Promise.race([devices.changed(device), ended.promise]);
      if (end === "gone") return;
      if (end === "late") throw new Problem(504, `Device ${device.id} did not become ready in time`);
    }
  } finally {
    callOff();
    signal.removeEventListener("abort", onAbort);
  }
}

const CAPABILITIES = {
  accessibility: true,
  agent: true,
  apps: true,
  browser: true,
  cameraInjection: true,
  esim: true,
  files: true,
  fingerprint: true,
  frida: false,
  geo: true,
  humanTouch: true,
  language: true,
  logcat: false,
  microphoneInjection: true,
  proxy: true,
  reset: true,
  shell: false,
  spoofing: false,
  stop: true,
  stream: true,
  time: true,
};

function fingerprint(device: VirtualDevice) {
  return {
    $schema: "https://virtual.test/schemas/Fingerprint.json",
    model: {
      brand: "Virtual",
      manufacturer: "Virtual",
      model: "Slate 5",
      device: "slate5",
      hardware: "virtual",
      aospVersion: "14",
      imageRepository: "virtual/slate5",
    },
    display: { ...SCREEN },
    carrier: {
      GsmOperatorAlpha: "NordTel",
      GsmOperatorNumeric: 26299,
      GsmSimOperatorIsoCountry: device.country.toLowerCase(),
      PersistSysTimezone: device.settings.timezone,
    },
    identifiers: {
      IdentifierAndroidID: "a1b2c3d4e5f60718",
      IdentifierICCID: "8949000000000000001",
      IdentifierIMEI: "350000000000006",
      IdentifierIMSI: "262990000000001",
      IdentifierPhoneNumber: "+4915100000001",
      IdentifierSerial: `SER-${device.id}`,
      SerialNumber: `SER-${device.id}`,
    },
  };
}
