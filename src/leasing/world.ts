import { SimlockError, type DeviceKind } from "../contract/index.ts";
import type { Draft } from "./draft.ts";
import { isMade } from "./capacity.ts";
import * as events from "./events.ts";
import { endLease } from "./leases.ts";
import type { Reality, Sighting } from "./protocol.ts";
import { settleFailed } from "./requests.ts";
import { entered, startBoot, startCleaning } from "./transitions.ts";
import type { Device } from "./state.ts";

/** One reading of the machine while we run. A device must be missed, or seen stopped, in several readings in a row before that counts. */
export function observe(draft: Draft, reality: Reality): void {
  if (!reality.readable) return;
  const seen = sightings(reality.devices);
  for (const device of devicesOf(draft, reality.kind)) {
    if (device.driverDeviceId === undefined) continue;
    const sighting = seen.get(device.driverDeviceId);
    if (sighting === undefined) missed(draft, device);
    else sighted(draft, device, sighting);
  }
}

function missed(draft: Draft, device: Device): void {
  if (device.state === "absent" || device.intent?.kind === "create" || device.intent?.kind === "destroy") return;
  if (again(draft, device)) gone(draft, device);
}

function sighted(draft: Draft, device: Device, sighting: Sighting): void {
  if (device.state === "absent") {
    draft.state.missing.delete(device.id);
    draft.event(events.returned(device));
    startCleaning(draft, { ...device, address: sighting.address }, "returned", undefined);
    return;
  }
  const idle = device.state === "ready" && device.intent === undefined;
  if (idle && isMade(device.kind) && sighting.runState === "stopped") {
    // Somebody else shut it down: to grant it as ready would be a lie.
    if (again(draft, device)) draft.putDevice(entered(draft, device, "shutdown"), events.shutDown(device, "foreign"));
    return;
  }
  draft.state.missing.delete(device.id);
  if (sighting.address !== undefined && sighting.address !== device.address && !isMade(device.kind)) {
    draft.putDevice({ ...device, address: sighting.address });
  }
}

/** Whether this is one reading too many. */
function again(draft: Draft, device: Device): boolean {
  const { missing, settings } = draft.state;
  const count = (missing.get(device.id) ?? 0) + 1;
  missing.set(device.id, count);
  if (count < settings.health.stableObservations) return false;
  missing.delete(device.id);
  return true;
}

function gone(draft: Draft, device: Device): void {
  const { state } = draft;
  const leaseId = state.leaseByDevice.get(device.id);
  const lease = leaseId === undefined ? undefined : state.leases.get(leaseId);
  if (lease !== undefined) endLease(draft, lease, "device-lost");
  const left = state.devices.get(device.id);
  if (left === undefined) return;
  const claimant = state.claimants.get(device.id);
  if (claimant !== undefined) draft.unclaim(claimant);
  if (isMade(device.kind)) draft.removeDevice(left, events.deleted(left, "foreign"));
  else
    draft.putDevice(
      { ...entered(draft, left, "absent"), address: undefined, quarantine: undefined },
      events.absent(left),
    );
}

/**
 * The first decision of a daemon's life. Every open intent is begun again, as a new attempt: each step of a driver may be repeated. Leases whose device
 * is there, or can't be read, go on until their stored deadline; requests without a key have nobody to answer any more.
 */
export function recover(draft: Draft, realities: readonly Reality[]): void {
  const { state, now } = draft;
  for (const lease of state.leases.values()) {
    state.deadlines.set(`lease:${lease.id}`, now.mono + Math.max(0, lease.ttlDeadline - now.wall));
  }
  for (const id of [...state.openByRequester.values()]) {
    const request = state.requests.get(id);
    if (request === undefined) continue;
    if (request.input.idempotencyKey === undefined) {
      settleFailed(
        draft,
        request,
        new SimlockError("INTERNAL", "The daemon was restarted while this request waited.", { hint: "Ask again." }),
        "daemon-restarted",
      );
    } else if (request.deadline !== undefined) {
      state.deadlines.set(`request:${id}`, now.mono + Math.max(0, request.deadline - now.wall));
    }
  }
  const readable = new Map(
    realities.filter((reality) => reality.readable).map((reality) => [reality.kind, sightings(reality.devices)]),
  );
  const devices = [...state.devices.values()];
  for (const lease of [...state.leases.values()]) {
    if (lease.ttlDeadline <= now.wall) endLease(draft, lease, "expired");
  }
  for (const device of devices) recoverDevice(draft, device, readable.get(device.kind));
  if (state.settled.size > 0) state.deadlines.set("settled", now.mono);
}

