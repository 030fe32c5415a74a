import type { DeviceClass, DeviceId, DeviceKind, DeviceSpec, WaitReason } from "../contract/index.ts";
import type { State, Supply } from "./book.ts";
import { bootObstacle, createObstacle, isMade } from "./capacity.ts";
import { fits, resolve, type Requirement } from "./requirement.ts";

/** What to do next for the oldest request of a line. Pure: the caller carries it out. */
export type Plan =
  | { readonly kind: "grant"; readonly device: DeviceId }
  | { readonly kind: "follow"; readonly device: DeviceId }
  | { readonly kind: "boot"; readonly device: DeviceId }
  | {
      readonly kind: "create";
      readonly of: DeviceKind;
      readonly spec: DeviceSpec;
      readonly class: DeviceClass | undefined;
    }
  | { readonly kind: "evict"; readonly device: DeviceId; readonly how: "shutdown" | "destroy" }
  | { readonly kind: "wait" };

const WAIT: Plan = { kind: "wait" };

/**
 * The soonest way to serve a requirement with what nobody has claimed: a ready device, one on its way, a stopped one, one that is being cleaned, a new one,
 * room made by an idle one. A device that is being cleaned is waited for, not replaced. Who must not wait follows nothing.
 */
export function planFor(state: State, requirement: Requirement): Plan {
  const fitting = [...state.supplies.values()].filter((supply) => fits(requirement, supply.shape, state.aliases));
  const ready = firstOf(fitting, "ready");
  if (ready !== undefined) return { kind: "grant", device: ready };
  const coming = firstOf(fitting, "coming");
  if (coming !== undefined && !requirement.noWait) return { kind: "follow", device: coming };
  const stopped = firstOf(fitting, "stopped");
  const bootBlocked = bootObstacle(state.limits, state.usage, requirement.platform);
  if (stopped !== undefined && bootBlocked === undefined) return { kind: "boot", device: stopped };
  const cleaning = firstOf(fitting, "cleaning");
  if (cleaning !== undefined && !requirement.noWait) return { kind: "follow", device: cleaning };

  const make = whatToMake(state, requirement);
  if (stopped === undefined && make === undefined) return WAIT;
  const blocked = stopped !== undefined ? bootBlocked : createObstacle(state.limits, state.usage, requirement.platform);
  if (blocked === undefined) {
    return make === undefined ? WAIT : { kind: "create", ...make };
  }
  switch (blocked) {
    case "device-limit":
      return evict(state, requirement, "destroy");
    case "platform-running-limit":
    case "global-running-limit":
      return evict(state, requirement, "shutdown", blocked === "global-running-limit");
    case "ram-budget":
      return evict(state, requirement, "shutdown", true);
  }
}

function firstOf(supplies: readonly Supply[], part: "ready" | "coming" | "stopped" | "cleaning"): DeviceId | undefined {
  for (const supply of supplies) {
    for (const device of supply[part]) return device;
  }
  return undefined;
}

export function whatToMake(
  state: State,
  requirement: Requirement,
): { readonly of: DeviceKind; readonly spec: DeviceSpec; readonly class: DeviceClass | undefined } | undefined {
  for (const [kind, { catalog }] of state.catalogs) {
    if (!isMade(kind) || catalog.platform !== requirement.platform) continue;
    const resolution = resolve(requirement, catalog, state.aliases);
    if (resolution.kind === "make") return { of: kind, spec: resolution.spec, class: resolution.class };
  }
  return undefined;
}

/** The idle device of ours that was used longest ago: to be shut down for its running slot, or destroyed for its place. */
function evict(state: State, requirement: Requirement, how: "shutdown" | "destroy", anyPlatform = false): Plan {
  let oldest: { readonly id: DeviceId; readonly used: number } | undefined;
  for (const id of state.evictable) {
    const device = state.devices.get(id);
    if (device === undefined) continue;
    if (!anyPlatform && device.spec.platform !== requirement.platform) continue;
    if (how === "shutdown" && device.state !== "ready") continue;
    const used = device.lastLeaseEndedAt ?? device.createdAt;
    if (oldest === undefined || used < oldest.used) oldest = { id, used };
  }
  if (oldest !== undefined) return { kind: "evict", device: oldest.id, how };
  if (requirement.noWait) return WAIT;
  // The next place that comes free is claimed too, so that a younger request does not walk off with it.
  const supplies = [...state.supplies.values()].filter(
    ({ shape }) => isMade(shape.kind) && (anyPlatform || shape.spec.platform === requirement.platform),
  );
  const next = firstOf(supplies, "cleaning") ?? firstOf(supplies, "coming");
  return next === undefined ? WAIT : { kind: "follow", device: next };
}

/** Why the oldest request of a line without a claim still waits, for those who ask: it reads every device. */
export function whyWaiting(state: State, requirement: Requirement): WaitReason {
  let claimed = false;
  let present = false;
  for (const device of state.devices.values()) {
    if (!fits(requirement, device, state.aliases)) continue;
    if (device.state !== "absent") present = true;
    if (state.claimants.has(device.id)) claimed = true;
    else if (state.leaseByDevice.has(device.id)) return "capacity";
  }
  if (claimed) return "older-request";
  return present || whatToMake(state, requirement) !== undefined ? "capacity" : "absent";
}

/** Whether any device that is known could serve it one day, or one could be made. */
export function isServiceable(state: State, requirement: Requirement): boolean {
  if (whatToMake(state, requirement) !== undefined) return true;
  for (const device of state.devices.values()) {
    if (device.state !== "deleted" && fits(requirement, device, state.aliases)) return true;
  }
  return false;
}
