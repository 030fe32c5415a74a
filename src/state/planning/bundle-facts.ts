import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isDictionary, readPlist } from "../../plist/index.ts";
import type { Profile } from "../types.ts";

/** What the Info.plist of an `.app` on this host says of it. */
export interface BundleFacts {
  readonly bundleIdentifier?: string;
  /** `CFBundleShortVersionString`. */
  readonly version?: string;
  /** `CFBundleVersion`. */
  readonly build?: string;
}

/**
 * Reads the bundles that the profile installs, by their paths; needed to tell whether an installed app is of another build. A bundle that can't be read
 * is left out: the installation itself then says what is wrong with it.
 */
export async function readBundles(profile: Profile): Promise<ReadonlyMap<string, BundleFacts>> {
  const paths = profile.spec.applications.flatMap(({ sourcePath }) => (sourcePath === undefined ? [] : [sourcePath]));
  const read = await Promise.all([...new Set(paths)].map(async (path) => [path, await factsOf(path)] as const));
  return new Map(read.flatMap(([path, facts]) => (facts === undefined ? [] : [[path, facts] as const])));
}

async function factsOf(path: string): Promise<BundleFacts | undefined> {
  let info;
  try {
    info = await readPlist(await readFile(join(path, "Info.plist")));
  } catch {
    return undefined;
  }
  if (!isDictionary(info)) return undefined;
  const text = (name: keyof BundleFacts, key: string): BundleFacts => {
    const value = info[key];
    return typeof value === "string" && value !== "" ? { [name]: value } : {};
  };
  return {
    ...text("bundleIdentifier", "CFBundleIdentifier"),
    ...text("version", "CFBundleShortVersionString"),
    ...text("build", "CFBundleVersion"),
  };
}
