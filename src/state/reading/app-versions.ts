import { open } from "node:fs/promises";
import { join } from "node:path";
import { isDictionary, readPlist } from "../../plist/index.ts";
import type { ObservedApplication } from "../types.ts";

const MOST_BYTES = 1024 * 1024;

/**
 * Adds the version that people see to the apps that somebody installed: simctl lists only the build. A simulator's bundles lie on this host; one whose
 * Info.plist can't be read stays as it was listed.
 */
export function withVersions(apps: readonly ObservedApplication[]): Promise<readonly ObservedApplication[]> {
  return Promise.all(apps.map(async (app) => ({ ...app, ...(await versionOf(app)) })));
}

async function versionOf(app: ObservedApplication): Promise<{ version?: string; build?: string }> {
  if (app.type !== "User" || app.bundlePath === undefined || app.version !== undefined) return {};
  try {
    const info = await readPlist(await beginning(join(app.bundlePath, "Info.plist")));
    if (!isDictionary(info)) return {};
    const { CFBundleShortVersionString: version, CFBundleVersion: build } = info;
    return {
      ...(typeof version === "string" ? { version } : {}),
      ...(typeof build === "string" && app.build === undefined ? { build } : {}),
    };
  } catch {
    return {};
  }
}

async function beginning(path: string): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size > MOST_BYTES) throw new Error(`${path} is too large`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}
