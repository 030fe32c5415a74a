import { join } from "node:path";
import type { Runtime } from "./catalog/runtimes.ts";

/** Where Xcode keeps the profiles of device types. */
export const PROFILES = "/Library/Developer/CoreSimulator/Profiles";

/** Where a runtime's disk image is mounted: the path of a real Mac, under the virtual Mac's folder. */
export function mountOf(root: string, runtime: Runtime): string {
  const platform = runtime.platform === "visionOS" ? "xrOS" : runtime.platform;
  return join(root, "Library/Developer/CoreSimulator/Volumes", `${platform}_${runtime.build}`);
}

export function runtimeBundle(root: string, runtime: Runtime): string {
  return join(mountOf(root, runtime), `${PROFILES}/Runtimes/${runtime.name}.simruntime`);
}

/** The root of the system that programs in the device see as `SIMULATOR_ROOT`. */
export function runtimeRoot(root: string, runtime: Runtime): string {
  return join(runtimeBundle(root, runtime), "Contents/Resources/RuntimeRoot");
}
