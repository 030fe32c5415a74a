import { LeaseId, type EventEnvelope } from "../contract/index.ts";
import type { Decision, Notice, ReplyTo } from "../leasing/index.ts";
import type { Call, Peer } from "./call.ts";
import type { Effects } from "./effects.ts";
import type { LeaseWork } from "./lease-work.ts";
import type { Outlet } from "./loop.ts";
import type { ScratchFolders } from "./scratch.ts";
import type { Subscriptions } from "./subscriptions.ts";

export interface OutletPorts {
  readonly peers: () => Iterable<Peer>;
  readonly effects: Effects;
  readonly work: LeaseWork;
  readonly scratch: ScratchFolders;
  readonly subscriptions: Subscriptions;
  /** Leases, waiting requests or devices may have come or gone. */
  readonly changed: () => void;
  readonly scratchFailed: (leaseId: LeaseId, error: unknown) => void;
}

/** Where a committed decision goes: pushes to those whom it concerns, events to subscribers, work to the drivers. */
export function createOutlet(ports: OutletPorts): Outlet {
  return {
    notice: (notice, originOf) => tell(ports, notice, originOf),
    committed(decision) {
      for (const leaseId of endedLeases(decision)) void afterLease(ports, leaseId);
      for (const effect of decision.effects) ports.effects.start(effect);
      if (decision.changes.length > 0) ports.changed();
    },
    published: (events: readonly EventEnvelope[]) => ports.subscriptions.publish(events),
  };
}

function tell(ports: OutletPorts, notice: Notice, originOf: (replyTo: ReplyTo) => Call | undefined): void {
  if (notice.kind === "progress") {
    for (const replyTo of notice.to) {
      const call = originOf(replyTo);
      call?.peer.push("progress", { requestId: call.id, progress: notice.progress });
    }
    return;
  }
  const { leaseId, deviceId, reason, ownerId, exceptTo } = notice;
  const ender = exceptTo === undefined ? undefined : originOf(exceptTo)?.peer;
  for (const peer of ports.peers()) {
    if (peer.principal === ownerId && peer !== ender) peer.push("lease-lost", { leaseId, deviceId, reason });
  }
}

function endedLeases(decision: Decision): LeaseId[] {
  return decision.changes.flatMap((change) => {
    if (change.table !== "leases" || change.row !== undefined) return [];
    const id = LeaseId.safeParse(change.key);
    return id.success ? [id.data] : [];
  });
}

/** A lease that has ended: its commands are given their time from now on, whatever becomes of its device; then its folder goes. */
async function afterLease(ports: OutletPorts, leaseId: LeaseId): Promise<void> {
  await ports.work.drain(leaseId);
  try {
    await ports.scratch.remove(leaseId);
  } catch (error) {
    ports.scratchFailed(leaseId, error);
  }
}
