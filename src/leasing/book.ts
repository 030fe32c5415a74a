import type {
  Config,
  DeviceId,
  DeviceKind,
  EventFact,
  HostFacts,
  LeaseId,
  MintId,
  PlatformCatalog,
  RequestId,
} from "../contract/index.ts";
import { countIn, emptyUsage, isMade, limitsOf, type Limits, type Usage } from "./capacity.ts";
import { Deadlines } from "./deadlines.ts";
import type { Answer, Decision, Effect, Estimate, Notice, Reply, ReplyTo } from "./protocol.ts";
import { aliasesOf, requirementOf, shapeKey, type Aliases, type Requirement, type Shape } from "./requirement.ts";
import { SeqHeap } from "./seq-heap.ts";
import type { Change, Device, Intent, Lease, Now, Request, Settings, StoredState } from "./state.ts";

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

function requestKey(request: Pick<Request, "requesterId">, idempotencyKey: string): string {
  return JSON.stringify([request.requesterId, idempotencyKey]);
}

/** The state behind rows that were stored. Deadlines of leases and requests come with the `recovered` input, which knows the time. */
export function createState(stored: StoredState, settings: Pick<Config, keyof Settings>): State {
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

/** One decision in the making: every write goes through it, into the state at once and into the list of changes. */
export class Draft {
  readonly state: State;
  readonly now: Now;
  readonly #mint: MintId;
  readonly #changes = new Map<string, Change>();
  readonly #begun = new Map<DeviceId, { intentId: string; drain: LeaseId | undefined }>();
  readonly #events: EventFact[] = [];
  readonly #replies: Reply[] = [];
  readonly #notices: Notice[] = [];
  /** Devices that have become ready and are to be granted or left idle. */
  readonly readied: DeviceId[] = [];
  /** Whether something has changed that a waiting request could use. */
  supplyMoved = false;

  constructor(state: State, now: Now, mint: MintId) {
    this.state = state;
    this.now = now;
    this.#mint = mint;
  }

  mint: MintId = (prefix) => this.#mint(prefix);

  putDevice(device: Device, event?: EventFact): Device {
    this.#write("devices", device.id, device);
    indexDevice(this.state, this.state.devices.get(device.id), device);
    this.supplyMoved = true;
    if (event !== undefined) this.event(event);
    return device;
  }

  removeDevice(device: Device, event: EventFact): void {
    const claimant = this.state.claimants.get(device.id);
    if (claimant !== undefined) this.unclaim(claimant);
    this.#write("devices", device.id, undefined);
    indexDevice(this.state, this.state.devices.get(device.id), undefined);
    this.state.missing.delete(device.id);
    this.state.deadlines.delete(`device:${device.id}`);
    this.supplyMoved = true;
    this.event(event);
  }

  /** Commits to work on a device. It is begun once the commit stands. */
  begin(device: Device, kind: Intent["kind"], because: string, drain?: LeaseId): Intent {
    const again = device.intent?.kind === kind ? device.intent : undefined;
    const intent: Intent = {
      id: again?.id ?? this.mint("int"),
      kind,
      attempt: (again?.attempt ?? 0) + 1,
      startedAt: this.now.wall,
      because,
    };
    this.#begun.set(device.id, { intentId: intent.id, drain });
    return intent;
  }

  putLease(lease: Lease, event?: EventFact): Lease {
    this.#write("leases", lease.id, lease);
    indexLease(this.state, this.state.leases.get(lease.id), lease);
    if (event !== undefined) this.event(event);
    return lease;
  }

  removeLease(lease: Lease, event: EventFact): void {
    this.#write("leases", lease.id, undefined);
    indexLease(this.state, lease, undefined);
    this.state.deadlines.delete(`lease:${lease.id}`);
    this.event(event);
  }

  putRequest(request: Request, event?: EventFact): Request {
    this.#write("requests", request.id, request);
    indexRequest(this.state, this.state.requests.get(request.id), request);
    this.state.queueMoved = true;
    if (request.state === "open") this.supplyMoved = true;
    if (event !== undefined) this.event(event);
    return request;
  }

  removeRequest(request: Request): void {
    this.#write("requests", request.id, undefined);
    indexRequest(this.state, request, undefined);
  }

  claim(request: Request, device: Device): void {
    this.state.claims.set(request.id, device.id);
    this.state.claimants.set(device.id, request.id);
    indexSupply(this.state, device);
    this.state.queueMoved = true;
  }

  unclaim(requestId: RequestId): void {
    const { state } = this;
    const deviceId = state.claims.get(requestId);
    if (deviceId === undefined) return;
    state.claims.delete(requestId);
    state.claimants.delete(deviceId);
    const device = state.devices.get(deviceId);
    if (device !== undefined) indexSupply(state, device);
    const request = state.requests.get(requestId);
    if (request?.state === "open") lineOf(state, request)?.unclaimed.push(request.seq, request.id);
    state.queueMoved = true;
    this.supplyMoved = true;
  }

  event(event: EventFact): void {
    this.#events.push(event);
  }

  reply(to: ReplyTo, answer: Answer): void {
    this.#replies.push({ to, answer });
  }

  notice(notice: Notice): void {
    this.#notices.push(notice);
  }

  decision(): Decision {
    const effects: Effect[] = [];
    for (const [deviceId, { intentId, drain }] of this.#begun) {
      const device = this.state.devices.get(deviceId);
      // What was begun and overtaken in the same decision never starts.
      if (device?.intent?.id === intentId) effects.push({ device, intent: device.intent, drain });
    }
    return {
      changes: [...this.#changes.values()],
      events: this.#events,
      replies: this.#replies,
      notices: this.#notices,
      effects,
    };
  }

  #write(table: "devices", key: string, row: Device | undefined): void;
  #write(table: "leases", key: string, row: Lease | undefined): void;
  #write(table: "requests", key: string, row: Request | undefined): void;
  #write(table: Change["table"], key: string, row: Change["row"]): void {
    this.#changes.set(`${table}:${key}`, { table, key, row } as Change);
  }
}

function indexDevice(state: State, before: Device | undefined, after: Device | undefined): void {
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

function indexSupply(state: State, device: Device): void {
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

function indexLease(state: State, before: Lease | undefined, after: Lease | undefined): void {
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

function indexRequest(state: State, before: Request | undefined, after: Request | undefined): void {
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
