import { DEVICE_TYPES, packVersion } from "./models.ts";
import type { DeviceType, ProductFamily } from "./models.ts";

export type RuntimePlatform = "iOS" | "watchOS" | "tvOS" | "visionOS";

export interface Runtime {
  readonly identifier: string;
  readonly name: string;
  readonly platform: RuntimePlatform;
  readonly version: string;
  readonly build: string;
  /** The disk image that it came with: what `runtime list` is keyed by. */
  readonly imageId: string;
  readonly sizeBytes: number;
}

const FAMILIES: Readonly<Record<RuntimePlatform, readonly ProductFamily[]>> = {
  iOS: ["iPhone", "iPad"],
  watchOS: ["Apple Watch"],
  tvOS: ["Apple TV"],
  visionOS: ["Apple Vision"],
};

function runtime(
  platform: RuntimePlatform,
  version: string,
  build: string,
  imageId: string,
  gigabytes: number,
): Runtime {
  // visionOS kept its first name in identifiers.
  const family = platform === "visionOS" ? "xrOS" : platform;
  return {
    identifier: `com.apple.CoreSimulator.SimRuntime.${family}-${version.split(".").slice(0, 2).join("-")}`,
    name: `${platform} ${version.split(".").slice(0, 2).join(".")}`,
    platform,
    version,
    build,
    imageId,
    sizeBytes: Math.round(gigabytes * 1e9),
  };
}

/** What is installed, oldest first, as the listings show them. Builds to the best of our knowledge. */
export const RUNTIMES: readonly Runtime[] = [
  runtime("iOS", "17.5", "21F79", "1A7C5B3E-6C6F-4F0B-9A57-9B1B1F6E2A11", 7.1),
  runtime("iOS", "18.5", "22F77", "2B8D6C4F-7D70-4A1C-8B68-0C2C2A7F3B22", 8.9),
  runtime("iOS", "26.0", "23A343", "3C9E7D50-8E81-4B2D-9C79-1D3D3B804C33", 8.2),
  runtime("iOS", "26.1", "23B86", "4DAF8E61-9F92-4C3E-AD8A-2E4E4C915D44", 8.4),
  runtime("tvOS", "26.1", "23J582", "5EB09F72-A0A3-4D4F-BE9B-3F5F5DA26E55", 4.3),
  runtime("watchOS", "26.1", "23S36", "6FC1A083-B1B4-4E50-8FAC-406A6EB37F66", 4.6),
  runtime("visionOS", "26.1", "23N47", "70D2B194-C2C5-4F61-90BD-517B7FC48077", 7.8),
];

const byIdentifier = new Map(RUNTIMES.map((each) => [each.identifier, each]));

/** A runtime by what `create` takes: its identifier, its name ("iOS 26.1"), or the name without the blank. */
export function findRuntime(word: string): Runtime | undefined {
  return byIdentifier.get(word) ?? RUNTIMES.find((each) => each.name === word || each.name.replace(" ", "") === word);
}

export function pairs(type: DeviceType, withRuntime: Runtime): boolean {
  if (!FAMILIES[withRuntime.platform].includes(type.family)) return false;
  const version = packVersion(withRuntime.version);
  if (version < packVersion(type.minRuntime)) return false;
  return type.maxRuntime === undefined || version <= packVersion(type.maxRuntime);
}

export function supportedTypes(of: Runtime): readonly DeviceType[] {
  return DEVICE_TYPES.filter((type) => pairs(type, of));
}

/** The runtime that `create` takes when none is named: the newest that pairs. */
export function newestRuntime(type: DeviceType, missing: ReadonlySet<string>): Runtime | undefined {
  return RUNTIMES.findLast((each) => !missing.has(each.identifier) && pairs(type, each));
}
