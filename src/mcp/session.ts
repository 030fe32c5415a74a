import type { SimlockClient } from "../client/index.ts";
import {
  SimlockError,
  type LeaseGrant,
  type LeaseId,
  type LeaseProgress,
  type LeaseRecord,
  type OperationInput,
  type OperationOutput,
} from "../contract/index.ts";
import { within, type Clock } from "./clock.ts";
import { Connection, sessionClosed, type Connect } from "./connection.ts";
import { leaseLostNotice, recoveredNotice, unhealthyNotice, type LostLease, type Notice } from "./notices.ts";
import { RecentIds } from "./recent-ids.ts";
import { Renewal } from "./renewal.ts";

/** What the description of `run_on_device` promises: each stream keeps this many of its last characters. */
export const KEPT_CHARACTERS = 32_768;
export const NO_LEASE_MESSAGE = "This MCP session holds no lease. Call lease_simulator first.";

/** Clients give a server about four seconds to go before they kill it. */
const CLOSE_BUDGET_MS = 2000;
const REMEMBERED_IDS = 64;
/** Failures of a release after which we cannot say whose the lease is now. */
const NOT_KNOWN = ["FORBIDDEN", "DAEMON_CONNECTION_LOST", "CANCELLED"] as const;

export interface SessionOptions {
  readonly connect: Connect;
  readonly clock: Clock;
  /**
   * The identity that stands for this process alone, where no agent named itself. Nobody else can have leased under it, so there is nothing
   * of an earlier process to adopt.
   */
  readonly ownPrincipal?: string | undefined;
  /** The working directory of commands. */
  readonly cwd?: string | undefined;
}

interface Held {
  readonly grant: LeaseGrant;
  record: LeaseRecord;
  readonly renewal: Renewal;
}

export interface CallScope {
  readonly signal: AbortSignal;
}

/**
 * One agent's session: its connection to the daemon, the lease that it holds, and the renewal of that lease. The lease is the agent's, not the
 * process's: an MCP server that was restarted adopts it when it first needs one.
 */
export class McpSession {
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #ownPrincipal: string | undefined;
  readonly #cwd: string | undefined;
  readonly #listeners = new Set<(notice: Notice) => void>();
  /** Leases that we know to be over: released by us, or lost and announced. */
  readonly #over = new RecentIds(REMEMBERED_IDS);
  /** Calls that `close` waits for: all but commands. */
  readonly #inFlight = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  #held: Held | undefined;
  #lost: LostLease | undefined;
  #hasLeased = false;
  #adopting: Promise<Held | undefined> | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #closed: Promise<void> | undefined;

  constructor(options: SessionOptions) {
    this.#clock = options.clock;
    this.#ownPrincipal = options.ownPrincipal;
    this.#cwd = options.cwd;
    this.#connection = new Connection(options.connect, (client) => this.#listenTo(client));
  }

