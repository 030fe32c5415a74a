import { z } from "zod";
import { DeviceClass, DeviceMode, DeviceSpec, Platform } from "./device.ts";
import { DeviceId, LeaseId, RequestId } from "./ids.ts";

/** A length of time in milliseconds, above zero and within what a timer can hold. */
export const DurationMs = z.int().min(1).max(2_147_483_647);

export const RequesterId = z.string().min(1).max(200);

/** The fields of a lease request, before the rule that model and class exclude each other. MCP takes its input from here. */
export const leaseRequestShape = {
  platform: Platform.describe("ios or android."),
  model: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe("A model of list_devices, in any letter case. Not together with class."),
  class: DeviceClass.optional().describe("A kind of device instead of a model. Without model and class: phone."),
  osVersion: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe("An exact OS version (26.0), or a range: comparators parted by blanks (>=18 <26), or A - B."),
  mode: DeviceMode.optional().describe("full (the default) or slim, a best effort."),
  imageTag: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,64}$/)
    .optional()
    .describe("Android only: the tag of the system image."),
  physical: z
    .boolean()
    .optional()
    .describe("true: only a real device that was enrolled on the host. false: never one."),
  allowDownload: z.boolean().optional().describe("Allow a missing OS version to be downloaded. Off unless asked for."),
  noWait: z.boolean().optional().describe("Fail at once with NO_CAPACITY instead of waiting in the queue."),
  timeoutMs: DurationMs.optional().describe("How long to wait for the device, in milliseconds, from the call on."),
  ttlMs: DurationMs.optional().describe(
    "How long the lease lasts without renewal, in milliseconds. 15 minutes by default.",
  ),
  idempotencyKey: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe("A repeat with the same key gets the stored result, or joins the request that still waits."),
};

export const MODEL_XOR_CLASS = "name a model or a class, not both";

export const LeaseRequestInput = z
  .strictObject({
    ...leaseRequestShape,
    /** Who the lease is for; the caller itself when left out. */
    requesterId: RequesterId.optional(),
    /** Admin only: who may renew and release it. */
    owner: RequesterId.optional(),
    /** A local process: the lease ends when it does. Known by its pid and the start time that the daemon reads. */
    bindPid: z.int().min(2).optional(),
  })
  .refine((input) => input.model === undefined || input.class === undefined, {
    error: MODEL_XOR_CLASS,
    path: ["class"],
  });
export type LeaseRequestInput = z.infer<typeof LeaseRequestInput>;

/** All times are epoch milliseconds. */
export const LeaseRecord = z.object({
  id: LeaseId,
  deviceId: DeviceId,
  requesterId: z.string(),
  ownerId: z.string(),
  grantedAt: z.number(),
  ttlMs: z.number(),
  ttlDeadline: z.number(),
  lastRenewedAt: z.number(),
  worker: z.object({ id: z.string(), label: z.string().optional() }).optional(),
});
export type LeaseRecord = z.infer<typeof LeaseRecord>;

export const StatusLease = LeaseRecord.extend({ workerId: z.string().optional() });
export type StatusLease = z.infer<typeof StatusLease>;

export const LeaseTiming = z.object({
  estimatedProvisionMs: z.number(),
  estimatedBootMs: z.number(),
  estimatedReclaimMs: z.number(),
  estimatedReadyMs: z.number(),
});
export type LeaseTiming = z.infer<typeof LeaseTiming>;

export const LeaseGrant = z.object({
  device: z.object({
    id: DeviceId,
    driverDeviceId: z.string(),
    spec: DeviceSpec,
    /** What a tool takes as the device: a simulator's UDID, a device's adb serial. */
    address: z.string().optional(),
    mode: DeviceMode,
    physical: z.boolean().optional(),
  }),
  /** Variables that point the platform's own tools at this device. */
  environment: z.record(z.string(), z.string()),
  lease: LeaseRecord,
  timing: LeaseTiming,
});
export type LeaseGrant = z.infer<typeof LeaseGrant>;

export const WaitReason = z.enum([
  /** All that fit are leased, and no more may be made. */
  "capacity",
  /** A device that fits is being made, booted or cleaned. */
  "device-on-its-way",
  /** An older request has claimed the next device or slot. */
  "older-request",
  /** The attached device that fits is not connected. */
  "absent",
]);
export type WaitReason = z.infer<typeof WaitReason>;

/** What a waiting caller is told. Only work that was really chosen for the request is reported. */
export const LeaseProgress = z.discriminatedUnion("stage", [
  z.object({ stage: z.literal("queued"), queuePosition: z.int().min(1), reason: WaitReason.optional() }),
  z.object({ stage: z.literal("provisioning"), etaMs: z.number() }),
  z.object({ stage: z.literal("booting"), etaMs: z.number() }),
  z.object({ stage: z.literal("reclaiming"), etaMs: z.number() }),
  z.object({
    stage: z.literal("downloading"),
    component: z.string().max(64),
    waiting: z.boolean(),
    percent: z.int().min(0).max(100).optional(),
  }),
]);
export type LeaseProgress = z.infer<typeof LeaseProgress>;

export const WaitingRequest = z.object({
  id: RequestId,
  requesterId: z.string(),
  spec: z.object({
    platform: Platform,
    model: z.string().optional(),
    class: DeviceClass.optional(),
    osVersion: z.string().optional(),
    physical: z.boolean().optional(),
  }),
  createdAt: z.number(),
  stage: z.enum(["queued", "starting"]),
  queuePosition: z.int().min(1).optional(),
  reason: WaitReason.optional(),
  workerId: z.string().optional(),
});
export type WaitingRequest = z.infer<typeof WaitingRequest>;
