import type { SimlockClient } from "../client/index.ts";
import { SimlockError, type LeaseGrant, type LeaseRecord, type PushPayload } from "../contract/index.ts";

export type Lost =
  | { readonly kind: "lost"; readonly push: PushPayload<"lease-lost"> }
  /** The daemon went away and did not come back: the lease may stand. */
  | { readonly kind: "unreachable"; readonly error: SimlockError };

export interface HoldPorts {
  /** A new connection to a daemon that is there already. */
  readonly reconnect: () => Promise<SimlockClient>;
  /** What the holder is told: one JSON line each. */
  readonly say: (line: object) => void;
  readonly reconnectLimitMs?: number;
}

/** Renewals closer together than this would only be load. */
const LEAST_RENEW_MS = 250;
/** How long a holder waits for its daemon to come back: a restart takes a second or two. */
const RECONNECT_LIMIT_MS = 60_000;
/** How long giving back waits for a daemon that is away just then. */
const RELEASE_LIMIT_MS = 5000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2000;

/**
 * Holds one lease: renews it at a third of its width, over a daemon's restart too, and tells when it is lost. It never starts a daemon.
 * Times are milliseconds.
 */
export class Hold {
  readonly #ports: HoldPorts;
  readonly #lost = Promise.withResolvers<Lost>();
  readonly grant: LeaseGrant;
  #client: SimlockClient;
  #lease: LeaseRecord;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;
  #reconnecting: Promise<void> | undefined;
  #reconnectUntil = 0;

  constructor(client: SimlockClient, grant: LeaseGrant, ports: HoldPorts) {
    this.grant = grant;
    this.#client = client;
    this.#lease = grant.lease;
    this.#ports = ports;
    this.#attach();
    this.#schedule();
  }

  /** Settles when the lease is lost; stays open when it is released. */
  get lost(): Promise<Lost> {
    return this.#lost.promise;
  }

  get lease(): LeaseRecord {
    return this.#lease;
  }

  /** Gives the lease back. No renewal runs beside it: that would look like a loss. A lease that is gone already is given back. */
  async release(): Promise<void> {
    this.#end();
    // A restart that is under way is waited for: the new daemon restores the lease.
    this.#reconnectUntil = Math.min(this.#reconnectUntil, performance.now() + RELEASE_LIMIT_MS);
    await this.#reconnecting;
    try {
      await this.#client.call("lease.release", { leaseId: this.#lease.id });
    } catch (thrown) {
      if (!(thrown instanceof SimlockError && thrown.code === "UNKNOWN_LEASE")) throw thrown;
    } finally {
      await this.#client.close();
    }
  }

  /** Stops holding without giving the lease back. */
  async abandon(): Promise<void> {
    this.#end();
    await this.#client.close();
  }

  #end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  #attach(): void {
    const { id } = this.#lease;
    const client = this.#client;
    client.onLeaseLost((push) => {
      if (push.leaseId === id) this.#lose({ kind: "lost", push });
    });
    client.onDeviceUnhealthy((push) => {
      if (push.leaseId === id) this.#ports.say({ push: "device-unhealthy", ...push });
    });
    client.onDeviceRecovered((push) => {
      if (push.leaseId === id) this.#ports.say({ push: "device-recovered", ...push });
    });
    client.onConnectionLost(() => {
      if (!this.#ended) this.#reconnecting ??= this.#reconnect();
    });
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#ended) return;
    this.#timer = setTimeout(() => void this.#renew(), Math.max(LEAST_RENEW_MS, this.#lease.ttlMs / 3));
  }

  async #renew(): Promise<void> {
    if (this.#ended || this.#reconnecting !== undefined) return;
    try {
      this.#lease = await this.#client.call("lease.renew", { leaseId: this.#lease.id });
    } catch (thrown) {
      if (thrown instanceof SimlockError && (thrown.code === "UNKNOWN_LEASE" || thrown.code === "FORBIDDEN")) {
        this.#lose({ kind: "lost", push: { ...this.#names(), reason: "expired" } });
      }
      // Any other failure: the next turn tries again, and a lost connection has its own path.
    }
    this.#schedule();
  }

  async #reconnect(): Promise<void> {
    clearTimeout(this.#timer);
    this.#ports.say({ push: "connection-lost", ...this.#names(), ttlDeadline: this.#lease.ttlDeadline });
    this.#reconnectUntil = performance.now() + (this.#ports.reconnectLimitMs ?? RECONNECT_LIMIT_MS);
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(LONGEST_PAUSE_MS, pause * 2)) {
      try {
        this.#client = await this.#ports.reconnect();
        break;
      } catch (thrown) {
        if (performance.now() + pause > this.#reconnectUntil || Date.now() > this.#lease.ttlDeadline) {
          this.#lose({ kind: "unreachable", error: this.#unreachable(thrown) });
          return;
        }
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    this.#reconnecting = undefined;
    if (this.#ended) return;
    this.#attach();
    this.#ports.say({ push: "reconnected", ...this.#names() });
    await this.#renew();
  }

  #names(): Pick<PushPayload<"lease-lost">, "leaseId" | "deviceId"> {
    return { leaseId: this.#lease.id, deviceId: this.#lease.deviceId };
  }

  #lose(lost: Lost): void {
    if (this.#ended) return;
    this.#end();
    this.#lost.resolve(lost);
  }

  #unreachable(cause: unknown): SimlockError {
    const until = new Date(this.#lease.ttlDeadline).toISOString();
    return new SimlockError(
      "DAEMON_CONNECTION_LOST",
      `The daemon went away and did not come back in time. Lease ${this.#lease.id} stands until ${until}, and ends with this process once a daemon runs again.`,
      { details: { leaseId: this.#lease.id, ttlDeadline: this.#lease.ttlDeadline }, cause },
    );
  }
}
