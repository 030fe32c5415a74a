import type { DeviceId, EventFact, LeaseId, MintId, RequestId } from "../contract/index.ts";
import type { State } from "./book.ts";
import { indexDevice, indexLease, indexRequest, indexSupply, lineOf } from "./indexing.ts";
import type { Answer, Decision, Effect, Notice, Reply, ReplyTo } from "./protocol.ts";
import type { Change, Device, Intent, Lease, Now, Request } from "./state.ts";

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
