import { z } from "zod";
import type { Capability, CapabilityName, InventoryDevice, ObservedState } from "../types.ts";
import { ObservedLocalization, ObservedStatusBar, StatusBarKey } from "./fields.ts";
import type { ShapeOf } from "./rule.ts";

/** What was read of a device. Decoded leniently: a newer reader may say more, and what it says more is passed over. */

export const DeviceStateSchema = z.enum(["Booted", "Shutdown", "Creating", "Unknown"]);

export const InventoryDeviceSchema = z.object({
  udid: z.string().min(1),
  name: z.string(),
  state: DeviceStateSchema,
  runtimeIdentifier: z.string(),
  isAvailable: z.boolean(),
  dataPath: z.string().exactOptional(),
  deviceTypeIdentifier: z.string().exactOptional(),
  availabilityError: z.string().exactOptional().describe("Why it is not available."),
} satisfies ShapeOf<InventoryDevice>);

const CapabilitySchema = z.object({
  support: z.enum(["exact", "bestEffort", "unsupported"]),
  readable: z.boolean(),
  writable: z.boolean(),
  note: z.string().exactOptional(),
} satisfies ShapeOf<Capability>);

const capability = CapabilitySchema.exactOptional();

const ObservedStateSchema = z.object({
  power: z.enum(["booted", "shutdown"]),
  applications: z.array(
    z.object({
      bundleIdentifier: z.string().min(1),
      bundlePath: z.string().exactOptional(),
      running: z.boolean().exactOptional().describe("Left out where running apps could not be read."),
      version: z.string().exactOptional(),
      build: z.string().exactOptional(),
      type: z.string().exactOptional().describe("`User`, `System`, … as the device says."),
    }),
  ),
  preferences: z.array(
    z.object({
      domain: z.string(),
      key: z.string(),
      value: z
        .json()
        .describe(
          'What JSON has no form for is `{"$data": base64}`, `{"$date": ISO 8601}`, `{"$integer": digits}` and `{"$real": "nan"}`, `"inf"` or `"-inf"`.',
        ),
    }),
  ),
  preferenceDomains: z
    .array(z.string())
    .exactOptional()
    .describe("The domains that were read whole: a key of one of them that is not listed is not set."),
  statusBar: ObservedStatusBar.exactOptional().describe("The overrides that are set. Left out when it was not read."),
  statusBarUncertain: z
    .array(StatusBarKey)
    .exactOptional()
    .describe("Keys of `statusBar` that may not be set: simctl prints 0 for those too."),
  appearance: z.enum(["light", "dark", "unsupported", "unknown"]).exactOptional(),
  increaseContrast: z.boolean().exactOptional(),
  contentSize: z.string().exactOptional(),
  localization: ObservedLocalization.exactOptional(),
  privacy: z
    .array(
      z.object({
        service: z.string(),
        bundleIdentifier: z.string(),
        access: z.enum(["granted", "denied", "limited"]),
      }),
    )
    .exactOptional(),
  privacyServices: z.array(z.string()).exactOptional().describe("The services that were read; any other is unknown."),
  pasteboard: z.string().exactOptional(),
} satisfies ShapeOf<ObservedState>);

export const SnapshotSchema = z.object({
  apiVersion: z.string().describe("`awesome-ios-sim/snapshot-v1alpha1`. Not compared."),
  generatedAt: z.string().describe("ISO 8601, UTC."),
  device: InventoryDeviceSchema,
  state: ObservedStateSchema,
  capabilities: z.object({
    power: capability,
    applications: capability,
    running: capability,
    preferences: capability,
    statusBar: capability,
    appearance: capability,
    increaseContrast: capability,
    contentSize: capability,
    localization: capability,
    privacy: capability,
    location: capability,
    pasteboard: capability,
    media: capability,
    rootCertificates: capability,
    push: capability,
    openURL: capability,
  } satisfies Record<CapabilityName, z.ZodType>),
});
