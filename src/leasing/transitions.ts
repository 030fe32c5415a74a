import {
  type DeviceClass,
  type DeviceId,
  type DeviceKind,
  type DeviceSpec,
  type LeaseId,
  type WireError,
} from "../contract/index.ts";
import type { State } from "./book.ts";
import type { Draft } from "./draft.ts";
import { isMade } from "./capacity.ts";
import * as events from "./events.ts";
import { fits, requirementOf } from "./requirement.ts";
import type { Device, Intent, Quarantine, Request } from "./state.ts";

/** How often a device is started before it counts as broken: a wedged boot is recycled once. */
const START_ATTEMPTS = 2;
const DESTROY_RETRIES = 3;

/** A device as a committed intent: it is on disk before the platform is asked to make it. */
export function newDevice(
  draft: Draft,
  kind: DeviceKind,
  spec: DeviceSpec,
  deviceClass: DeviceClass | undefined,
  because: string,
): Device {
  const id = draft.mint("dev") as DeviceId;
  const blank: Device = {
    id,
    kind,
    spec,
    class: deviceClass,
    mode: "full",
    state: "provisioning",
    stateSince: draft.now.wall,
    physical: false,
    shared: false,
    name: `simlock-${id}`,
    mark: draft.mint("int"),
    driverDeviceId: undefined,
    address: undefined,
    environment: {},
    baseline: undefined,
    createdAt: draft.now.wall,
    lastLeaseEndedAt: undefined,
    intent: undefined,
    quarantine: undefined,
  };
  return draft.putDevice({ ...blank, intent: draft.begin(blank, "create", because) });
}

export function startBoot(draft: Draft, device: Device, because: string): Device {
  return draft.putDevice({ ...device, intent: draft.begin(device, "boot", because) });
}

export function evictDevice(draft: Draft, device: Device, how: "shutdown" | "destroy", because: string): Device {
  return draft.putDevice({ ...device, intent: draft.begin(device, how, because) });
}

/** The lease has ended: commands drained, traces removed, and only then somebody else's. */
export function startCleaning(draft: Draft, device: Device, because: string, drain: LeaseId | undefined): Device {
  return draft.putDevice({
    ...entered(draft, device, "reclaiming"),
    quarantine: undefined,
    intent: draft.begin(device, "clean", because, drain),
  });
}

export function entered(draft: Draft, device: Device, state: Device["state"]): Device {
  return {
    ...device,
    state,
    stateSince: device.state === state ? device.stateSince : draft.now.wall,
    intent: undefined,
  };
}

export function created(draft: Draft, device: Device, intent: Intent, driverDeviceId: string): void {
  const known: Device = { ...device, driverDeviceId, intent: undefined };
  draft.putDevice(
    { ...known, intent: draft.begin(known, "boot", intent.because) },
    events.provisioned(known, draft.now.wall - intent.startedAt),
  );
}

export function booted(
  draft: Draft,
  device: Device,
  intent: Intent,
  address: string,
  environment: Readonly<Record<string, string>>,
): void {
  if (device.state === "leased") {
    draft.putDevice({ ...device, address, environment, intent: undefined });
    return;
  }
  draft.putDevice(
    { ...entered(draft, device, "ready"), address, environment },
    events.ready(device, draft.now.wall - intent.startedAt),
  );
  draft.readied.push(device.id);
}

/** Says whether the device is given up for those who wait for it. */
export function startFailed(draft: Draft, device: Device, intent: Intent, error: WireError): boolean {
  const event = events.startFailed(device, intent.attempt, error);
  if (device.state === "leased") {
    // Its holder may still boot it; nobody else is served by it.
    draft.putDevice({ ...device, intent: undefined }, event);
    return false;
  }
  const hopeless = ["TOOL_MISSING", "DEVICE_UNAVAILABLE"].includes(error.code);
  if (intent.kind === "boot" && intent.attempt < START_ATTEMPTS && !hopeless) {
    draft.putDevice({ ...device, intent: draft.begin(device, "boot", intent.because) }, event);
    return false;
  }
  if (device.lastLeaseEndedAt === undefined && isMade(device.kind)) {
    draft.putDevice({ ...device, intent: draft.begin(device, "destroy", "start-failed") }, event);
  } else {
    draft.event(event);
    quarantine(draft, device, error, "clean");
  }
  return true;
}

