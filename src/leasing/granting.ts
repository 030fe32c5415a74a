import type { LeaseGrant, LeaseId, LeaseRecord, LeaseTiming, RequestId } from "../contract/index.ts";
import type { State } from "./book.ts";
import type { Draft } from "./draft.ts";
import * as events from "./events.ts";
import type { Answer } from "./protocol.ts";
import { entered } from "./transitions.ts";
import type { Device, Lease, Request } from "./state.ts";

/** The device is leased, the lease stands and the request is settled with its grant: one commit. */
export function grant(draft: Draft, request: Request, device: Device, source: "warm" | "booted" | "provisioned"): void {
  const { state, now } = draft;
  const ttlMs = request.input.ttlMs ?? state.settings.lease.defaultTtlMs;
  const leased = draft.putDevice(entered(draft, device, "leased"));
  const lease: Lease = {
    id: draft.mint("lse") as LeaseId,
    deviceId: device.id,
    requestId: request.id,
    requesterId: request.requesterId,
    ownerId: request.ownerId,
    grantedAt: now.wall,
    ttlMs,
    ttlDeadline: now.wall + ttlMs,
    lastRenewedAt: now.wall,
    boundTo: request.boundTo,
    poweredOff: false,
  };
  draft.putLease(lease, events.granted(lease, source));
  state.deadlines.set(`lease:${lease.id}`, now.mono + ttlMs);
  const answer = grantOf(lease, leased, timingOf(state, device, source));
  draft.putRequest({ ...request, state: "granted", settledAt: now.wall, grant: answer });
  answerWaiters(draft, request.id, { kind: "grant", grant: answer });
}

/** Everybody who waits for the request is answered, once. */
export function answerWaiters(draft: Draft, requestId: RequestId, answer: Answer): void {
  const { waiters, requestOfWaiter } = draft.state;
  for (const to of waiters.get(requestId) ?? []) {
    requestOfWaiter.delete(to);
    draft.reply(to, answer);
  }
  waiters.delete(requestId);
}

export function leaseRecord(lease: Lease): LeaseRecord {
  const { id, deviceId, requesterId, ownerId, grantedAt, ttlMs, ttlDeadline, lastRenewedAt } = lease;
  return { id, deviceId, requesterId, ownerId, grantedAt, ttlMs, ttlDeadline, lastRenewedAt };
}

/** A running lease as its grant: what a holder that was restarted needs to go on. */
export function grantOf(lease: Lease, device: Device, timing: LeaseTiming = NO_WAIT): LeaseGrant {
  return {
    device: {
      id: device.id,
      driverDeviceId: device.driverDeviceId ?? "",
      spec: device.spec,
      mode: device.mode,
      physical: device.physical,
      ...(device.address === undefined ? {} : { address: device.address }),
    },
    environment: { ...device.environment },
    lease: leaseRecord(lease),
    timing,
  };
}

const NO_WAIT: LeaseTiming = {
  estimatedProvisionMs: 0,
  estimatedBootMs: 0,
  estimatedReclaimMs: 0,
  estimatedReadyMs: 0,
};

function timingOf(state: State, device: Device, source: "warm" | "booted" | "provisioned"): LeaseTiming {
  const estimate = state.catalogs.get(device.kind)?.estimate;
  if (estimate === undefined || source === "warm") return NO_WAIT;
  const estimatedProvisionMs = source === "provisioned" ? estimate.provisionMs : 0;
  return {
    estimatedProvisionMs,
    estimatedBootMs: estimate.bootMs,
    estimatedReclaimMs: 0,
    estimatedReadyMs: estimatedProvisionMs + estimate.bootMs,
  };
}
