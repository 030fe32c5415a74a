import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDictionary, isList, openstep } from "../../../plist/index.ts";
import type { PlistDictionary, PlistValue } from "../../../plist/index.ts";
import { appsOf } from "../apps/containers.ts";
import { operand, parseArguments } from "../arguments.ts";
import type { Call } from "../call.ts";
import { dataOf } from "../device-folder.ts";
import { failure } from "../failure.ts";
import { appleJson } from "../formats/apple-json.ts";
import type { Json } from "../formats/apple-json.ts";
import { runningDevice } from "../selection.ts";

/** `listapps [-j] DEVICE`: an old-style property list by bundle id, or JSON where this Mac's simctl has it. */
export function listapps(call: Call, args: readonly string[]): void {
  const parsed = parseArguments("listapps", args, { flags: ["-j --json"] });
  const device = runningDevice(call.set, operand(parsed, 0, "listapps", "[-j | --json] <device>"));
  const apps = Object.fromEntries(appsOf(call, device));
  const json = parsed.has("-j") && call.control.listappsJson !== "plist";
  call.out(`${json ? appleJson(jsonOf(apps)) : openstep(apps)}\n`);
}

/** `appinfo DEVICE BUNDLE` */
export function appinfo(call: Call, args: readonly string[]): void {
  const parsed = parseArguments("appinfo", args, {});
  const device = runningDevice(call.set, operand(parsed, 0, "appinfo", "<device> <app bundle identifier>"));
  const bundleId = operand(parsed, 1, "appinfo", "<device> <app bundle identifier>");
  const facts = appsOf(call, device).get(bundleId);
  if (facts === undefined) throw failure("notInstalled");
  call.out(`${openstep(facts)}\n`);
}

function jsonOf(value: PlistValue): Json {
  if (isList(value)) return value.map(jsonOf);
  if (isDictionary(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, jsonOf(item)]));
  return typeof value === "string" || typeof value === "boolean" ? value : String(value);
}

/** `get_app_container DEVICE BUNDLE [app | data | groups | GROUP]` prints a path of the host. */
export function getAppContainer(call: Call, args: readonly string[]): void {
  const form = "<device> <app bundle identifier> [<container>]";
  const parsed = parseArguments("get_app_container", args, {});
  const device = runningDevice(call.set, operand(parsed, 0, "get_app_container", form));
  const bundleId = operand(parsed, 1, "get_app_container", form);
  const container = parsed.operands[2] ?? "app";
  const facts = appsOf(call, device).get(bundleId);
  if (facts === undefined) throw failure("notInstalled");
  if (container === "groups") {
    const groups = Object.entries(groupsOf(facts)).map(([group, url]) => `${group}\t${pathOf(url)}\n`);
    call.out(groups.join(""));
    return;
  }
  if (container === "app" || container === "data") {
    const path = pathOf(facts[container === "app" ? "Bundle" : "DataContainer"]);
    // A system app's folders are made when somebody asks for them.
    mkdirSync(path, { recursive: true });
    call.out(`${path}\n`);
    return;
  }
  call.out(`${groupPath(call, device.udid, bundleId, container)}\n`);
}

function groupsOf(facts: PlistDictionary): PlistDictionary {
  const groups = facts["GroupContainers"];
  return isDictionary(groups) ? groups : {};
}

function pathOf(url: PlistValue | undefined): string {
  return fileURLToPath(String(url)).replace(/\/$/, "");
}

/** A group's container is made when it is first asked for: the entitlements that would name it can't be read here. */
function groupPath(call: Call, udid: string, bundleId: string, group: string): string {
  if (!group.startsWith("group.")) throw failure("notInstalled");
  return call.set.write(() => {
    const app = call.set.app(udid, bundleId);
    if (app === undefined) throw failure("notInstalled");
    const known = app.groups[group];
    if (known !== undefined) return known;
    const path = join(dataOf(call.set, udid), "Containers", "Shared", "AppGroup", randomUUID().toUpperCase());
    mkdirSync(path, { recursive: true });
    call.set.putApp({ ...app, groups: { ...app.groups, [group]: path } });
    return path;
  });
}
