import { platformIdKey, requestKey, type Line, type State, type Supply } from "./book.ts";
import { countIn, isMade } from "./capacity.ts";
import { requirementOf, shapeKey } from "./requirement.ts";
import { SeqHeap } from "./seq-heap.ts";
import type { Device, Lease, Request } from "./state.ts";

/** How rows find their way into the indexes: called by whatever writes a row, with the row before it. */

export function indexDevice(state: State, before: Device | undefined, after: Device | undefined): void {
  if (before !== undefined) {
    countIn(state.usage, before, -1);
    if (before.driverDeviceId !== undefined) {
      state.deviceByPlatformId.delete(platformIdKey(before.kind, before.driverDeviceId));
    }
    forgetSupply(state, before);
  }
  if (after === undefined) {
    if (before !== undefined) state.devices.delete(before.id);
    return;
  }
  state.devices.set(after.id, after);
  countIn(state.usage, after, 1);
  if (after.driverDeviceId !== undefined) {
    state.deviceByPlatformId.set(platformIdKey(after.kind, after.driverDeviceId), after.id);
  }
  indexSupply(state, after);
}

export function indexSupply(state: State, device: Device): void {
  forgetSupply(state, device);
  if (state.claimants.has(device.id)) return;
  const part = supplyPart(device);
  if (part === undefined) return;
  supplyOf(state, device)[part].add(device.id);
  if ((part === "ready" || part === "stopped") && isMade(device.kind)) state.evictable.add(device.id);
}

function forgetSupply(state: State, device: Device): void {
  const supply = supplyOf(state, device);
  supply.ready.delete(device.id);
  supply.coming.delete(device.id);
  supply.cleaning.delete(device.id);
  supply.stopped.delete(device.id);
  state.evictable.delete(device.id);
}

function supplyOf(state: State, device: Device): Supply {
  const key = shapeKey(device);
  const known = state.supplies.get(key);
  if (known !== undefined) return known;
  const { kind, spec, class: deviceClass, physical, shared } = device;
  const supply: Supply = {
    shape: { kind, spec, class: deviceClass, physical, shared },
    ready: new Set(),
    coming: new Set(),
    cleaning: new Set(),
    stopped: new Set(),
  };
  state.supplies.set(key, supply);
  return supply;
}

function supplyPart(device: Device): "ready" | "coming" | "cleaning" | "stopped" | undefined {
  switch (device.state) {
    case "ready":
      return device.intent === undefined ? "ready" : undefined;
    case "provisioning":
      return device.intent?.kind === "create" || device.intent?.kind === "boot" ? "coming" : undefined;
    case "reclaiming":
      return device.intent?.kind === "clean" ? "cleaning" : undefined;
    case "shutdown":
      if (device.intent === undefined) return "stopped";
      return device.intent.kind === "boot" ? "coming" : undefined;
    default:
      return undefined;
  }
}

export function indexLease(state: State, before: Lease | undefined, after: Lease | undefined): void {
  if (before !== undefined && after === undefined) {
    state.leases.delete(before.id);
    state.leaseByDevice.delete(before.deviceId);
    state.leaseByRequester.delete(before.requesterId);
  }
  if (after === undefined) return;
  state.leases.set(after.id, after);
  state.leaseByDevice.set(after.deviceId, after.id);
  state.leaseByRequester.set(after.requesterId, after.id);
}

export function indexRequest(state: State, before: Request | undefined, after: Request | undefined): void {
  const request = after ?? before;
  if (request === undefined) return;
  state.nextSeq = Math.max(state.nextSeq, request.seq + 1);
  const key = request.input.idempotencyKey;
  const wasOpen = before?.state === "open";
  const isOpen = after?.state === "open";
  if (after === undefined) {
    state.requests.delete(request.id);
    state.settled.delete(request.id);
    if (key !== undefined) state.requestByKey.delete(requestKey(request, key));
  } else {
    state.requests.set(after.id, after);
    if (key !== undefined) state.requestByKey.set(requestKey(request, key), after.id);
    if (after.settledAt !== undefined && !state.settled.has(after.id)) {
      state.settled.set(after.id, after.settledAt + state.settings.lease.requestRetentionMs);
    }
  }
  if (isOpen && !wasOpen) {
    state.openByRequester.set(request.requesterId, request.id);
    const line = lineFor(state, request);
    line.open += 1;
    line.all.push(request.seq, request.id);
    line.unclaimed.push(request.seq, request.id);
  }
  if (wasOpen && !isOpen) {
    state.openByRequester.delete(request.requesterId);
    state.deadlines.delete(`request:${request.id}`);
    state.toldPosition.delete(request.id);
    const line = lineOf(state, request);
    if (line !== undefined) {
      line.open -= 1;
      if (line.open === 0) state.lines.delete(line.requirement.key);
    }
  }
}

function lineFor(state: State, request: Request): Line {
  const requirement = requirementOf(request.input);
  const known = state.lines.get(requirement.key);
  if (known !== undefined) return known;
  const line: Line = { requirement, all: new SeqHeap(), unclaimed: new SeqHeap(), open: 0 };
  state.lines.set(requirement.key, line);
  return line;
}

export function lineOf(state: State, request: Request): Line | undefined {
  return state.lines.get(requirementOf(request.input).key);
}
