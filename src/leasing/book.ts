import type { DeviceId, DeviceKind, HostFacts, LeaseId, PlatformCatalog, RequestId } from "../contract/index.ts";
import { limitsOf, type Limits, type Usage } from "./capacity.ts";
import type { Deadlines } from "./deadlines.ts";
import type { Estimate, ReplyTo } from "./protocol.ts";
import { aliasesOf, type Aliases, type Requirement, type Shape } from "./requirement.ts";
import type { SeqHeap } from "./seq-heap.ts";
import type { Device, Lease, Request, Settings } from "./state.ts";

/** Unclaimed devices of one shape, by how soon they can serve. */
export interface Supply {
  readonly shape: Shape;
  readonly ready: Set<DeviceId>;
  /** Being made or booted. */
  readonly coming: Set<DeviceId>;
  readonly cleaning: Set<DeviceId>;
  readonly stopped: Set<DeviceId>;
}

/** Open requests that want the same thing, oldest first. */
export interface Line {
  readonly requirement: Requirement;
  readonly all: SeqHeap<RequestId>;
  readonly unclaimed: SeqHeap<RequestId>;
  open: number;
}

export interface CatalogFact {
  readonly catalog: PlatformCatalog;
  readonly estimate: Estimate;
}

/**
 * All that the decisions stand on: the rows that the database holds, facts about the world, and indexes over both, so that a decision costs what
 * it touches. Only a `Draft` writes it.
 */
export interface State {
  readonly settings: Settings;
  readonly devices: Map<DeviceId, Device>;
  readonly leases: Map<LeaseId, Lease>;
  readonly requests: Map<RequestId, Request>;

  readonly catalogs: Map<DeviceKind, CatalogFact>;
  host: HostFacts | undefined;
  aliases: Aliases;
  limits: Limits;

  readonly leaseByDevice: Map<DeviceId, LeaseId>;
  readonly leaseByRequester: Map<string, LeaseId>;
  readonly openByRequester: Map<string, RequestId>;
  readonly requestByKey: Map<string, RequestId>;
  readonly deviceByPlatformId: Map<string, DeviceId>;
  readonly supplies: Map<string, Supply>;
  readonly lines: Map<string, Line>;
  /** Which device a waiting request has claimed: one that will serve it, or one that makes room for it. */
  readonly claims: Map<RequestId, DeviceId>;
  readonly claimants: Map<DeviceId, RequestId>;
  /** Unclaimed devices of ours that could make room. */
  readonly evictable: Set<DeviceId>;
  readonly usage: Usage;

  readonly deadlines: Deadlines;
  /** Settled requests, oldest first, with when they may go. */
  readonly settled: Map<RequestId, number>;
  readonly waiters: Map<RequestId, Set<ReplyTo>>;
  readonly requestOfWaiter: Map<ReplyTo, RequestId>;
  /** Readings in a row that did not show a device, or showed it stopped though it should run. */
  readonly missing: Map<DeviceId, number>;
  readonly toldPosition: Map<RequestId, string>;
  queueMoved: boolean;
  lastCapacity: string;
  lastQueueDepth: number;
  nextSeq: number;
}

export function platformIdKey(kind: DeviceKind, driverDeviceId: string): string {
  return `${kind}:${driverDeviceId}`;
}

export function requestKey(request: Pick<Request, "requesterId">, idempotencyKey: string): string {
  return JSON.stringify([request.requesterId, idempotencyKey]);
}

export function findByKey(state: State, requesterId: string, key: string): Request | undefined {
  const id = state.requestByKey.get(requestKey({ requesterId }, key));
  return id === undefined ? undefined : state.requests.get(id);
}

/** A fact that moves the limits or the names of models. */
export function setCatalog(state: State, kind: DeviceKind, fact: CatalogFact): void {
  state.catalogs.set(kind, fact);
  state.aliases = aliasesOf([...state.catalogs.values()].map((known) => known.catalog));
}

export function setHost(state: State, facts: HostFacts): void {
  state.host = facts;
  state.limits = limitsOf(state.settings.capacity, facts);
}

export function queueDepth(state: State): number {
  let open = 0;
  for (const line of state.lines.values()) open += line.open;
  return open - state.claims.size;
}
