import { operand, parseArguments } from "../arguments.ts";
import type { Call } from "../call.ts";
import { failure } from "../failure.ts";
import { runningDevice, runtimeOf } from "../selection.ts";
import { systemApps } from "../apps/system-apps.ts";
import { bringToFront } from "./launch.ts";

const SYSTEM_SCHEMES: Readonly<Record<string, string>> = {
  http: "com.apple.mobilesafari",
  https: "com.apple.mobilesafari",
  maps: "com.apple.Maps",
  sms: "com.apple.MobileSMS",
  prefs: "com.apple.Preferences",
  "app-prefs": "com.apple.Preferences",
  "photos-redirect": "com.apple.mobileslideshow",
  calshow: "com.apple.mobilecal",
  shortcuts: "com.apple.shortcuts",
};

/** `openurl DEVICE URL` opens the app that declares the scheme, and shows the URL in it. */
export function openurl(call: Call, args: readonly string[]): void {
  const parsed = parseArguments("openurl", args, {});
  const { udid } = runningDevice(call.set, operand(parsed, 0, "openurl", "<device> <URL>"));
  const url = operand(parsed, 1, "openurl", "<device> <URL>");
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined) throw failure("invalidUrl", { url });
  call.set.write(() => {
    const device = runningDevice(call.set, udid);
    const system = SYSTEM_SCHEMES[scheme];
    const present = systemApps(runtimeOf(device).platform).some(([bundleId]) => bundleId === system);
    const own = call.set.apps(udid).find((app) => app.urlSchemes.includes(scheme))?.bundleId;
    const bundleId = own ?? (present ? system : undefined);
    if (bundleId === undefined) throw failure("cannotOpenUrl", { url });
    const runs = call.set.processes(udid).some((process) => process.bundleId === bundleId);
    if (!runs) call.set.startProcess(udid, bundleId, [], Date.now());
    bringToFront(call, udid, bundleId, [url]);
  });
}
