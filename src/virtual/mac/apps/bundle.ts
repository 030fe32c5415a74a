import { readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { isDictionary, isList, readPlist } from "../../../plist/index.ts";
import type { PlistDictionary, PlistValue } from "../../../plist/index.ts";
import { failure } from "../failure.ts";

/** What installing needs to know of a bundle folder, from its Info.plist. */
export interface Bundle {
  /** `Name.app` */
  readonly folder: string;
  readonly bundleId: string;
  readonly name: string;
  readonly displayName: string;
  readonly executable: string;
  readonly version: string;
  readonly shortVersion: string;
  readonly urlSchemes: readonly string[];
}

/** Reads `path`, an `.app` folder. Throws what `install` answers for a folder that is none. */
export async function readBundle(path: string): Promise<Bundle> {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw failure("noBundle", { path });
  const info = await infoOf(path);
  const text = (key: string) => {
    const value = info[key];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const bundleId = text("CFBundleIdentifier");
  if (bundleId === undefined) throw failure("missingBundleId", { path });
  if (!/^[A-Za-z0-9][A-Za-z0-9.\-_]*$/.test(bundleId)) {
    throw failure("badBundle", { path, why: `"${bundleId}" is no bundle identifier` });
  }
  const folder = basename(path);
  const name = text("CFBundleName") ?? folder.replace(/\.app$/, "");
  return {
    folder: folder.endsWith(".app") ? folder : `${folder}.app`,
    bundleId,
    name,
    displayName: text("CFBundleDisplayName") ?? name,
    executable: text("CFBundleExecutable") ?? name,
    version: text("CFBundleVersion") ?? "1",
    shortVersion: text("CFBundleShortVersionString") ?? text("CFBundleVersion") ?? "1",
    urlSchemes: schemesOf(info["CFBundleURLTypes"]),
  };
}

async function infoOf(path: string): Promise<PlistDictionary> {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(join(path, "Info.plist"));
  } catch {
    throw failure("missingBundleId", { path });
  }
  const value = await readPlist(bytes).catch((error: unknown) => {
    throw failure("badBundle", { path, why: error instanceof Error ? error.message : String(error) });
  });
  if (!isDictionary(value)) throw failure("badBundle", { path, why: "Info.plist is no dictionary" });
  return value;
}

function schemesOf(types: PlistValue | undefined): readonly string[] {
  if (types === undefined || !isList(types)) return [];
  return types
    .filter(isDictionary)
    .flatMap((type) => {
      const schemes = type["CFBundleURLSchemes"];
      return schemes !== undefined && isList(schemes) ? schemes : [];
    })
    .flatMap((scheme) => (typeof scheme === "string" ? [scheme.toLowerCase()] : []));
}