function recoverDevice(draft: Draft, device: Device, seen: ReadonlyMap<string, Sighting> | undefined): void {
  const current = draft.state.devices.get(device.id) ?? device;
  const sighting = device.driverDeviceId === undefined ? undefined : seen?.get(device.driverDeviceId);
  const isGone = seen !== undefined && device.driverDeviceId !== undefined && sighting === undefined;
  if (isGone && device.state !== "absent") {
    // A link that is not up yet when we start has lost nobody's phone: it is missed once, like in any other reading.
    if (isMade(device.kind)) return gone(draft, current);
    missed(draft, current);
  }
  if (current.intent !== undefined) {
    // A lease that has just run out has begun its cleaning in this very decision.
    if (current !== device) return;
    draft.putDevice({ ...current, intent: draft.begin(current, current.intent.kind, current.intent.because) });
    return;
  }
  if (sighting === undefined) {
    const retryAt = current.quarantine?.nextRetryAt;
    if (retryAt !== undefined) rearm(draft, current, retryAt);
    return;
  }
  switch (current.state) {
    case "absent":
      draft.event(events.returned(current));
      startCleaning(draft, { ...current, address: sighting.address }, "returned", undefined);
      return;
    case "ready":
      if (isMade(current.kind) && sighting.runState !== "running") draft.putDevice(entered(draft, current, "shutdown"));
      else draft.readied.push(current.id);
      return;
    case "leased":
      recoverLeased(draft, current, sighting);
      return;
    case "quarantined":
      if (current.quarantine?.nextRetryAt !== undefined) rearm(draft, current, current.quarantine.nextRetryAt);
      return;
    default:
      return;
  }
}

/** Work that was begun for somebody who is gone: what was being made is removed, what was being booted is shut down again. */
export function dropUnclaimedStarts(draft: Draft): void {
  for (const device of [...draft.state.devices.values()]) {
    if (draft.state.claimants.has(device.id) || !isMade(device.kind)) continue;
    if (device.state === "provisioning") {
      draft.putDevice({ ...device, intent: draft.begin(device, "destroy", "daemon-restarted") });
    } else if (device.state === "shutdown" && device.intent?.kind === "boot") {
      draft.putDevice({ ...device, intent: draft.begin(device, "shutdown", "daemon-restarted") });
    }
  }
}

/** A leased device that the machine's restart has stopped is booted for its holder, unless the holder stopped it. */
function recoverLeased(draft: Draft, device: Device, sighting: Sighting): void {
  const leaseId = draft.state.leaseByDevice.get(device.id);
  const lease = leaseId === undefined ? undefined : draft.state.leases.get(leaseId);
  if (sighting.runState === "stopped" && lease?.poweredOff === false && isMade(device.kind)) {
    startBoot(draft, device, "recovery");
  } else if (sighting.address !== undefined && sighting.address !== device.address) {
    draft.putDevice({ ...device, address: sighting.address });
  }
}

function rearm(draft: Draft, device: Device, retryAt: number): void {
  draft.state.deadlines.set(`device:${device.id}`, draft.now.mono + Math.max(0, retryAt - draft.now.wall));
}

function devicesOf(draft: Draft, kind: DeviceKind): readonly Device[] {
  return [...draft.state.devices.values()].filter((device) => device.kind === kind);
}

function sightings(devices: readonly Sighting[]): ReadonlyMap<string, Sighting> {
  return new Map(devices.map((device) => [device.driverDeviceId, device]));
}
