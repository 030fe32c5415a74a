import { SimlockError, type LeaseId } from "../contract/index.ts";
import type { State } from "./book.ts";
import type { Draft } from "./draft.ts";
import * as events from "./events.ts";
import { leaseRecord } from "./granting.ts";
import type { Caller, Input, ReplyTo } from "./protocol.ts";
import { notYours, unknownLease } from "./refusals.ts";
import { settleCancelled, ttlTooLong } from "./requests.ts";
import { startCleaning } from "./transitions.ts";
import type { Lease } from "./state.ts";

export function renew(draft: Draft, { replyTo, caller, leaseId, ttlMs }: Extract<Input, { kind: "renew" }>): void {
  const { state, now } = draft;
  const lease = state.leases.get(leaseId);
  const { maxTtlMs } = state.settings.lease;
  if (lease === undefined) return refuse(draft, replyTo, unknownLease(leaseId));
  if (!mayEnd(lease, caller)) return refuse(draft, replyTo, notYours(lease));
  if (ttlMs !== undefined && ttlMs > maxTtlMs) return refuse(draft, replyTo, ttlTooLong(ttlMs, maxTtlMs));
  // Without a new width the lease keeps its own, also where the most that may be asked for has shrunk since.
  const width = ttlMs ?? lease.ttlMs;
  const renewed = { ...lease, ttlMs: width, ttlDeadline: now.wall + width, lastRenewedAt: now.wall };
  draft.putLease(renewed, events.renewed(renewed));
  state.deadlines.set(`lease:${lease.id}`, now.mono + width);
  draft.reply(replyTo, { kind: "lease", lease: leaseRecord(renewed) });
}

export function release(draft: Draft, { replyTo, caller, leaseId, force }: Extract<Input, { kind: "release" }>): void {
  const lease = draft.state.leases.get(leaseId);
  if (lease === undefined) return refuse(draft, replyTo, unknownLease(leaseId));
  const own = lease.ownerId === caller.principal;
  if (!own && !(caller.role === "admin" && force)) {
    return refuse(
      draft,
      replyTo,
      caller.role === "admin"
        ? new SimlockError("FORBIDDEN", `Lease ${leaseId} belongs to ${lease.ownerId}: ending it takes --force.`, {
            details: { leaseId, ownerId: lease.ownerId },
            hint: `Run \`simlock release ${leaseId} --force\`.`,
          })
        : notYours(lease),
    );
  }
  endLease(draft, lease, own ? "explicit" : "killed", replyTo);
  draft.reply(replyTo, { kind: "released", leaseIds: [leaseId] });
}

export function releaseAll(draft: Draft, { replyTo, caller }: Extract<Input, { kind: "release-all" }>): void {
  if (caller.role !== "admin")
    return refuse(draft, replyTo, new SimlockError("FORBIDDEN", "Only an operator may end all leases."));
  const leaseIds: LeaseId[] = [];
  for (const lease of [...draft.state.leases.values()]) {
    leaseIds.push(lease.id);
    endLease(draft, lease, "killed", replyTo);
  }
  draft.reply(replyTo, { kind: "released", leaseIds });
}

/**
 * The one way in which a lease ends. Its device is cleaned before anybody else gets it; a device that is lost is not there to be cleaned. Its owner is
 * told on every connection but the one that ended it: a holder elsewhere must stop using the device.
 */
export function endLease(draft: Draft, lease: Lease, how: events.LeaseEnd, by?: ReplyTo): void {
  const { state, now } = draft;
  draft.removeLease(lease, events.leaseEnded(lease, how));
  const device = state.devices.get(lease.deviceId);
  if (device !== undefined && how !== "device-lost") {
    startCleaning(draft, { ...device, lastLeaseEndedAt: now.wall }, lease.id, lease.id);
  }
  draft.notice({
    kind: "lease-lost",
    ownerId: lease.ownerId,
    leaseId: lease.id,
    deviceId: lease.deviceId,
    reason: how === "explicit" ? "released" : how,
    exceptTo: by,
  });
}

/** The process that a lease or a waiting request was bound to has ended. */
export function holderGone(draft: Draft, pid: number, startedAt: string): void {
  const { state } = draft;
  for (const lease of [...state.leases.values()]) {
    if (lease.boundTo?.pid === pid && lease.boundTo.startedAt === startedAt) endLease(draft, lease, "holder-gone");
  }
  for (const id of [...state.openByRequester.values()]) {
    const request = state.requests.get(id);
    if (request?.boundTo?.pid === pid && request.boundTo.startedAt === startedAt) settleCancelled(draft, request);
  }
}

/** A grant that reached nobody is given back, unless its request's key can fetch it again. */
export function undelivered(draft: Draft, leaseId: LeaseId): void {
  const lease = draft.state.leases.get(leaseId);
  if (lease === undefined) return;
  const request = draft.state.requests.get(lease.requestId);
  if (request?.input.idempotencyKey === undefined) endLease(draft, lease, "holder-gone");
}

export function setPower(draft: Draft, leaseId: LeaseId, off: boolean): void {
  const lease = draft.state.leases.get(leaseId);
  if (lease !== undefined && lease.poweredOff !== off) draft.putLease({ ...lease, poweredOff: off });
}

export function mayEnd(lease: Lease, caller: Caller): boolean {
  return lease.ownerId === caller.principal || caller.role === "admin";
}

export function refuse(draft: Draft, to: ReplyTo, error: SimlockError): void {
  draft.reply(to, { kind: "error", error });
}

export function leasesOf(state: State, caller: Caller): readonly Lease[] {
  const all = [...state.leases.values()];
  return caller.role === "admin" ? all : all.filter((lease) => lease.ownerId === caller.principal);
}