export function cleaned(
  draft: Draft,
  device: Device,
  intent: Intent,
  result: {
    readonly state: "ready" | "shutdown";
    readonly strategy: string;
    readonly address?: string;
    readonly environment?: Readonly<Record<string, string>>;
  },
): void {
  const event =
    device.quarantine === undefined
      ? events.reclaimed(device, result.strategy, draft.now.wall - intent.startedAt)
      : events.quarantineRecovered(device);
  const next: Device = {
    ...entered(draft, device, result.state),
    quarantine: undefined,
    address: result.address ?? device.address,
    environment: result.environment ?? device.environment,
  };
  draft.state.deadlines.delete(`device:${device.id}`);
  if (result.state === "ready") {
    draft.putDevice(next, event);
    draft.readied.push(device.id);
    return;
  }
  const claimant = claimantOf(draft, device);
  if (claimant !== undefined && serves(draft.state, claimant, device)) {
    draft.putDevice({ ...next, intent: draft.begin(next, "boot", claimant.id) }, event);
    return;
  }
  // Whoever waited for its place only is planned for anew, now that it can make room.
  if (claimant !== undefined) draft.unclaim(claimant.id);
  draft.putDevice(next, event);
}

export function claimantOf(draft: Draft, device: Device): Request | undefined {
  const id = draft.state.claimants.get(device.id);
  return id === undefined ? undefined : draft.state.requests.get(id);
}

/** Whether a request that has claimed the device wants the device itself, and not only its place. */
export function serves(state: State, request: Request, device: Device): boolean {
  return fits(requirementOf(request.input), device, state.aliases);
}

export function cleaningFailed(draft: Draft, device: Device, intent: Intent, error: WireError): void {
  draft.event(events.purgeFailed(device, draft.now.wall - intent.startedAt, error));
  quarantine(draft, device, error, "clean");
}

/**
 * Kept from everybody until a retry succeeds. A device that stays dirty is destroyed after the last retry, where it is ours to destroy; one that
 * can't be destroyed, or is somebody's phone, is left for an operator.
 */
export function quarantine(draft: Draft, device: Device, error: WireError, goal: Quarantine["goal"]): void {
  const { state, now } = draft;
  const { maxRetries, retryBackoffMs, retryBackoffMultiplier, maxRetryBackoffMs } = state.settings.quarantine;
  const claimant = state.claimants.get(device.id);
  if (claimant !== undefined) draft.unclaim(claimant);
  const before = device.quarantine?.goal === goal ? device.quarantine.attempts : 0;
  const retries = goal === "clean" ? maxRetries : DESTROY_RETRIES;
  if (before >= retries) {
    if (goal === "clean" && isMade(device.kind)) {
      const abandoned = { ...entered(draft, device, "quarantined"), quarantine: device.quarantine };
      draft.putDevice(
        { ...abandoned, intent: draft.begin(abandoned, "destroy", "quarantine") },
        events.quarantineAbandoned(device, error),
      );
      return;
    }
    draft.putDevice(
      {
        ...entered(draft, device, "quarantined"),
        quarantine: { error: error.message, goal, attempts: before, stranded: true },
      },
      events.quarantineStranded(device, error),
    );
    return;
  }
  const wait = Math.min(maxRetryBackoffMs, retryBackoffMs * retryBackoffMultiplier ** before);
  const nextRetryAt = now.wall + wait;
  state.deadlines.set(`device:${device.id}`, now.mono + wait);
  draft.putDevice(
    {
      ...entered(draft, device, "quarantined"),
      quarantine: { error: error.message, goal, attempts: before, nextRetryAt, stranded: false },
    },
    events.quarantined(device, maxRetries, nextRetryAt, error),
  );
}

/** The time of a quarantined device's retry has come. */
export function retryQuarantine(draft: Draft, device: Device): void {
  const { quarantine: held } = device;
  if (device.state !== "quarantined" || held === undefined || device.intent !== undefined) return;
  const { error, goal, attempts } = held;
  draft.putDevice({
    ...device,
    quarantine: { error, goal, attempts: attempts + 1, stranded: false },
    intent: draft.begin(device, goal, "quarantine"),
  });
}

/** A device that made room, or was told to stop. */
export function stopped(draft: Draft, device: Device, intent: Intent): void {
  const claimant = draft.state.claimants.get(device.id);
  if (claimant !== undefined) draft.unclaim(claimant);
  draft.putDevice(entered(draft, device, "shutdown"), events.shutDown(device, intent.because));
}

export function destroyed(draft: Draft, device: Device, intent: Intent): void {
  draft.removeDevice(device, events.deleted(device, intent.because));
}
