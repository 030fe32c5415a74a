import { z } from "zod";
import { DeviceRecord, HostTool, Platform, StatusDevice } from "./device.ts";
import { DeviceId, LeaseId } from "./ids.ts";
import { StatusLease, WaitingRequest } from "./lease.ts";

export const HostFacts = z.object({
  os: z.string().max(128),
  osVersion: z.string().max(128),
  arch: z.string().max(128),
  cpus: z.int(),
  memoryBytes: z.number(),
  tools: z.array(HostTool).max(32),
});
export type HostFacts = z.infer<typeof HostFacts>;

const PlatformCapacity = z.object({
  running: z.int(),
  maxRunning: z.int(),
  reserved: z.int(),
  overLimit: z.boolean(),
  limit: z.int(),
  warm: z.int(),
  used: z.int(),
  atRamBudget: z.boolean(),
});

export const Capacity = z.object({
  ios: PlatformCapacity,
  android: PlatformCapacity,
  global: z.object({
    running: z.int(),
    maxRunning: z.int(),
    reserved: z.int(),
    overLimit: z.boolean(),
    warm: z.int(),
  }),
  ramBudget: z.object({ limitBytes: z.number(), usedBytes: z.number(), overLimit: z.boolean() }).optional(),
});
export type Capacity = z.infer<typeof Capacity>;

/** While the daemon is `starting`, only `daemon` and `host` are there. */
export const Status = z.object({
  daemon: z.object({
    health: z.enum(["starting", "running", "failed"]),
    mode: z.enum(["worker", "gateway"]),
    version: z.string(),
    pid: z.int(),
    home: z.string(),
    virtual: z.boolean(),
    startedAt: z.number(),
    consoleUrl: z.string().optional(),
  }),
  host: HostFacts,
  devices: z.array(StatusDevice).optional(),
  leases: z.array(StatusLease).optional(),
  capacity: Capacity.optional(),
  queueDepth: z.int().optional(),
  waiting: z.array(WaitingRequest).optional(),
});
export type Status = z.infer<typeof Status>;

/** An attached device as `device list` shows it: enrolled or not, with why it can't be leased. */
export const AttachedDevice = z.object({
  platform: Platform,
  /** What the tools call it now. It can change: an enrolled device is known by what it says of itself. */
  serial: z.string(),
  /** adb's own word for its state, kept as it is: `device`, `offline`, `unauthorized`, … */
  state: z.string(),
  leasable: z.boolean(),
  reason: z.string().optional(),
  hint: z.string().optional(),
  model: z.string().optional(),
  osVersion: z.string().optional(),
  enrolled: DeviceId.optional(),
  shared: z.boolean().optional(),
});
export type AttachedDevice = z.infer<typeof AttachedDevice>;

/** A prerequisite that is missing, drift between what we hold and what is there, or a leak. Fields depend on `kind`. */
export const Finding = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("registry-device-missing"), deviceId: DeviceId, platform: Platform }),
  z.object({ kind: z.literal("orphan-device"), device: z.string(), platform: Platform, name: z.string().optional() }),
  z.object({ kind: z.literal("expired-live-lease"), leaseId: LeaseId, deviceId: DeviceId }),
  z.object({
    kind: z.literal("foreign-state-change"),
    deviceId: DeviceId,
    platform: Platform,
    expected: z.enum(["running", "stopped"]),
    observed: z.enum(["running", "stopped"]),
  }),
  z.object({
    kind: z.literal("foreign-provenance-change"),
    deviceId: DeviceId,
    platform: Platform,
    detail: z.enum(["erased", "mark-mismatch", "durable-mark-missing"]),
  }),
  z.object({
    kind: z.literal("stalled-transition"),
    deviceId: DeviceId,
    platform: Platform,
    state: z.enum(["provisioning", "reclaiming"]),
    enteredAt: z.number(),
    ageMs: z.number(),
    thresholdMs: z.number(),
  }),
  z.object({ kind: z.literal("stranded-device"), deviceId: DeviceId, platform: Platform, problem: z.string() }),
  z.object({ kind: z.literal("driver-advisory"), platform: Platform, code: z.string(), message: z.string() }),
  z.object({
    kind: z.literal("prerequisite-missing"),
    platform: Platform,
    prerequisite: z.string(),
    message: z.string(),
    remedy: z.string(),
    /** The places that were looked at, in order. */
    tried: z.array(z.string()).optional(),
  }),
  z.object({ kind: z.literal("unreadable"), platform: Platform, message: z.string() }),
]);
export type Finding = z.infer<typeof Finding>;

/** What `doctor` did or, without `fix`, would do about a finding. */
export const Mend = z.object({
  action: z.enum(["forget-device", "expire-lease", "correct-state", "quarantine", "destroy-orphan"]),
  target: z.string(),
  done: z.boolean(),
});
export type Mend = z.infer<typeof Mend>;

export const ListOutput = z.object({
  devices: z.array(DeviceRecord).optional(),
  leases: z.array(StatusLease).optional(),
  requests: z.array(WaitingRequest).optional(),
});
