import type { SimlockClient } from "../client/index.ts";
import { SimlockError, type LeaseId, type LeaseRecord } from "../contract/index.ts";
import type { Clock } from "./clock.ts";

const FLOOR_MS = 250;

export interface RenewalPorts {
  readonly clock: Clock;
  /** A connection to a daemon that already listens. */
  readonly connect: () => Promise<SimlockClient>;
  readonly onRenewed: (lease: LeaseRecord) => void;
  /** The daemon does not know the lease any more. */
  readonly onGone: () => void;
}

/**
 * Keeps one lease alive: at a third of its time to live it is extended by its own width, and after a failure tried again well before the
 * deadline.
 *
 * Two processes can hold one agent's lease: an MCP server that was restarted beside the old one, or `simlock lease` in the agent's shell. The
 * last one to take it renews and gives it back. So before each renewal the lease is read: was it renewed by somebody else since our last
 * look, we stand by for one more third. Should they stop, we are back long before the deadline.
 */
export class Renewal {
  readonly #ports: RenewalPorts;
  readonly #leaseId: LeaseId;
  #ttlMs: number;
  /** When our own last renewal was, in the daemon's time; a renewal at another time is somebody else's. */
  #ours: number;
  #lastSeen: number;
  #stopped = false;
  #callOff: () => void = () => {};

  constructor(lease: LeaseRecord, ports: RenewalPorts) {
    this.#ports = ports;
    this.#leaseId = lease.id;
    this.#ttlMs = lease.ttlMs;
    this.#ours = lease.lastRenewedAt;
    this.#lastSeen = lease.lastRenewedAt;
  }

  start(): void {
    this.#arm(this.#ttlMs / 3);
  }

  /** Renews at once, which tells any other holder that we have taken over. */
  takeOver(): void {
    void this.#renew().catch(() => this.#arm(this.#ttlMs / 24));
  }

  /** From here on nothing is reported: a renewal under way may cross a release and find the lease gone. */
  stop(): void {
    this.#stopped = true;
    this.#callOff();
  }

  /** Whether giving the lease back is up to us: nobody else has renewed it since we did. */
  async isOurs(client: SimlockClient): Promise<boolean> {
    const at = await lastRenewedAt(client, this.#leaseId, undefined);
    return at === undefined || at === this.#ours;
  }

  #arm(ms: number): void {
    if (this.#stopped) return;
    this.#callOff = this.#ports.clock.after(Math.max(FLOOR_MS, ms), () => {
      void this.#tick().catch(() => this.#arm(this.#ttlMs / 24));
    });
  }

  async #tick(): Promise<void> {
    const at = await this.#bounded((client, signal) => lastRenewedAt(client, this.#leaseId, signal));
    const bySomebodyElse = at !== undefined && at !== this.#ours && at !== this.#lastSeen;
    if (at !== undefined) this.#lastSeen = at;
    if (bySomebodyElse) this.#arm(this.#ttlMs / 3);
    else await this.#renew();
  }

  async #renew(): Promise<void> {
    let lease: LeaseRecord;
    try {
      lease = await this.#bounded((client, signal) =>
        client.call("lease.renew", { leaseId: this.#leaseId }, { signal }),
      );
    } catch (error) {
      if (this.#stopped) return;
      if (!(error instanceof SimlockError && error.code === "UNKNOWN_LEASE")) throw error;
      this.stop();
      this.#ports.onGone();
      return;
    }
    if (this.#stopped) return;
    this.#ttlMs = lease.ttlMs;
    this.#ours = lease.lastRenewedAt;
    this.#lastSeen = lease.lastRenewedAt;
    this.#ports.onRenewed(lease);
    this.#arm(lease.ttlMs / 3);
  }

  /** A daemon that does not answer within a third of the time to live counts as a failure: there is time for another try. */
  async #bounded<T>(ask: (client: SimlockClient, signal: AbortSignal) => Promise<T>): Promise<T> {
    const abort = new AbortController();
    const callOff = this.#ports.clock.after(Math.max(FLOOR_MS, this.#ttlMs / 3), () => abort.abort());
    try {
      return await ask(await this.#ports.connect(), abort.signal);
    } finally {
      callOff();
    }
  }
}

async function lastRenewedAt(
  client: SimlockClient,
  leaseId: LeaseId,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const { leases } = await client.call("lease.list", {}, { signal });
  return leases.find((lease) => lease.id === leaseId)?.lastRenewedAt;
}
