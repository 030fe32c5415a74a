import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { PlistDictionary } from "../../../plist/index.ts";
import type { Call } from "../call.ts";
import type { Device } from "../device.ts";
import { dataOf } from "../device-folder.ts";
import type { DeviceSet, InstalledApp } from "../device-set.ts";
import { runtimeRoot } from "../runtime-files.ts";
import { runtimeOf } from "../selection.ts";
import { systemApps } from "./system-apps.ts";

export function bundleContainer(set: DeviceSet, udid: string, container: string): string {
  return join(dataOf(set, udid), "Containers", "Bundle", "Application", container);
}

function bundlePath(set: DeviceSet, app: InstalledApp): string {
  return join(bundleContainer(set, app.udid, app.container), app.folder);
}

export function dataContainer(set: DeviceSet, udid: string, container: string): string {
  return join(dataOf(set, udid), "Containers", "Data", "Application", container);
}

/** A folder's URL as Foundation writes it: with a slash at the end. */
function folderUrl(path: string): string {
  return `${pathToFileURL(path).href}/`;
}

/** What `appinfo` and `listapps` say of an installed app. */
function userAppFacts(set: DeviceSet, app: InstalledApp): PlistDictionary {
  const path = bundlePath(set, app);
  return {
    ApplicationType: "User",
    Bundle: folderUrl(path),
    BundleContainer: folderUrl(bundleContainer(set, app.udid, app.container)),
    CFBundleDisplayName: app.displayName,
    CFBundleExecutable: app.executable,
    CFBundleIdentifier: app.bundleId,
    CFBundleName: app.name,
    CFBundleVersion: app.version,
    DataContainer: folderUrl(dataContainer(set, app.udid, app.dataContainer)),
    GroupContainers: Object.fromEntries(Object.entries(app.groups).map(([group, at]) => [group, folderUrl(at)])),
    Path: path,
    SBAppTags: [],
  };
}

/** All apps of a device by bundle id, the system's own among them. */
export function appsOf(call: Call, device: Device): ReadonlyMap<string, PlistDictionary> {
  const { set } = call;
  const runtime = runtimeOf(device);
  const applications = join(runtimeRoot(call.root, runtime), "Applications");
  const apps = new Map<string, PlistDictionary>();
  for (const [bundleId, displayName, executable] of systemApps(runtime.platform)) {
    const path = join(applications, `${executable}.app`);
    apps.set(bundleId, {
      ApplicationType: "System",
      Bundle: folderUrl(path),
      CFBundleDisplayName: displayName,
      CFBundleExecutable: executable,
      CFBundleIdentifier: bundleId,
      CFBundleName: displayName,
      CFBundleVersion: "1.0",
      DataContainer: folderUrl(dataContainer(set, device.udid, stableUuid(device.udid, bundleId))),
      GroupContainers: {},
      Path: path,
      SBAppTags: [],
    });
  }
  for (const app of set.apps(device.udid)) apps.set(app.bundleId, userAppFacts(set, app));
  return apps;
}

/** A system app's container has the same name each time one asks, without being stored. */
function stableUuid(udid: string, bundleId: string): string {
  let hash = 0x811c9dc5;
  const hex = [...`${udid}${bundleId}`.repeat(3)].map((letter) => {
    hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193) >>> 0;
    return (hash & 0xf).toString(16);
  });
  const digits = hex.slice(-32).join("").toUpperCase();
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join(
    "-",
  );
}

export function isInstalled(call: Call, device: Device, bundleId: string): boolean {
  return appsOf(call, device).has(bundleId);
}
