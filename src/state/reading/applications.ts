import { fileURLToPath } from "node:url";
import { isDictionary, readPlist } from "../../plist/index.ts";
import type { ObservedApplication } from "../types.ts";

/**
 * The apps in what `simctl listapps` prints, sorted by bundle identifier: JSON on some machines, on others a property list, with `--json` as without.
 * Throws `Error` where it is neither, and where it is not a dictionary: an unreadable listing is never an empty one.
 */
export async function applicationsOf(output: string): Promise<readonly ObservedApplication[]> {
  const root = await rootOf(output);
  if (!isRecord(root)) throw new Error("the listing of apps is not a dictionary");
  const apps = isRecord(root["apps"]) ? root["apps"] : root;
  return Object.entries(apps)
    .flatMap(([key, entry]) => (isRecord(entry) ? [applicationOf(key, entry)] : []))
    .toSorted((a, b) => (a.bundleIdentifier < b.bundleIdentifier ? -1 : 1));
}

async function rootOf(output: string): Promise<unknown> {
  try {
    return JSON.parse(output);
  } catch {
    if (output.trim() === "") throw new Error("the listing of apps is empty");
    const value = await readPlist(Buffer.from(output));
    return isDictionary(value) ? value : undefined;
  }
}

function applicationOf(key: string, entry: Readonly<Record<string, unknown>>): ObservedApplication {
  const text = (...names: readonly string[]): string | undefined =>
    names.map((name) => entry[name]).find((value): value is string => typeof value === "string" && value !== "");
  const bundle = text("Bundle", "BundlePath", "Path");
  const version = text("CFBundleShortVersionString");
  const build = text("CFBundleVersion");
  const type = text("ApplicationType");
  return {
    bundleIdentifier: text("CFBundleIdentifier") ?? key,
    ...(bundle === undefined ? {} : { bundlePath: pathOf(bundle) }),
    ...(version === undefined ? {} : { version }),
    ...(build === undefined ? {} : { build }),
    ...(type === undefined ? {} : { type }),
  };
}

/** `Bundle` is a folder's URL with a slash at its end. */
function pathOf(bundle: string): string {
  if (!bundle.startsWith("file://")) return bundle;
  try {
    return fileURLToPath(bundle).replace(/(?<=.)\/$/, "");
  } catch {
    return bundle;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The apps that run, in what `launchctl list` prints in a device: process id, last status and label, between tabs. An app's label is
 * `UIKitApplication:<bundle id>[…][…]`; a dash stands for the process id of a job that does not run. Throws `Error` where this is no such list.
 */
export function runningApplications(output: string): ReadonlySet<string> {
  const lines = output.split(/\r?\n/).filter((line) => line.trim() !== "");
  if (!lines.some((line) => /^(?:PID|-|\d+)\t[^\t]*\t/.test(line))) throw new Error("launchctl listed no jobs");
  const running = new Set<string>();
  for (const line of lines) {
    const bundle = /^\d+\t[^\t]*\tUIKitApplication:([^[\t]+)/.exec(line)?.[1];
    if (bundle !== undefined) running.add(bundle);
  }
  return running;
}
