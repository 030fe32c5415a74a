import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { SimlockClient } from "../client/index.ts";
import { LeaseGrant, SimlockError, type LeaseRecord, type PushPayload } from "../contract/index.ts";
import { Hold } from "./hold.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function grantOf(ttlMs: number): LeaseGrant {
  const now = Date.now();
  return LeaseGrant.parse({
    device: {
      id: "dev_1",
      driverDeviceId: "U1",
      spec: { platform: "ios", model: "iPhone 17", osVersion: "26.1" },
      mode: "full",
    },
    environment: {},
    lease: {
      id: "lse_1",
      deviceId: "dev_1",
      requesterId: "a",
      ownerId: "a",
      grantedAt: now,
      ttlMs,
      ttlDeadline: now + ttlMs,
      lastRenewedAt: now,
    },
    timing: { estimatedProvisionMs: 0, estimatedBootMs: 0, estimatedReclaimMs: 0, estimatedReadyMs: 0 },
  });
}

/** A connection whose daemon is in the test's hands. */
class FakeDaemon {
  readonly calls: string[] = [];
  closed = false;
  renew: () => Promise<LeaseRecord>;
  #lost: (() => void)[] = [];
  #leaseLost: ((push: PushPayload<"lease-lost">) => void)[] = [];

  constructor(renew: () => Promise<LeaseRecord>) {
    this.renew = renew;
  }

  get client(): SimlockClient {
    const nothing = () => () => {};
    return {
      role: "agent",
      principal: "a",
      daemonVersion: "0",
      instanceId: "i",
      call: async (operation: string) => {
        this.calls.push(operation);
        if (this.closed) throw new SimlockError("DAEMON_CONNECTION_LOST", "closed");
        return operation === "lease.renew" ? this.renew() : { leaseId: "lse_1" };
      },
      onLeaseLost: (listener: (push: PushPayload<"lease-lost">) => void) => {
        this.#leaseLost.push(listener);
        return () => {};
      },
      onConnectionLost: (listener: () => void) => {
        this.#lost.push(listener);
        return () => {};
      },
      onDeviceUnhealthy: nothing,
      onDeviceRecovered: nothing,
      close: async () => {
        this.closed = true;
      },
      // The rest is not called by a holder.
    } as unknown as SimlockClient;
  }

  lose(): void {
    this.closed = true;
    for (const listener of this.#lost) listener();
  }

  endLease(leaseId: string): void {
    const push = { ...lost, leaseId } as PushPayload<"lease-lost">;
    for (const listener of this.#leaseLost) listener(push);
  }
}

const lost = { leaseId: "lse_1", deviceId: "dev_1", reason: "killed" };

function holding(ttlMs: number) {
  const grant = grantOf(ttlMs);
  const daemon = new FakeDaemon(async () => ({
    ...grant.lease,
    ttlDeadline: Date.now() + ttlMs,
    lastRenewedAt: Date.now(),
  }));
  const said: object[] = [];
  const reconnect = vi.fn<() => Promise<SimlockClient>>(async () => {
    throw new SimlockError("DAEMON_UNREACHABLE", "nobody there");
  });
  const hold = new Hold(daemon.client, grant, { reconnect, say: (line) => said.push(line) });
  return { grant, daemon, said, reconnect, hold };
}

describe("renewal", () => {
  test("comes at a third of the lease, each time", async () => {
    const { daemon, hold } = holding(9000);
    await vi.advanceTimersByTimeAsync(2999);
    expect(daemon.calls).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(daemon.calls).toEqual(["lease.renew"]);
    await vi.advanceTimersByTimeAsync(6000);
    expect(daemon.calls).toHaveLength(3);
    await hold.abandon();
  });

  test("of a very short lease is not more often than four times a second", async () => {
    const { daemon, hold } = holding(30);
    await vi.advanceTimersByTimeAsync(1000);
    expect(daemon.calls).toHaveLength(4);
    await hold.abandon();
  });

  test("that fails for a passing reason is tried again at the next turn", async () => {
    const { daemon, hold, grant } = holding(9000);
    daemon.renew = async () => Promise.reject(new SimlockError("INTERNAL", "once"));
    await vi.advanceTimersByTimeAsync(3000);
    daemon.renew = async () => grant.lease;
    await vi.advanceTimersByTimeAsync(3000);
    expect(daemon.calls).toEqual(["lease.renew", "lease.renew"]);
    await hold.abandon();
  });

  test("of a lease that is no more is its loss, and the last", async () => {
    const { daemon, hold } = holding(9000);
    daemon.renew = async () => Promise.reject(new SimlockError("UNKNOWN_LEASE", "gone"));
    await vi.advanceTimersByTimeAsync(3000);
    expect(await hold.lost).toMatchObject({ kind: "lost", push: { leaseId: "lse_1", deviceId: "dev_1" } });
    await vi.advanceTimersByTimeAsync(30_000);
    expect(daemon.calls).toHaveLength(1);
  });

  test("stops before the lease is given back, so that giving back never looks like a loss", async () => {
    const { daemon, hold } = holding(9000);
    const over = vi.fn<() => void>();
    void hold.lost.then(() => over());
    await hold.release();
    daemon.endLease("lse_1");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(daemon.calls).toEqual(["lease.release"]);
    expect(over).not.toHaveBeenCalled();
    expect(daemon.closed).toBe(true);
  });
});

test("only the end of the held lease is its loss", async () => {
  const { daemon, hold } = holding(9000);
  const over = vi.fn<() => void>();
  void hold.lost.then(() => over());
  daemon.endLease("lse_other");
  await vi.advanceTimersByTimeAsync(0);
  expect(over).not.toHaveBeenCalled();
  daemon.endLease("lse_1");
  expect(await hold.lost).toEqual({ kind: "lost", push: lost });
});

describe("a connection that is lost", () => {
  test("is opened again to the next daemon, and the lease is renewed there at once", async () => {
    const { daemon, hold, reconnect, said, grant } = holding(60_000);
    const next = new FakeDaemon(async () => grant.lease);
    daemon.lose();
    await vi.advanceTimersByTimeAsync(500);
    expect(reconnect.mock.calls.length).toBeGreaterThan(1);
    reconnect.mockImplementation(async () => next.client);
    await vi.advanceTimersByTimeAsync(2000);
    expect(next.calls).toEqual(["lease.renew"]);
    expect(said).toMatchObject([
      { push: "connection-lost", leaseId: "lse_1" },
      { push: "reconnected", leaseId: "lse_1" },
    ]);
    next.endLease("lse_1");
    expect(await hold.lost).toMatchObject({ kind: "lost" });
  });

  test("and not found again within a minute is told with the lease and its deadline", async () => {
    const { daemon, hold, grant } = holding(600_000);
    daemon.lose();
    await vi.advanceTimersByTimeAsync(61_000);
    const end = await hold.lost;
    if (end.kind !== "unreachable") throw new Error("it was not told");
    expect(end.error).toMatchObject({
      code: "DAEMON_CONNECTION_LOST",
      details: { leaseId: "lse_1", ttlDeadline: grant.lease.ttlDeadline },
    });
    expect(end.error.message).toContain("lse_1");
    expect(end.error.message).toContain(new Date(grant.lease.ttlDeadline).toISOString());
  });

  test("does not hold up who wants to give the lease back for longer than some seconds", async () => {
    const { daemon, hold } = holding(600_000);
    daemon.lose();
    const release = hold.release();
    const refusal = release.catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(8000);
    expect(await refusal).toMatchObject({ code: "DAEMON_CONNECTION_LOST" });
  });
});
