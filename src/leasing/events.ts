import type { EventFact, LeaseRequestInput, WireError } from "../contract/index.ts";
import type { Device, Lease, Request } from "./state.ts";

/** The one table from what has changed to the event that tells of it. */

export const requested = (request: Request): EventFact => ({
  event: "lease.requested",
  payload: {
    requestId: request.id,
    requester: request.requesterId,
    requestSpec: askedFor(request.input),
    waitPolicy: {
      noWait: request.input.noWait === true,
      ...(request.input.timeoutMs === undefined ? {} : { timeoutMs: request.input.timeoutMs }),
    },
  },
});

export const queued = (request: Request, position: number): EventFact => ({
  event: "lease.queued",
  payload: { requestId: request.id, position },
});

export const granted = (lease: Lease, source: "warm" | "booted" | "provisioned"): EventFact => ({
  event: "lease.granted",
  payload: {
    leaseId: lease.id,
    deviceId: lease.deviceId,
    requester: lease.requesterId,
    requestId: lease.requestId,
    source,
  },
});

export const renewed = (lease: Lease): EventFact => ({
  event: "lease.renewed",
  payload: { leaseId: lease.id, deadline: lease.ttlDeadline },
});

export type LeaseEnd = "explicit" | "killed" | "device-lost" | "holder-gone" | "expired";

export const leaseEnded = (lease: Lease, how: LeaseEnd): EventFact => {
  const payload = { leaseId: lease.id, deviceId: lease.deviceId, ownerId: lease.ownerId };
  return how === "expired"
    ? { event: "lease.expired", payload }
    : { event: "lease.released", payload: { ...payload, reason: how } };
};

export const rejected = (request: Request, reason: string): EventFact => ({
  event: "lease.rejected",
  payload: {
    requestId: request.id,
    requester: request.requesterId,
    requestSpec: askedFor(request.input),
    reason,
  },
});

export const provisioned = (device: Device, duration: number): EventFact => ({
  event: "device.provisioned",
  payload: { deviceId: device.id, spec: device.spec, driver: device.kind, duration },
});

export const ready = (device: Device, bootDuration: number): EventFact => ({
  event: "device.ready",
  payload: { deviceId: device.id, bootDuration },
});

export const reclaimed = (device: Device, strategy: string, duration: number): EventFact => ({
  event: "device.reclaimed",
  payload: { deviceId: device.id, strategy, duration },
});

export const purgeFailed = (device: Device, duration: number, error: WireError): EventFact => ({
  event: "device.purge-failed",
  payload: { deviceId: device.id, strategy: "clean", duration, error: error.message },
});

export const startFailed = (device: Device, attempt: number, error: WireError): EventFact => ({
  event: "device.start-failed",
  payload: { deviceId: device.id, attempt, error: error.message },
});

export const quarantined = (device: Device, maxRetries: number, nextRetryAt: number, error: WireError): EventFact => ({
  event: "device.quarantined",
  payload: { deviceId: device.id, maxRetries, nextRetryAt, error: error.message },
});

export const quarantineRecovered = (device: Device): EventFact => ({
  event: "device.quarantine-recovered",
  payload: { deviceId: device.id },
});

export const quarantineAbandoned = (device: Device, error: WireError): EventFact => ({
  event: "device.quarantine-abandoned",
  payload: { deviceId: device.id, error: error.message },
});

export const quarantineStranded = (device: Device, error: WireError): EventFact => ({
  event: "device.quarantine-stranded",
  payload: { deviceId: device.id, error: error.message },
});

export const shutDown = (device: Device, initiator: string): EventFact => ({
  event: "device.shutdown",
  payload: { deviceId: device.id, initiator },
});

export const deleted = (device: Device, initiator: string): EventFact => ({
  event: "device.deleted",
  payload: { deviceId: device.id, initiator },
});

export const enrolled = (device: Device): EventFact => ({
  event: "device.enrolled",
  payload: { deviceId: device.id, spec: device.spec, shared: device.shared },
});

export const absent = (device: Device): EventFact => ({
  event: "device.absence-detected",
  payload: { deviceId: device.id },
});

export const returned = (device: Device): EventFact => ({
  event: "device.returned",
  payload: { deviceId: device.id },
});

function askedFor(input: LeaseRequestInput) {
  const { platform, model, class: deviceClass, osVersion, physical, mode } = input;
  return {
    platform,
    ...(model === undefined ? {} : { model }),
    ...(deviceClass === undefined ? {} : { class: deviceClass }),
    ...(osVersion === undefined ? {} : { osVersion }),
    ...(physical === undefined ? {} : { physical }),
    ...(mode === undefined ? {} : { mode }),
  };
}
