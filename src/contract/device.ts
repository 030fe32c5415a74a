import { z } from "zod";
import { DeviceId } from "./ids.ts";

export const Platform = z.enum(["ios", "android"]);
export type Platform = z.infer<typeof Platform>;

export const DeviceClass = z.enum(["phone", "tablet", "watch", "tv", "vision", "auto", "desktop"]);
export type DeviceClass = z.infer<typeof DeviceClass>;

/** `slim` is a best effort and only a wish today: every device is reported as what it is, `full`. */
export const DeviceMode = z.enum(["slim", "full"]);
export type DeviceMode = z.infer<typeof DeviceMode>;

/**
 * What a device is made of: `simulator` (xcrun simctl), `emulator` (an AVD of ours), `android` (an attached Android device
 * that was enrolled), `iphone` (an attached iPhone that was enrolled).
 */
export const DeviceKind = z.enum(["simulator", "emulator", "android", "iphone"]);
export type DeviceKind = z.infer<typeof DeviceKind>;

export const DeviceState = z.enum([
  "provisioning",
  "ready",
  "leased",
  "reclaiming",
  "quarantined",
  "shutdown",
  "absent",
  "deleted",
]);
export type DeviceState = z.infer<typeof DeviceState>;

/** A concrete device: what was made, or what an attached device says of itself. */
export const DeviceSpec = z.object({
  platform: Platform,
  model: z.string(),
  osVersion: z.string(),
  imageTag: z.string().optional(),
});
export type DeviceSpec = z.infer<typeof DeviceSpec>;

/** A device as `status` shows it to everybody: no platform id, no address. */
export const StatusDevice = z.object({
  id: DeviceId,
  kind: DeviceKind,
  spec: DeviceSpec,
  state: DeviceState,
  mode: DeviceMode,
  physical: z.boolean(),
  shared: z.boolean().optional(),
  quarantineAttempts: z.int().optional(),
  quarantineNextRetryAt: z.number().optional(),
  transitionAgeMs: z.number().optional(),
  stalled: z.boolean().optional(),
  workerId: z.string().optional(),
});
export type StatusDevice = z.infer<typeof StatusDevice>;

/** A device as an operator sees it. Times are epoch milliseconds. */
export const DeviceRecord = StatusDevice.extend({
  driverDeviceId: z.string().optional(),
  address: z.string().optional(),
  name: z.string().optional(),
  createdAt: z.number(),
  lastLeaseEndedAt: z.number().optional(),
  quarantinedAt: z.number().optional(),
  problem: z.string().optional(),
});
export type DeviceRecord = z.infer<typeof DeviceRecord>;

/** What can be leased on one platform. Names are at most 256 characters. */
export const PlatformCatalog = z.object({
  platform: Platform,
  /** Models that can be made, and models of enrolled devices. */
  models: z.array(z.string()),
  /** Installed OS versions, newest first. */
  runtimes: z.array(z.string()),
  defaultRuntime: z.string().optional(),
  /** The runtimes that each model pairs with, newest first. */
  modelRuntimes: z.record(z.string(), z.array(z.string())),
  modelAliases: z.record(z.string(), z.array(z.string())),
  modelClasses: z.record(z.string(), DeviceClass),
  /** The model that a request of a class gets when no idle device fits. */
  classDefaults: z.partialRecord(DeviceClass, z.string()),
  /** Models that only an enrolled device offers: never made on demand. */
  attachedModels: z.array(z.string()).optional(),
  images: z.array(z.object({ runtime: z.string(), tag: z.string(), abi: z.string() })).optional(),
});
export type PlatformCatalog = z.infer<typeof PlatformCatalog>;

/** A tool of the host: `xcode` with its build, `platform-tools`, `emulator`, `cmdline-tools`. */
export const HostTool = z.object({
  platform: Platform,
  name: z.string().max(128),
  version: z.string().max(128),
  build: z.string().max(128).optional(),
});
export type HostTool = z.infer<typeof HostTool>;
