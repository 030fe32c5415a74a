import type { CallOptions, ExecOptions, RequestLeaseOptions, SimlockClient } from "../client/index.ts";
import {
  DeviceId,
  LeaseId,
  SimlockError,
  type ErrorCode,
  type LeaseGrant,
  type LeaseRecord,
  type OperationInput,
  type OperationName,
  type OperationOutput,
  type PushPayload,
} from "../contract/index.ts";
import type { Clock } from "./clock.ts";

/** A clock that moves when told to, and lets what a timer set off settle before the next one runs. */
export class FakeClock implements Clock {
  #now = 0;
  #timers: { at: number; run: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, run };
    this.#timers.push(timer);
    return () => (this.#timers = this.#timers.filter((each) => each !== timer));
  }

  get pending(): number {
    return this.#timers.length;
  }

  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settled();
    for (;;) {
      const next = this.#timers.filter((timer) => timer.at <= until).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#now = next.at;
      next.run();
      await settled();
    }
    this.#now = until;
    await settled();
  }
}

/** Lets everything that can go on without time go on. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

type Exec = (input: OperationInput<"device.exec">, options: ExecOptions) => Promise<OperationOutput<"device.exec">>;
type Ask = (input: OperationInput<"lease.request">, options: RequestLeaseOptions) => Promise<LeaseGrant>;

/** A daemon in memory: it grants, renews, lists and releases leases by its own clock, and shows what it was asked. */
export class FakeDaemon {
  readonly leases = new Map<string, LeaseGrant>();
  readonly clients = new Set<FakeSimlockClient>();
  readonly calls: { readonly operation: OperationName; readonly input: unknown }[] = [];
  readonly connects: { readonly launch: boolean }[] = [];
  listening = true;
  ttlMs = 900_000;
  /** Called before an operation is answered: throw to fail it, wait to hold it back. */
  before: (operation: OperationName, options: CallOptions | undefined) => void | Promise<void> = () => {};
  exec: Exec = () => Promise.resolve({ exitCode: 0, stdout: "", stderr: "", truncated: false });
  ask: Ask | undefined;
  catalog: OperationOutput<"catalog.get"> = { platforms: [] };
  #minted = 0;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  connect = async (
    { launch }: { readonly launch: boolean },
    principal = "claude-code:session-1",
  ): Promise<FakeSimlockClient> => {
    this.connects.push({ launch });
    if (!this.listening && !launch) throw new SimlockError("DAEMON_UNREACHABLE", "Nothing listens.");
    this.listening = true;
    const client = new FakeSimlockClient(this, principal);
    this.clients.add(client);
    return client;
  };

  inputsOf<N extends OperationName>(operation: N): OperationInput<N>[] {
    return this.calls.flatMap((call) => (call.operation === operation ? [call.input as OperationInput<N>] : []));
  }

  grant(principal: string, ttlMs = this.ttlMs): LeaseGrant {
    this.#minted += 1;
    const deviceId = DeviceId.parse(`dev_${this.#minted}`);
    const now = this.#clock.now();
    const grant: LeaseGrant = {
      device: {
        id: deviceId,
        driverDeviceId: "6F1C0000-0000-4000-8000-000000000001",
        spec: { platform: "ios", model: "iPhone 17", osVersion: "26.0" },
        address: "6F1C0000-0000-4000-8000-000000000001",
        mode: "full",
      },
      environment: { SIMULATOR_UDID: "6F1C0000-0000-4000-8000-000000000001" },
      lease: {
        id: LeaseId.parse(`lse_${this.#minted}`),
        deviceId,
        requesterId: principal,
        ownerId: principal,
        grantedAt: now,
        ttlMs,
        ttlDeadline: now + ttlMs,
        lastRenewedAt: now,
      },
      timing: { estimatedProvisionMs: 0, estimatedBootMs: 0, estimatedReclaimMs: 0, estimatedReadyMs: 0 },
    };
    this.leases.set(grant.lease.id, grant);
    return grant;
  }

  renew(leaseId: string): LeaseRecord {
    const grant = this.leases.get(leaseId);
    if (grant === undefined) throw new SimlockError("UNKNOWN_LEASE", `There is no lease ${leaseId}.`);
    const now = this.#clock.now();
    const lease = { ...grant.lease, lastRenewedAt: now, ttlDeadline: now + grant.lease.ttlMs };
    this.leases.set(leaseId, { ...grant, lease });
    return lease;
  }

  /** Ends a lease and tells its owner's connections. */
  endLease(leaseId: string, reason: PushPayload<"lease-lost">["reason"] = "killed"): void {
    const grant = this.leases.get(leaseId);
    if (grant === undefined) return;
    this.leases.delete(leaseId);
    for (const client of this.clients) client.push({ leaseId: grant.lease.id, deviceId: grant.device.id, reason });
  }

  /** Every connection is gone; leases stand. */
  stop(): void {
    this.listening = false;
    for (const client of this.clients) client.drop();
  }
}

/** One connection to a `FakeDaemon`. */
export class FakeSimlockClient implements SimlockClient {
  readonly role = "agent";
  readonly daemonVersion = "0.0.0-fake";
  readonly instanceId = "fake";
  readonly principal: string;
  readonly #daemon: FakeDaemon;
  readonly #lost = new Set<(lost: PushPayload<"lease-lost">) => void>();
  readonly #unhealthy = new Set<(push: PushPayload<"device-unhealthy">) => void>();
  readonly #recovered = new Set<(push: PushPayload<"device-recovered">) => void>();
  readonly #gone = new Set<() => void>();
  readonly #end = Promise.withResolvers<never>();
  open = true;

