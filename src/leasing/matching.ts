import type { DeviceId, RequestId } from "../contract/index.ts";
import type { Line } from "./book.ts";
import type { Draft } from "./draft.ts";
import { grant } from "./granting.ts";
import { planFor, type Plan } from "./planning.ts";
import { reportStage, settleFailed } from "./requests.ts";
import { fits } from "./requirement.ts";
import { claimantOf, evictDevice, newDevice, serves, startBoot } from "./transitions.ts";
import type { Request } from "./state.ts";
import { noCapacity } from "./refusals.ts";

/**
 * Gives what is free to those who wait, until nothing moves. A device that has become ready goes to the oldest request that it fits, whatever had been
 * claimed; then each line's oldest request without a claim, the oldest of all first, claims a device or the room for one.
 */
export function match(draft: Draft): void {
  const { state } = draft;
  while (draft.readied.length > 0 || draft.supplyMoved) {
    const ready = draft.readied.shift();
    if (ready !== undefined) {
      offer(draft, ready);
      continue;
    }
    draft.supplyMoved = false;
    while (claimNext(draft)) if (draft.readied.length > 0) break;
  }
  for (const line of [...state.lines.values()]) if (line.requirement.noWait) refuseWaiters(draft, line);
}

/** A ready device: to the oldest open request that it fits. Its old claim is free for the next. */
function offer(draft: Draft, deviceId: DeviceId): void {
  const { state } = draft;
  const device = state.devices.get(deviceId);
  if (device === undefined || device.state !== "ready" || device.intent !== undefined) return;
  let oldest: { seq: number; item: RequestId } | undefined;
  for (const line of state.lines.values()) {
    if (!fits(line.requirement, device, state.aliases)) continue;
    const top = line.all.peek((id) => state.requests.get(id)?.state === "open");
    if (top !== undefined && (oldest === undefined || top.seq < oldest.seq)) oldest = top;
  }
  const claimant = claimantOf(draft, device);
  if (claimant !== undefined) draft.unclaim(claimant.id);
  const request = oldest === undefined ? undefined : state.requests.get(oldest.item);
  if (request === undefined) return;
  // An older request that waits for the device's place comes first: the claims that follow give it that.
  if (claimant !== undefined && claimant.seq < request.seq) return;
  draft.unclaim(request.id);
  const fresh = device.lastLeaseEndedAt === undefined ? "provisioned" : "booted";
  grant(draft, request, device, claimant === undefined ? "warm" : fresh);
}

function claimNext(draft: Draft): boolean {
  const { state } = draft;
  const heads = [...state.lines.values()]
    .map((line) => ({ line, head: headOf(draft, line) }))
    .filter((entry): entry is { line: Line; head: Request } => entry.head !== undefined)
    .toSorted((a, b) => a.head.seq - b.head.seq);
  for (const { line, head } of heads) {
    const plan = planFor(state, line.requirement);
    if (plan.kind === "wait") continue;
    carryOut(draft, head, plan);
    return true;
  }
  return false;
}

function headOf(draft: Draft, line: Line): Request | undefined {
  const { state } = draft;
  const top = line.unclaimed.peek((id) => state.requests.get(id)?.state === "open" && !state.claims.has(id));
  return top === undefined ? undefined : state.requests.get(top.item);
}

function carryOut(draft: Draft, request: Request, plan: Exclude<Plan, { kind: "wait" }>): void {
  const { state } = draft;
  if (plan.kind === "create") {
    const device = newDevice(draft, plan.of, plan.spec, plan.class, request.id);
    draft.claim(request, device);
    reportStage(draft, request, device);
    return;
  }
  const device = state.devices.get(plan.device);
  if (device === undefined) return;
  switch (plan.kind) {
    case "grant":
      grant(draft, request, device, "warm");
      return;
    case "follow":
      draft.claim(request, device);
      if (serves(state, request, device)) reportStage(draft, request, device);
      return;
    case "boot":
      draft.claim(request, startBoot(draft, device, request.id));
      reportStage(draft, request, device);
      return;
    case "evict":
      draft.claim(request, evictDevice(draft, device, plan.how, request.id));
      return;
  }
}

function refuseWaiters(draft: Draft, line: Line): void {
  for (;;) {
    const request = headOf(draft, line);
    if (request === undefined) return;
    settleFailed(draft, request, noCapacity(draft.state, line.requirement), "no-wait");
  }
}
