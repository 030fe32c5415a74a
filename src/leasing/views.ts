import type {
  Capacity,
  DeviceId,
  DeviceRecord,
  LeaseGrant,
  LeaseId,
  LeaseRecord,
  Platform,
  PlatformCatalog,
  StatusDevice,
  WaitingRequest,
} from "../contract/index.ts";
import { queueDepth, type State } from "./book.ts";
import { describeCapacity, isMade } from "./capacity.ts";
import { grantOf, leaseRecord } from "./granting.ts";
import { leasesOf } from "./leases.ts";
import { whyWaiting } from "./planning.ts";
import type { Caller, Notice } from "./protocol.ts";
import { requirementOf } from "./requirement.ts";
import type { BoundProcess, Device, Lease, Now, Request } from "./state.ts";

/** What is read from the state without deciding anything. */

export interface StallRule {
  readonly thresholdMultiplier: number;
  readonly minimumThresholdMs: number;
}

export interface Stall {
  readonly device: Device;
  readonly ageMs: number;
  readonly thresholdMs: number;
}

/** Devices that have been on their way for much longer than such work takes. */
export function stalledDevices(state: State, now: Now, rule: StallRule): readonly Stall[] {
  const stalls: Stall[] = [];
  for (const device of state.devices.values()) {
    if (device.state !== "provisioning" && device.state !== "reclaiming") continue;
    const estimate = state.catalogs.get(device.kind)?.estimate;
    const usual =
      device.state === "provisioning"
        ? (estimate?.provisionMs ?? 0) + (estimate?.bootMs ?? 0)
        : (estimate?.reclaimMs ?? 0);
    const thresholdMs = Math.max(rule.minimumThresholdMs, rule.thresholdMultiplier * usual);
    const ageMs = now.wall - device.stateSince;
    if (ageMs > thresholdMs) stalls.push({ device, ageMs, thresholdMs });
  }
  return stalls;
}

export function statusDevice(device: Device, now: Now): StatusDevice {
  const { id, kind, spec, state, mode, physical, shared, quarantine } = device;
  const moving = state === "provisioning" || state === "reclaiming";
  return {
    id,
    kind,
    spec,
    state,
    mode,
    physical,
    ...(physical ? { shared } : {}),
    ...(quarantine === undefined ? {} : { quarantineAttempts: quarantine.attempts }),
    ...(quarantine?.nextRetryAt === undefined ? {} : { quarantineNextRetryAt: quarantine.nextRetryAt }),
    ...(moving ? { transitionAgeMs: Math.max(0, now.wall - device.stateSince) } : {}),
  };
}

export function statusDevices(state: State, now: Now): StatusDevice[] {
  return [...state.devices.values()].map((device) => statusDevice(device, now));
}

export function deviceRecord(device: Device, now: Now): DeviceRecord {
  const { driverDeviceId, address, name, createdAt, lastLeaseEndedAt, quarantine } = device;
  return {
    ...statusDevice(device, now),
    name,
    createdAt,
    ...(driverDeviceId === undefined ? {} : { driverDeviceId }),
    ...(address === undefined ? {} : { address }),
    ...(lastLeaseEndedAt === undefined ? {} : { lastLeaseEndedAt }),
    ...(quarantine === undefined ? {} : { problem: quarantine.error }),
    ...(device.state === "quarantined" ? { quarantinedAt: device.stateSince } : {}),
  };
}

export function deviceRecords(state: State, now: Now): DeviceRecord[] {
  return [...state.devices.values()].map((device) => deviceRecord(device, now));
}

export function leaseRecords(state: State, caller: Caller): LeaseRecord[] {
  return leasesOf(state, caller).map(leaseRecord);
}

export function findLease(state: State, id: LeaseId): Lease | undefined {
  return state.leases.get(id);
}

export function findDevice(state: State, id: DeviceId): Device | undefined {
  return state.devices.get(id);
}

export function leaseOfRequester(state: State, requesterId: string): Lease | undefined {
  const id = state.leaseByRequester.get(requesterId);
  return id === undefined ? undefined : state.leases.get(id);
}

/** The grant of a lease that runs, for a holder that was restarted. */
export function grantOfLease(state: State, lease: Lease): LeaseGrant | undefined {
  const device = state.devices.get(lease.deviceId);
  return device === undefined ? undefined : grantOf(lease, device);
}

export function capacityOf(state: State): Capacity {
  return describeCapacity(state.limits, state.usage);
}

export function queueDepthOf(state: State): number {
  return queueDepth(state);
}