  constructor(daemon: FakeDaemon, principal: string) {
    this.#daemon = daemon;
    this.principal = principal;
    this.#end.promise.catch(() => {});
  }

  call<N extends OperationName>(
    operation: N,
    input: OperationInput<N>,
    options?: CallOptions,
  ): Promise<OperationOutput<N>> {
    return this.#during(operation, input, options, async () => this.#answer(operation, input) as OperationOutput<N>);
  }

  requestLease(input: OperationInput<"lease.request">, options: RequestLeaseOptions = {}): Promise<LeaseGrant> {
    return this.#during("lease.request", input, options, async () => {
      if (this.#daemon.ask !== undefined) return this.#daemon.ask(input, options);
      const existing = this.#own()[0];
      if (existing !== undefined) {
        const details = { requesterId: this.principal, existingLeaseId: existing.lease.id };
        throw new SimlockError("REQUESTER_ALREADY_LEASED", "You hold a lease.", { details });
      }
      return this.#daemon.grant(this.principal, input.ttlMs);
    });
  }

  exec(input: OperationInput<"device.exec">, options: ExecOptions = {}): Promise<OperationOutput<"device.exec">> {
    return this.#during("device.exec", input, {}, async () => {
      if (!this.#daemon.leases.has(input.leaseId)) throw new SimlockError("UNKNOWN_LEASE", "There is no such lease.");
      return this.#daemon.exec(input, options);
    });
  }

  applyState(): Promise<never> {
    return Promise.reject(new SimlockError("UNKNOWN_REQUEST", "The fake daemon applies no state."));
  }

  onLeaseLost(listener: (lost: PushPayload<"lease-lost">) => void): () => void {
    return added(this.#lost, listener);
  }
  onDeviceUnhealthy(listener: (push: PushPayload<"device-unhealthy">) => void): () => void {
    return added(this.#unhealthy, listener);
  }
  onDeviceRecovered(listener: (push: PushPayload<"device-recovered">) => void): () => void {
    return added(this.#recovered, listener);
  }
  onEvent(): () => void {
    return () => {};
  }
  onConnectionLost(listener: () => void): () => void {
    return added(this.#gone, listener);
  }

  async close(): Promise<void> {
    this.drop();
  }

  push(lost: PushPayload<"lease-lost">): void {
    for (const listener of this.#lost) listener(lost);
  }
  pushUnhealthy(push: PushPayload<"device-unhealthy">): void {
    for (const listener of this.#unhealthy) listener(push);
  }
  pushRecovered(push: PushPayload<"device-recovered">): void {
    for (const listener of this.#recovered) listener(push);
  }

  /** The connection ends: calls in flight reject, listeners are told once. */
  drop(): void {
    if (!this.open) return;
    this.open = false;
    this.#daemon.clients.delete(this);
    this.#end.reject(new SimlockError("DAEMON_CONNECTION_LOST", "The connection to the daemon was lost."));
    for (const listener of this.#gone) listener();
  }

  async #during<T>(
    operation: OperationName,
    input: unknown,
    options: CallOptions | undefined,
    answer: () => Promise<T>,
  ): Promise<T> {
    this.#daemon.calls.push({ operation, input });
    const aborted = new Promise<never>((_resolve, reject) => {
      const cancel = () => reject(new SimlockError("CANCELLED", "Cancelled."));
      if (options?.signal?.aborted === true) cancel();
      else options?.signal?.addEventListener("abort", cancel, { once: true });
    });
    const work = (async () => {
      if (!this.open) throw new SimlockError("DAEMON_CONNECTION_LOST", "The connection to the daemon was lost.");
      await this.#daemon.before(operation, options);
      return answer();
    })();
    return Promise.race([work, this.#end.promise, aborted]);
  }

  #own(): LeaseGrant[] {
    return [...this.#daemon.leases.values()].filter((grant) => grant.lease.ownerId === this.principal);
  }

  #answer(operation: OperationName, input: object): unknown {
    const leaseId = "leaseId" in input && typeof input.leaseId === "string" ? input.leaseId : "";
    switch (operation) {
      case "catalog.get":
        return this.#daemon.catalog;
      case "lease.list":
        return { leases: this.#own().map((grant) => grant.lease) };
      case "lease.renew":
        return this.#daemon.renew(leaseId);
      case "lease.adopt": {
        const [grant] = this.#own();
        return grant === undefined ? {} : { grant };
      }
      case "lease.release":
        if (!this.#daemon.leases.delete(leaseId)) {
          throw new SimlockError("UNKNOWN_LEASE", `There is no lease ${leaseId}.`);
        }
        return { leaseId };
      default:
        throw new SimlockError("UNKNOWN_REQUEST", `The fake daemon has no ${operation}.`);
    }
  }
}

function added<T>(set: Set<T>, value: T): () => void {
  set.add(value);
  return () => set.delete(value);
}

/** A failure of one operation, as a daemon answers it. */
export function failing(operation: OperationName, code: ErrorCode, message = "No."): (asked: OperationName) => void {
  return (asked) => {
    if (asked === operation) throw new SimlockError(code, message);
  };
}
