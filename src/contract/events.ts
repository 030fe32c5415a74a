import { z } from "zod";
import { DeviceMode, DeviceSpec, Platform } from "./device.ts";
import { DeviceId, EventId, LeaseId, RequestId } from "./ids.ts";

const spec = DeviceSpec;
const device = z.object({ deviceId: DeviceId });
const asked = z.object({
  platform: Platform,
  model: z.string().optional(),
  class: z.string().optional(),
  osVersion: z.string().optional(),
  physical: z.boolean().optional(),
  mode: DeviceMode.optional(),
});

/**
 * Every public event and its payload. Events are facts in the past tense, written in the commit of the change that they tell of.
 * Readers tolerate unknown fields and unknown values of an enum.
 */
export const EVENTS = {
  "lease.requested": z.object({
    requestId: RequestId,
    requester: z.string(),
    requestSpec: asked,
    waitPolicy: z.object({ noWait: z.boolean(), timeoutMs: z.number().optional() }),
  }),
  "lease.queued": z.object({ requestId: RequestId, position: z.int() }),
  "lease.granted": z.object({
    leaseId: LeaseId,
    deviceId: DeviceId,
    requester: z.string(),
    requestId: RequestId,
    source: z.enum(["warm", "booted", "provisioned"]),
  }),
  "lease.renewed": z.object({ leaseId: LeaseId, deadline: z.number() }),
  "lease.released": z.object({
    leaseId: LeaseId,
    deviceId: DeviceId,
    ownerId: z.string(),
    reason: z.enum(["explicit", "killed", "device-lost", "holder-gone"]),
  }),
  "lease.expired": z.object({ leaseId: LeaseId, deviceId: DeviceId, ownerId: z.string() }),
  "lease.rejected": z.object({ requestId: RequestId, requester: z.string(), requestSpec: asked, reason: z.string() }),
  "device.provisioned": device.extend({ spec, driver: z.string(), duration: z.number() }),
  "device.ready": device.extend({ bootDuration: z.number() }),
  "device.reclaimed": device.extend({ strategy: z.string(), duration: z.number() }),
  "device.purge-failed": device.extend({ strategy: z.string(), duration: z.number(), error: z.string() }),
  "device.quarantined": device.extend({ maxRetries: z.int(), nextRetryAt: z.number().optional(), error: z.string() }),
  "device.quarantine-recovered": device,
  "device.quarantine-abandoned": device.extend({ error: z.string() }),
  "device.quarantine-stranded": device.extend({ error: z.string() }),
  "device.shutdown": device.extend({ initiator: z.string() }),
  "device.deleted": device.extend({ initiator: z.string() }),
  "device.start-failed": device.extend({ error: z.string(), attempt: z.int() }),
  "device.enrolled": device.extend({ spec, shared: z.boolean() }),
  "device.absence-detected": device,
  "device.returned": device,
  "capacity.changed": z.object({
    ios: z.object({ running: z.int(), maxRunning: z.int(), reserved: z.int(), warm: z.int() }),
    android: z.object({ running: z.int(), maxRunning: z.int(), reserved: z.int(), warm: z.int() }),
    global: z.object({ running: z.int(), maxRunning: z.int(), reserved: z.int(), warm: z.int() }),
  }),
  "queue.changed": z.object({ depth: z.int() }),
  "daemon.started": z.object({ version: z.string(), virtual: z.boolean() }),
  "daemon.stopping": z.object({ reason: z.string() }),
  "doctor.reconciled": z.object({ findings: z.int(), mended: z.int() }),
} as const;

export type EventName = keyof typeof EVENTS;
export type EventPayload<N extends EventName> = z.infer<(typeof EVENTS)[N]>;
/** A name with its payload: the union that a table from change to event yields. */
export type EventFact = { [N in EventName]: { readonly event: N; readonly payload: EventPayload<N> } }[EventName];

export const EventEnvelope = z.object({
  id: EventId,
  seq: z.int(),
  /** Epoch milliseconds. */
  timestamp: z.number(),
  event: z.string(),
  payload: z.record(z.string(), z.unknown()),
  module: z.string(),
});
export type EventEnvelope = z.infer<typeof EventEnvelope>;