  /** Returns the end of the subscription. */
  onNotice(listener: (notice: Notice) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Runs calls that change the session one after another, in the order they came. One that was cancelled before its turn never runs. */
  serially<T>(scope: CallScope, run: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(() => {
      if (scope.signal.aborted) throw new SimlockError("CANCELLED", "The call was cancelled before its turn.");
      this.#assertOpen();
      return run();
    });
    this.#turn = mine.catch(() => {});
    return mine;
  }

  listDevices(input: OperationInput<"catalog.get">, scope: CallScope): Promise<OperationOutput<"catalog.get">> {
    return this.#track(async () => (await this.#client()).call("catalog.get", input, scope));
  }

  /** Aborted while it waits, the request is taken back. A grant that lands after the session was closed is released at once. */
  lease(
    input: OperationInput<"lease.request">,
    scope: CallScope & { readonly onProgress?: ((progress: LeaseProgress) => void) | undefined },
  ): Promise<LeaseGrant> {
    return this.#track(async () => {
      const client = await this.#client();
      const signal = AbortSignal.any([scope.signal, this.#closing.signal]);
      let grant: LeaseGrant;
      try {
        grant = await client.requestLease(input, { signal, onProgress: scope.onProgress });
      } catch (error) {
        if (this.#closing.signal.aborted) throw sessionClosed();
        // The agent leased before this process was started, or from its shell: from now on that lease is this session's.
        if (isCode(error, "REQUESTER_ALREADY_LEASED")) await this.#adopt().catch(() => {});
        throw error;
      }
      if (this.#closing.signal.aborted) {
        await client.call("lease.release", { leaseId: grant.lease.id });
        throw sessionClosed();
      }
      this.#hold(grant).start();
      return grant;
    });
  }

  /** Renewal stops first: one that crosses the release would find the lease gone and report a loss. */
  release(leaseId: LeaseId, scope: CallScope): Promise<{ leaseId: LeaseId }> {
    return this.#track(async () => {
      const held = this.#held?.record.id === leaseId ? this.#held : undefined;
      held?.renewal.stop();
      try {
        const client = await this.#client();
        const released = await client.call("lease.release", { leaseId }, scope);
        this.#over.add(leaseId);
        if (held !== undefined && this.#held === held) this.#held = undefined;
        return released;
      } catch (error) {
        if (held !== undefined && this.#held === held) this.#releaseFailed(held, error);
        throw error;
      }
    });
  }

  /** The lease as the daemon has it now, and why the last one was lost. */
  status(
    scope: CallScope,
  ): Promise<{ lease: LeaseRecord | undefined; grant: LeaseGrant | undefined; lost: LostLease | undefined }> {
    return this.#track(async () => {
      const held = this.#held ?? (await this.#adopt());
      if (held === undefined) return { lease: undefined, grant: undefined, lost: this.#lost };
      const { leases } = await (await this.#client()).call("lease.list", {}, scope);
      const lease = leases.find((each) => each.id === held.record.id);
      if (lease === undefined) this.#lose(held);
      return { lease, grant: lease === undefined ? undefined : held.grant, lost: this.#lost };
    });
  }

  /**
   * Runs one command on the device of the lease held now. A release or a loss meanwhile does not touch it. Throws `NO_LEASE`, and what
   * `device.exec` answers.
   */
  async run(
    command: Pick<OperationInput<"device.exec">, "tool" | "args" | "stdin">,
    scope: CallScope & { readonly onActivity?: (() => void) | undefined },
  ): Promise<OperationOutput<"device.exec">> {
    this.#assertOpen();
    const held = this.#held ?? (await this.#adopt());
    if (held === undefined) throw new SimlockError("NO_LEASE", NO_LEASE_MESSAGE);
    const leaseId = held.record.id;
    try {
      const client = await this.#client();
      return await client.exec(
        { leaseId, ...command, keepLast: KEPT_CHARACTERS, ...(this.#cwd === undefined ? {} : { cwd: this.#cwd }) },
        { signal: scope.signal, onActivity: scope.onActivity },
      );
    } catch (error) {
      if (this.#closing.signal.aborted) throw sessionClosed();
      if (isCode(error, "UNKNOWN_LEASE")) this.#lose(held);
      throw error;
    }
  }

  /**
   * Ends the session within its budget: waits for calls under way but not for commands, takes waiting requests back, gives the lease back if
   * that is up to us. A daemon that is not connected now is left alone: the lease runs out.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    const held = this.#held;
    held?.renewal.stop();
    const deadline = this.#clock.now() + CLOSE_BUDGET_MS;
    const left = () => Math.max(0, deadline - this.#clock.now());
    await within(this.#clock, left() / 2, Promise.allSettled(this.#inFlight));
    const client = this.#connection.live;
    if (held !== undefined && this.#held === held && client !== undefined) {
      await within(this.#clock, left(), this.#giveBack(held, client));
    }
    this.#held = undefined;
    await within(this.#clock, left(), this.#connection.close());
  }

  async #giveBack(held: Held, client: SimlockClient): Promise<void> {
    const leaseId = held.record.id;
    if (await held.renewal.isOurs(client)) await client.call("lease.release", { leaseId });
  }

  #assertOpen(): void {
    if (this.#closing.signal.aborted) throw sessionClosed();
  }

  #client(): Promise<SimlockClient> {
    return this.#connection.open({ launch: true });
  }

  #track<T>(run: () => Promise<T>): Promise<T> {
    const call = (async () => {
      this.#assertOpen();
      return run();
    })();
    this.#inFlight.add(call);
    const done = () => this.#inFlight.delete(call);
    call.then(done, done);
    return call;
  }

  /** One question at a time, whoever asks. */
  #adopt(): Promise<Held | undefined> {
    this.#adopting ??= this.#takeOver().finally(() => (this.#adopting = undefined));
    return this.#adopting;
  }

  async #takeOver(): Promise<Held | undefined> {
    const client = await this.#client();
    if (client.principal === this.#ownPrincipal && !this.#hasLeased) return undefined;
    const { grant } = await client.call("lease.adopt", {});
    this.#assertOpen();
    if (this.#held !== undefined || grant === undefined || this.#over.has(grant.lease.id)) return this.#held;
    const renewal = this.#hold(grant);
    renewal.takeOver();
    return this.#held;
  }

  #hold(grant: LeaseGrant): Renewal {
    this.#held?.renewal.stop();
    const renewal = this.#renewalOf(grant.lease, () => held);
    const held: Held = { grant, record: grant.lease, renewal };
    this.#held = held;
    this.#hasLeased = true;
    this.#lost = undefined;
    return renewal;
  }

  #renewalOf(lease: LeaseRecord, held: () => Held): Renewal {
    return new Renewal(lease, {
      clock: this.#clock,
      connect: () => this.#connection.open({ launch: false }),
      onRenewed: (record) => (held().record = record),
      onGone: () => this.#lose(held()),
    });
  }

  #releaseFailed(held: Held, error: unknown): void {
    if (isCode(error, "UNKNOWN_LEASE")) {
      this.#over.add(held.record.id);
      this.#held = undefined;
    } else if (NOT_KNOWN.some((code) => isCode(error, code))) {
      // Whether it was released is not known. If it still stands, it is adopted again at the next need, and renewed from then on.
      this.#held = undefined;
    } else {
      const again: Held = { ...held, renewal: this.#renewalOf(held.record, () => again) };
      this.#held = again;
      again.renewal.start();
    }
  }

  #lose(held: Held): void {
    this.#announceLoss({ leaseId: held.record.id, deviceId: held.record.deviceId, reason: "unknown" });
  }

  #announceLoss(lost: LostLease): void {
    if (this.#held?.record.id === lost.leaseId) {
      this.#held.renewal.stop();
      this.#held = undefined;
    }
    if (!this.#over.add(lost.leaseId) || this.#closing.signal.aborted) return;
    this.#lost = lost;
    this.#notify(leaseLostNotice(lost));
  }

  #notify(notice: Notice): void {
    for (const listener of this.#listeners) listener(notice);
  }

  #listenTo(client: SimlockClient): void {
    client.onLeaseLost((lost) => this.#announceLoss(lost));
    client.onDeviceUnhealthy((push) => this.#notify(unhealthyNotice(push)));
    client.onDeviceRecovered((push) => this.#notify(recoveredNotice(push)));
  }
}

const isCode = (error: unknown, code: SimlockError["code"]): boolean =>
  error instanceof SimlockError && error.code === code;
