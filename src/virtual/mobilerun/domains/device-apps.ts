import type { endpoints } from "../../../cloud/index.ts";
import type { Account } from "../account.ts";
import { appNamed, type Devices, type VirtualDevice } from "../device.ts";
import { Special, type Handlers } from "../handler.ts";
import { NOTES } from "../phone/phone.ts";
import { Problem, notFound } from "../problem.ts";

interface Install {
  readonly appId: string;
  readonly platform: string;
  status: string;
  readonly startedAt: string;
  updatedAt: string;
  errorClass?: string;
}

const INSTALL_MS = 2000;
const RECORD_MS = 15 * 60_000;
/** Two installs may run on one device. */
const MAX_INSTALLS = 2;
/** An app of this name can't be downloaded. */
const BROKEN = "com.example.broken";

export function deviceAppHandlers(account: Account, devices: Devices): Handlers<typeof endpoints.deviceApps> {
  const installs = new Map<string, Install[]>();

  function appOf(path: { readonly deviceId: string; readonly packageName: string }) {
    const device = devices.ready(path.deviceId);
    const app = device.apps.get(path.packageName);
    if (app === undefined) throw notFound("App", path.packageName);
    return { device, app };
  }

  function finish(device: VirtualDevice, install: Install): void {
    install.updatedAt = account.now();
    install.status = install.appId === BROKEN ? "failed" : "succeeded";
    if (install.appId === BROKEN) install.errorClass = "download_failed";
    else device.apps.set(install.appId, appNamed(install.appId));
    account.clock.after(RECORD_MS, () => {
      installs.set(
        device.id,
        (installs.get(device.id) ?? []).filter((other) => other !== install),
      );
    });
  }

  return {
    list({ path, query }) {
      const apps = [...devices.ready(path.deviceId).apps.values()];
      return apps.filter((app) => query.includeSystemApps === true || !app.isSystemApp);
    },
    packages({ path, query }) {
      const apps = [...devices.ready(path.deviceId).apps.values()];
      return apps
        .filter((app) => query.includeSystemPackages === true || !app.isSystemApp)
        .map((app) => app.packageName);
    },
    install({ path, body }) {
      const device = devices.ready(path.deviceId);
      const appId = body.packageName ?? body.bundleId;
      if (appId === undefined || (body.packageName !== undefined && body.bundleId !== undefined)) {
        throw new Problem(400, "Give one of packageName and bundleId");
      }
      if ((body.bundleId !== undefined) !== device.type.startsWith("ios")) {
        throw new Problem(400, "packageName is for Android, bundleId for iOS");
      }
      const records = installs.get(device.id) ?? [];
      const running = records.filter(({ status }) => status === "running");
      if (running.length >= MAX_INSTALLS) throw new Problem(409, "Two installs run on this device already");
      if (running.some((other) => other.appId === appId)) throw new Problem(409, `${appId} is being installed already`);
      const at = account.now();
      const platform = body.bundleId === undefined ? "android" : "ios";
      const install: Install = { appId, platform, status: "running", startedAt: at, updatedAt: at };
      installs.set(device.id, [...records, install]);
      if (body.background === true) {
        account.clock.after(INSTALL_MS, () => finish(device, install));
        return new Special(202);
      }
      finish(device, install);
      if (install.status === "failed") throw new Problem(502, `${appId} could not be downloaded`);
      return undefined;
    },
    installs: ({ path }) => ({ installs: installs.get(devices.get(path.deviceId).id) ?? null }),
    start({ path }) {
      const { device, app } = appOf(path);
      device.phone.start(app.packageName);
    },
    stop({ path, body }) {
      const { device, app } = appOf(path);
      device.phone.stop(app.packageName);
      if (body.clearData === true && app.packageName === NOTES) device.phone.notes = [];
    },
    remove({ path }) {
      const { device, app } = appOf(path);
      if (app.isSystemApp) throw new Problem(403, `${app.packageName} is protected`);
      device.phone.stop(app.packageName);
      device.apps.delete(app.packageName);
    },
    openDeepLink({ path, body }) {
      const { phone } = devices.ready(path.deviceId);
      if (!URL.canParse(body.deepLink)) throw new Problem(400, "deepLink is not a URL");
      if (body.packageName === undefined) phone.open(body.deepLink);
      else phone.start(appOf({ deviceId: path.deviceId, packageName: body.packageName }).app.packageName);
    },
    grantPermission({ path }) {
      appOf(path).device.permissions.add(permission(path));
    },
    revokePermission({ path }) {
      appOf(path).device.permissions.delete(permission(path));
    },
    enterKiosk({ path, body }) {
      const { device, app } = appOf({ deviceId: path.deviceId, packageName: body.packageName });
      device.phone.kiosk = app.packageName;
      device.phone.start(app.packageName);
    },
    leaveKiosk({ path }) {
      devices.ready(path.deviceId).phone.kiosk = undefined;
    },
  };
}

function permission(path: { readonly packageName: string; readonly permission: string }): string {
  if (path.permission !== "POST_NOTIFICATIONS") throw new Problem(400, `${path.permission} can't be set`);
  return `${path.packageName} ${path.permission}`;
}
