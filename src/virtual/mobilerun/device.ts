import type { Account } from "./account.ts";
import { DeviceFiles } from "./device-files.ts";
import { BROWSER, NOTES, Phone, SETTINGS } from "./phone/phone.ts";
import { Problem, notFound } from "./problem.ts";

export interface InstalledApp {
  readonly packageName: string;
  readonly label: string;
  readonly versionName: string;
  readonly versionCode: number;
  readonly isSystemApp: boolean;
}

export interface Settings {
  locale: string;
  timezone: string | null;
  latitude: number;
  longitude: number;
  proxy: { connected: boolean; name: string | null; protocol: string | null };
}

export interface VirtualDevice {
  readonly id: string;
  name: string;
  readonly type: string;
  readonly country: string;
  state: string;
  readonly createdAt: string;
  assignedAt: string | null;
  terminatesAt: string | null;
  updatedAt: string;
  taskCount: number;
  activeTaskId: string;
  readonly billingStrategy: string;
  readonly phone: Phone;
  readonly files: DeviceFiles;
  readonly apps: Map<string, InstalledApp>;
  readonly permissions: Set<string>;
  settings: Settings;
}

/** How long each step takes, in milliseconds of the clock. */
export const PACE = { create: 1000, assign: 2000, reboot: 3000, reset: 4000, resume: 1000 } as const;

export function defaultSettings(): Settings {
  return {
    locale: "en-US",
    timezone: "Europe/Berlin",
    latitude: 52.52,
    longitude: 13.405,
    proxy: { connected: false, name: null, protocol: null },
  };
}

const SYSTEM_APPS: readonly InstalledApp[] = [
  { packageName: SETTINGS, label: "Settings", versionName: "14", versionCode: 34, isSystemApp: true },
  { packageName: BROWSER, label: "Browser", versionName: "120.0", versionCode: 120, isSystemApp: true },
];
const FIRST_APP = { packageName: NOTES, label: "Notes", versionName: "2.4.1", versionCode: 241, isSystemApp: false };

/** What is known of an app that nobody described. */
export function appNamed(packageName: string): InstalledApp {
  const last = packageName.slice(packageName.lastIndexOf(".") + 1);
  const label = last.charAt(0).toUpperCase() + last.slice(1);
  return { packageName, label, versionName: "1.0", versionCode: 1, isSystemApp: false };
}

/** Apps, files and settings of the user are gone, as after a factory reset. */
export function erase(device: VirtualDevice): void {
  device.apps.clear();
  for (const app of [...SYSTEM_APPS, FIRST_APP]) device.apps.set(app.packageName, app);
  device.permissions.clear();
  device.files.erase();
  device.phone.erase();
  device.settings = defaultSettings();
}

export interface Devices {
  readonly all: ReadonlyMap<string, VirtualDevice>;
  add(spec: { name: string; type: string; country: string; billing: string }): VirtualDevice;
  /** 404 for an unknown id. */
  get(id: string): VirtualDevice;
  /** 409 when it is not ready. */
  ready(id: string): VirtualDevice;
  /** Goes through a state and comes out ready, unless something else happens on the way. */
  pass(device: VirtualDevice, state: string, ms: number, then?: () => void): void;
  set(device: VirtualDevice, state: string): void;
  reboot(id: string): void;
  /** Resolves at the next change of state. */
  changed(device: VirtualDevice): Promise<void>;
}

export function createDevices(account: Account): Devices {
  const all = new Map<string, VirtualDevice>();
  const waiting = new Map<VirtualDevice, PromiseWithResolvers<void>>();

  const devices: Devices = {
    all,
    add(spec) {
      const apps = new Map<string, InstalledApp>();
      const labels = () => new Map([...apps.values()].map(({ packageName, label }) => [packageName, label] as const));
      const at = account.now();
      const id = account.mint("dev");
      const device: VirtualDevice = {
        id,
        name: spec.name === "" ? id : spec.name,
        type: spec.type,
        country: spec.country,
        state: "creating",
        createdAt: at,
        assignedAt: null,
        terminatesAt: null,
        updatedAt: at,
        taskCount: 0,
        activeTaskId: "",
        billingStrategy: spec.billing,
        phone: new Phone(labels),
        files: new DeviceFiles(),
        apps,
        permissions: new Set(),
        settings: defaultSettings(),
      };
      erase(device);
      all.set(id, device);
      account.clock.after(PACE.create, () => {
        if (device.state !== "creating") return;
        device.assignedAt = account.now();
        devices.pass(device, "assigned", PACE.assign);
      });
      return device;
    },
    get(id) {
      const device = all.get(id);
      if (device === undefined) throw notFound("Device", id);
      return device;
    },
    ready(id) {
      const device = devices.get(id);
      if (device.state !== "ready") throw new Problem(409, `Device ${id} is ${device.state}, not ready`);
      return device;
    },
    pass(device, state, ms, then) {
      devices.set(device, state);
      account.clock.after(ms, () => {
        if (device.state !== state) return;
        then?.();
        devices.set(device, "ready");
      });
    },
    set(device, state) {
      device.state = state;
      device.updatedAt = account.now();
      waiting.get(device)?.resolve();
      waiting.delete(device);
      account.publish({
        type: `device.${state}`,
        source: "devices",
        deviceId: device.id,
        payload: { deviceId: device.id, state },
      });
    },
    reboot(id) {
      const device = devices.ready(id);
      device.phone.home();
      devices.pass(device, "rebooting", PACE.reboot);
    },
    changed(device) {
      const known = waiting.get(device) ?? Promise.withResolvers<void>();
      waiting.set(device, known);
      return known.promise;
    },
  };
  return devices;
}
