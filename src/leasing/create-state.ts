import { emptyUsage, limitsOf } from "./capacity.ts";
import type { State } from "./book.ts";
import { Deadlines } from "./deadlines.ts";
import { indexDevice, indexLease, indexRequest } from "./indexing.ts";
import type { Settings, StoredState } from "./state.ts";

/** The state behind rows that were stored. Deadlines of leases and requests come with the `recovered` input, which knows the time. */
export function createState(stored: StoredState, settings: Settings): State {
  const state: State = {
    settings,
    devices: new Map(),
    leases: new Map(),
    requests: new Map(),
    catalogs: new Map(),
    host: undefined,
    aliases: new Map(),
    limits: limitsOf(settings.capacity, undefined),
    leaseByDevice: new Map(),
    leaseByRequester: new Map(),
    openByRequester: new Map(),
    requestByKey: new Map(),
    deviceByPlatformId: new Map(),
    supplies: new Map(),
    lines: new Map(),
    claims: new Map(),
    claimants: new Map(),
    evictable: new Set(),
    usage: emptyUsage(),
    deadlines: new Deadlines(),
    settled: new Map(),
    waiters: new Map(),
    requestOfWaiter: new Map(),
    missing: new Map(),
    toldPosition: new Map(),
    queueMoved: false,
    lastCapacity: "",
    lastQueueDepth: 0,
    nextSeq: 1,
  };
  for (const device of stored.devices) indexDevice(state, undefined, device);
  for (const lease of stored.leases) indexLease(state, undefined, lease);
  for (const request of [...stored.requests].toSorted((a, b) => a.seq - b.seq)) indexRequest(state, undefined, request);
  return state;
}
