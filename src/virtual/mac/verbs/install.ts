import { randomUUID } from "node:crypto";
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { readBundle } from "../apps/bundle.ts";
import { bundleContainer, dataContainer } from "../apps/containers.ts";
import { operand, parseArguments } from "../arguments.ts";
import type { Call } from "../call.ts";
import { runningDevice } from "../selection.ts";
import { endApp } from "./launch.ts";

/** `install DEVICE PATH`: copies a bundle folder in. The app's data container stays if it was installed before. */
export async function install(call: Call, args: readonly string[]): Promise<void> {
  const parsed = parseArguments("install", args, {});
  const word = operand(parsed, 0, "install", "<device> <path>");
  const path = resolve(operand(parsed, 1, "install", "<device> <path>"));
  const { udid } = runningDevice(call.set, word);
  const { folder, ...facts } = await readBundle(path);
  await call.takeTime("install");

  // The copy is made under a name of its own, and the app exists from the commit on: a call that is killed leaves a folder that nobody names.
  const container = randomUUID().toUpperCase();
  const copied = bundleContainer(call.set, udid, container);
  mkdirSync(copied, { recursive: true });
  cpSync(path, join(copied, folder), { recursive: true, verbatimSymlinks: true });
  const replaced = call.set.write(() => {
    runningDevice(call.set, udid);
    const before = call.set.app(udid, facts.bundleId);
    const data = before?.dataContainer ?? randomUUID().toUpperCase();
    for (const part of ["Documents", "Library/Preferences", "Library/Caches", "tmp"]) {
      mkdirSync(join(dataContainer(call.set, udid, data), part), { recursive: true });
    }
    endApp(call, udid, facts.bundleId);
    call.set.putApp({ udid, ...facts, folder, container, dataContainer: data, groups: before?.groups ?? {} });
    return before;
  });
  if (replaced !== undefined) {
    rmSync(bundleContainer(call.set, udid, replaced.container), { recursive: true, force: true });
  }
}

/** `uninstall DEVICE BUNDLE` removes the app with its data. An app that is not there is no error, as on a Mac. */
export function uninstall(call: Call, args: readonly string[]): void {
  const parsed = parseArguments("uninstall", args, {});
  const { udid } = runningDevice(call.set, operand(parsed, 0, "uninstall", "<device> <app bundle identifier>"));
  const bundleId = operand(parsed, 1, "uninstall", "<device> <app bundle identifier>");
  const app = call.set.write(() => {
    const found = call.set.app(udid, bundleId);
    endApp(call, udid, bundleId);
    call.set.removeApp(udid, bundleId);
    return found;
  });
  if (app === undefined) return;
  rmSync(bundleContainer(call.set, udid, app.container), { recursive: true, force: true });
  rmSync(dataContainer(call.set, udid, app.dataContainer), { recursive: true, force: true });
}