/** The processes whose end ends a lease or a waiting request. */
export function boundProcesses(state: State): BoundProcess[] {
  const bound = new Map<string, BoundProcess>();
  const add = (process: BoundProcess | undefined) => {
    if (process !== undefined) bound.set(`${process.pid}:${process.startedAt}`, process);
  };
  for (const lease of state.leases.values()) add(lease.boundTo);
  for (const id of state.openByRequester.values()) add(state.requests.get(id)?.boundTo);
  return [...bound.values()];
}

/** Open requests, oldest first, each with its place in the line of its platform. */
export function waitingRequests(state: State): WaitingRequest[] {
  const position: Record<Platform, number> = { ios: 0, android: 0 };
  const reasons = new Map<string, ReturnType<typeof whyWaiting>>();
  return openRequests(state).map((request) => {
    const { platform, model, class: deviceClass, osVersion, physical } = request.input;
    const starting = state.claims.has(request.id);
    const base = {
      id: request.id,
      requesterId: request.requesterId,
      createdAt: request.createdAt,
      spec: {
        platform,
        ...(model === undefined ? {} : { model }),
        ...(deviceClass === undefined ? {} : { class: deviceClass }),
        ...(osVersion === undefined ? {} : { osVersion }),
        ...(physical === undefined ? {} : { physical }),
      },
    };
    if (starting) return { ...base, stage: "starting" as const };
    position[platform] += 1;
    const requirement = requirementOf(request.input);
    const reason = reasons.get(requirement.key) ?? whyWaiting(state, requirement);
    reasons.set(requirement.key, reason);
    return { ...base, stage: "queued" as const, queuePosition: position[platform], reason };
  });
}

function openRequests(state: State): Request[] {
  const open: Request[] = [];
  for (const id of state.openByRequester.values()) {
    const request = state.requests.get(id);
    if (request !== undefined) open.push(request);
  }
  // Requests are indexed as they arrive, so this is nearly always in order already.
  return open.sort((a, b) => a.seq - b.seq);
}

/**
 * Places in the queue, and why, for those who have not been told yet. It reads the whole queue: ask for it when the queue has moved, a few times a second at
 * the most.
 */
export function queueProgress(state: State): Notice[] {
  if (!state.queueMoved) return [];
  state.queueMoved = false;
  const notices: Notice[] = [];
  for (const waiting of waitingRequests(state)) {
    const to = state.waiters.get(waiting.id);
    const { queuePosition, reason } = waiting;
    if (queuePosition === undefined) {
      state.toldPosition.delete(waiting.id);
      continue;
    }
    const told = `${queuePosition}:${reason ?? ""}`;
    if (to === undefined || state.toldPosition.get(waiting.id) === told) continue;
    state.toldPosition.set(waiting.id, told);
    notices.push({
      kind: "progress",
      to: [...to],
      requestId: waiting.id,
      progress: { stage: "queued", queuePosition, ...(reason === undefined ? {} : { reason }) },
    });
  }
  return notices;
}

/** What can be leased: what can be made, and what is enrolled. */
export function catalogs(state: State, platform?: Platform): PlatformCatalog[] {
  const byPlatform = new Map<Platform, PlatformCatalog>();
  for (const { catalog } of state.catalogs.values()) {
    // A platform with two kinds has one that is made: the attached kind's catalog is empty and adds nothing.
    const known = byPlatform.get(catalog.platform);
    if (known === undefined || known.models.length === 0) byPlatform.set(catalog.platform, catalog);
  }
  for (const device of state.devices.values()) {
    if (isMade(device.kind)) continue;
    const known = byPlatform.get(device.spec.platform);
    if (known !== undefined) byPlatform.set(device.spec.platform, withAttached(known, device));
  }
  return [...byPlatform.values()].filter((catalog) => platform === undefined || catalog.platform === platform);
}

function withAttached(catalog: PlatformCatalog, device: Device): PlatformCatalog {
  const { model, osVersion } = device.spec;
  const attached = new Set(catalog.attachedModels);
  attached.add(model);
  return {
    ...catalog,
    models: catalog.models.includes(model) ? catalog.models : [...catalog.models, model],
    modelRuntimes: {
      ...catalog.modelRuntimes,
      [model]: [...new Set([...(catalog.modelRuntimes[model] ?? []), osVersion])],
    },
    modelClasses: { ...catalog.modelClasses, [model]: catalog.modelClasses[model] ?? "phone" },
    attachedModels: [...attached],
  };
}
