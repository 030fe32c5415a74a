import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { SimlockError, type LeaseId } from "../contract/index.ts";
import type { Notice } from "./notices.ts";
import { McpSession } from "./session.ts";
import { failing, FakeClock, FakeDaemon, settled } from "./test-support.ts";

const AGENT = "claude-code:session-1";
const TTL = 900_000;
const IOS = { platform: "ios" } as const;
const COMMAND = { tool: "simctl", args: ["listapps"] };

const worlds: { sessions: McpSession[]; clock: FakeClock }[] = [];
afterEach(async () => {
  for (const { sessions, clock } of worlds.splice(0)) {
    const closing = Promise.all(sessions.map((session) => session.close()));
    await clock.advance(5000);
    await closing;
    // A session that is closed leaves no timer behind.
    expect(clock.pending).toBe(0);
  }
});

function world() {
  const clock = new FakeClock();
  const daemon = new FakeDaemon(clock);
  const sessions: McpSession[] = [];
  worlds.push({ sessions, clock });
  const begin = (principal = AGENT) => {
    const notices: Notice[] = [];
    const session = new McpSession({
      connect: (options) => daemon.connect(options, principal),
      clock,
      ownPrincipal: "mcp:4711",
    });
    session.onNotice((notice) => notices.push(notice));
    sessions.push(session);
    return { session, notices };
  };
  const renewals = () => daemon.inputsOf("lease.renew").length;
  return { clock, daemon, begin, renewals };
}

const scope = () => ({ signal: new AbortController().signal });
const codeOf = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof SimlockError ? error.code : String(error);
};

test("a lease is renewed at every third of its time to live, by its own width", async () => {
  const { clock, daemon, begin, renewals } = world();
  const { session } = begin();
  const grant = await session.lease(IOS, scope());
  await clock.advance(TTL / 3 - 1);
  expect(renewals()).toBe(0);
  await clock.advance(1);
  expect(daemon.inputsOf("lease.renew")).toEqual([{ leaseId: grant.lease.id }]);
  await clock.advance(TTL);
  expect(renewals()).toBe(4);
});

test("a very short lease is renewed no more often than every 250 ms", async () => {
  const { clock, begin, renewals } = world();
  const { session } = begin();
  await session.lease({ ...IOS, ttlMs: 300 }, scope());
  await clock.advance(1000);
  expect(renewals()).toBe(4);
});

test("a lease outlives a restart of the daemon without a tool call, and the timer never starts a daemon", async () => {
  const { clock, daemon, begin, renewals } = world();
  const { session, notices } = begin();
  const grant = await session.lease(IOS, scope());
  daemon.stop();
  await clock.advance(TTL / 2);
  expect(renewals()).toBe(0);
  expect(daemon.listening).toBe(false);
  expect(daemon.connects.slice(1).every(({ launch }) => !launch)).toBe(true);
  daemon.listening = true;
  await clock.advance(TTL / 10);
  expect(renewals()).toBe(1);
  expect(notices).toEqual([]);
  await session.run(COMMAND, scope());
  expect(daemon.inputsOf("device.exec")[0]?.leaseId).toBe(grant.lease.id);
});

test("a renewal that the daemon does not answer is given up and tried again", async () => {
  const { clock, daemon, begin, renewals } = world();
  const { session } = begin();
  await session.lease(IOS, scope());
  let hangs = true;
  daemon.before = (operation) => (operation === "lease.renew" && hangs ? new Promise<void>(() => {}) : undefined);
  await clock.advance(TTL / 3);
  expect(renewals()).toBe(1);
  hangs = false;
  await clock.advance(TTL / 2);
  expect(renewals()).toBe(2);
});

test("a lease that the daemon does not know at its renewal is lost, and told once", async () => {
  const { clock, daemon, begin } = world();
  const { session, notices } = begin();
  const grant = await session.lease(IOS, scope());
  daemon.leases.clear();
  await clock.advance(TTL);
  expect(notices.map(({ level, data }) => [level, data.leaseId, data.reason])).toEqual([
    ["warning", grant.lease.id, "unknown"],
  ]);
  expect(await codeOf(session.run(COMMAND, scope()))).toBe("NO_LEASE");
});

test("a lease that a command finds gone is answered as it is, told once, and NO_LEASE from then on", async () => {
  const { daemon, begin } = world();
  const { session, notices } = begin();
  await session.lease(IOS, scope());
  daemon.leases.clear();
  expect(await codeOf(session.run(COMMAND, scope()))).toBe("UNKNOWN_LEASE");
  expect(await codeOf(session.run(COMMAND, scope()))).toBe("NO_LEASE");
  expect(notices).toHaveLength(1);
});

test("renewal stops before a release is sent, so that one that crosses it reports no loss", async () => {
  const { clock, daemon, begin, renewals } = world();
  const { session, notices } = begin();
  const grant = await session.lease(IOS, scope());
  const release = Promise.withResolvers<void>();
  daemon.before = (operation) => (operation === "lease.release" ? release.promise : undefined);
  const releasing = session.release(grant.lease.id, scope());
  await clock.advance(TTL);
  expect(renewals()).toBe(0);
  release.resolve();
  await releasing;
  expect(notices).toEqual([]);
});

test("a renewal under way when the release overtakes it reports no loss", async () => {
  const { clock, daemon, begin } = world();
  const { session, notices } = begin();
  const grant = await session.lease(IOS, scope());
  const renewal = Promise.withResolvers<void>();
  daemon.before = (operation) => (operation === "lease.renew" ? renewal.promise : undefined);
  await clock.advance(TTL / 3);
  await session.release(grant.lease.id, scope());
  renewal.resolve();
  await settled();
  expect(notices).toEqual([]);
});

test("a renewal that finds the lease gone while the release is still under way reports no loss", async () => {
  const { clock, daemon, begin } = world();
  const { session, notices } = begin();
  const grant = await session.lease(IOS, scope());
  const renewal = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  daemon.before = (operation) => {
    if (operation === "lease.renew") return renewal.promise;
    if (operation === "lease.release") {
      daemon.leases.clear();
      return release.promise;
    }
  };
  await clock.advance(TTL / 3);
  const releasing = codeOf(session.release(grant.lease.id, scope()));
  await settled();
  renewal.resolve();
  await settled();
  release.resolve();
  await releasing;
  expect(notices).toEqual([]);
});

test("a release that failed leaves the lease held and renewed", async () => {
  const { clock, daemon, begin, renewals } = world();
  const { session } = begin();
  const grant = await session.lease(IOS, scope());
  daemon.before = failing("lease.release", "DAEMON_STOPPING");
  expect(await codeOf(session.release(grant.lease.id, scope()))).toBe("DAEMON_STOPPING");
  daemon.before = () => {};
  await clock.advance(TTL / 3);
  expect(renewals()).toBe(1);
  await session.run(COMMAND, scope());
});

test.for(["UNKNOWN_LEASE", "FORBIDDEN", "DAEMON_CONNECTION_LOST"] as const)(
  "a release answered with %s ends the renewal",
  async (code) => {
    const { clock, daemon, begin, renewals } = world();
    const { session, notices } = begin();
    const grant = await session.lease(IOS, scope());
    daemon.before = failing("lease.release", code);
    expect(await codeOf(session.release(grant.lease.id, scope()))).toBe(code);
    daemon.before = () => {};
    await clock.advance(TTL);
    expect(renewals()).toBe(0);
    expect(notices).toEqual([]);
  },
);

test("a lease whose release may not have arrived is found again when it is next needed", async () => {
  const { clock, daemon, begin, renewals } = world();
  const { session } = begin("mcp:4711");
  const grant = await session.lease(IOS, scope());
  daemon.before = failing("lease.release", "DAEMON_CONNECTION_LOST");
  await codeOf(session.release(grant.lease.id, scope()));
  daemon.before = () => {};
  await session.run(COMMAND, scope());
  await clock.advance(TTL / 3);
  expect(renewals()).toBe(2);
});

test("a command that runs while the lease is released, lost or replaced keeps its lease and its result", async () => {
  const { daemon, begin } = world();
  const { session } = begin();
  const first = await session.lease(IOS, scope());
  const end = Promise.withResolvers<void>();
  daemon.exec = async () => {
    await end.promise;
    return { exitCode: 7, stdout: "done", stderr: "", truncated: false };
  };
  const running = session.run(COMMAND, scope());
  await settled();
  await session.release(first.lease.id, scope());
  expect(await codeOf(session.run(COMMAND, scope()))).toBe("NO_LEASE");
  await session.lease(IOS, scope());
  end.resolve();
  expect(await running).toMatchObject({ exitCode: 7, stdout: "done" });
  expect(daemon.inputsOf("device.exec").map(({ leaseId }) => leaseId)).toEqual([first.lease.id]);
});

test.for(["status", "run"] as const)(
  "a restarted process adopts its agent's lease when %s first needs it",
  async (need) => {
    const { clock, daemon, begin, renewals } = world();
    const grant = daemon.grant(AGENT);
    const { session } = begin();
    if (need === "status") expect((await session.status(scope())).lease?.id).toBe(grant.lease.id);
    else await session.run(COMMAND, scope());
    await settled();
    expect(renewals()).toBe(1);
    await clock.advance(TTL / 3);
    expect(renewals()).toBe(2);
  },
);

test("a restarted process that asks for another device is told of the lease it has, and keeps it alive", async () => {
  const { clock, daemon, begin, renewals } = world();
  daemon.grant(AGENT);
  const { session } = begin();
  expect(await codeOf(session.lease(IOS, scope()))).toBe("REQUESTER_ALREADY_LEASED");
  await clock.advance(TTL);
  expect(renewals()).toBeGreaterThan(2);
  await session.run(COMMAND, scope());
});

test("a process whose identity is its own pid adopts nothing: a recycled pid is somebody else", async () => {
  const { daemon, begin } = world();
  daemon.grant("mcp:4711");
  const { session } = begin("mcp:4711");
  expect(await codeOf(session.run(COMMAND, scope()))).toBe("NO_LEASE");
  expect(daemon.inputsOf("lease.adopt")).toEqual([]);
});

test("two needs at once adopt once", async () => {
  const { daemon, begin } = world();
  daemon.grant(AGENT);
  const { session } = begin();
  await Promise.all([session.run(COMMAND, scope()), session.status(scope()), session.run(COMMAND, scope())]);
  expect(daemon.inputsOf("lease.adopt")).toHaveLength(1);
  expect(daemon.connects).toEqual([{ launch: true }]);
});

test("of two processes of one agent the last to take the lease renews it and gives it back", async () => {
  const { clock, daemon, begin } = world();
  const old = begin();
  await old.session.lease(IOS, scope());
  await clock.advance(TTL / 6);
  const young = begin();
  await young.session.run(COMMAND, scope());
  await clock.advance(10 * TTL);
  // Nobody renews for two: the old one stands by.
  expect(daemon.inputsOf("lease.renew").length).toBeLessThanOrEqual(31);
  await old.session.close();
  expect(daemon.leases.size).toBe(1);
  await clock.advance(3 * TTL);
  await young.session.close();
  expect(daemon.leases.size).toBe(0);
});

test("the old process that closes before it looked again leaves the lease to the young one", async () => {
  const { clock, daemon, begin } = world();
  const old = begin();
  await old.session.lease(IOS, scope());
  await clock.advance(1000);
  await begin().session.run(COMMAND, scope());
  await old.session.close();
  expect(daemon.leases.size).toBe(1);
});

test("when the young process dies, the old one renews again before the deadline", async () => {
  const { clock, daemon, begin } = world();
  const old = begin();
  const { lease } = await old.session.lease(IOS, scope());
  await clock.advance(TTL / 6);
  // The young one renews twice and is gone without a word.
  daemon.renew(lease.id);
  await clock.advance(TTL / 3);
  daemon.renew(lease.id);
  const last = clock.now();
  await clock.advance(0.95 * TTL);
  expect(daemon.leases.get(lease.id)?.lease.lastRenewedAt).toBeGreaterThan(last);
});

test("close gives the lease back and ends the connection", async () => {
  const { daemon, begin } = world();
  const { session } = begin();
  const grant = await session.lease(IOS, scope());
  await session.close();
  expect(daemon.inputsOf("lease.release")).toEqual([{ leaseId: grant.lease.id }]);
  expect(daemon.clients.size).toBe(0);
  expect(await codeOf(session.run(COMMAND, scope()))).toBe("SESSION_CLOSED");
  expect(await codeOf(session.status(scope()))).toBe("SESSION_CLOSED");
});

test("close does not connect again: a lease without a daemon runs out", async () => {
  const { daemon, begin } = world();
  const { session } = begin();
  await session.lease(IOS, scope());
  daemon.stop();
  await session.close();
  expect(daemon.connects).toHaveLength(1);
  expect(daemon.leases.size).toBe(1);
});

test("close does not wait for a command: it fails, and the lease is given back", async () => {
  const { daemon, begin } = world();
  const { session } = begin();
  await session.lease(IOS, scope());
  daemon.exec = () => new Promise(() => {});
  const running = codeOf(session.run(COMMAND, scope()));
  await settled();
  await session.close();
  expect(["SESSION_CLOSED", "DAEMON_CONNECTION_LOST"]).toContain(await running);
  expect(daemon.leases.size).toBe(0);
});

test("close waits for a call under way", async () => {
  const { daemon, begin } = world();
  const { session } = begin();
  const catalog = Promise.withResolvers<void>();
  daemon.before = (operation) => (operation === "catalog.get" ? catalog.promise : undefined);
  const listing = session.listDevices({}, scope());
  await settled();
  const closing = session.close();
  await settled();
  catalog.resolve();
  expect(await listing).toEqual({ platforms: [] });
  await closing;
});

test("close is over within two seconds though nothing answers", async () => {
  const { clock, daemon, begin } = world();
  const { session } = begin();
  await session.lease(IOS, scope());
  daemon.before = () => new Promise(() => {});
  const listing = codeOf(session.listDevices({}, scope()));
  let closed = false;
  const closing = session.close().then(() => (closed = true));
  await clock.advance(2000);
  expect(closed).toBe(true);
  await closing;
  expect(await listing).toBe("DAEMON_CONNECTION_LOST");
});

test("a grant that lands after close is released, and the call fails with SESSION_CLOSED", async () => {
  const { daemon, begin } = world();
  const { session } = begin();
  const granted = Promise.withResolvers<void>();
  // A daemon that can't take the request back any more.
  daemon.ask = () => granted.promise.then(() => daemon.grant(AGENT));
  const client = await daemon.connect({ launch: true });
  const deaf = new McpSession({
    connect: async () =>
      Object.assign(client, { requestLease: (input: never) => daemon.ask?.(input, {}) ?? Promise.reject(new Error()) }),
    clock: new FakeClock(),
  });
  const leasing = codeOf(deaf.lease(IOS, scope()));
  await settled();
  const closing = deaf.close();
  granted.resolve();
  expect(await leasing).toBe("SESSION_CLOSED");
  await closing;
  expect(daemon.leases.size).toBe(0);
  await session.close();
});

test("a waiting request is taken back at close", async () => {
  const { daemon, begin } = world();
  const { session } = begin();
  let signal: AbortSignal | undefined;
  daemon.ask = (_input, options) => {
    signal = options.signal;
    return new Promise(() => {});
  };
  const leasing = codeOf(session.lease(IOS, scope()));
  const behind = codeOf(session.serially(scope(), () => session.lease(IOS, scope())));
  await settled();
  await session.close();
  expect(signal?.aborted).toBe(true);
  expect(await leasing).toBe("SESSION_CLOSED");
  expect(await behind).toBe("SESSION_CLOSED");
});

test("a tool call that joined the timer's failed attempt to connect tries once more and may start the daemon", async () => {
  const { clock, daemon, begin } = world();
  const { session } = begin();
  await session.lease(IOS, scope());
  daemon.stop();
  const slow = Promise.withResolvers<void>();
  const connect = daemon.connect;
  let held = false;
  const joined = new McpSession({
    clock,
    connect: async (options) => {
      if (held && !options.launch) {
        await slow.promise;
        throw new SimlockError("DAEMON_UNREACHABLE", "Nothing listens.");
      }
      return connect(options, "agent:2");
    },
  });
  await joined.lease(IOS, scope());
  daemon.stop();
  held = true;
  await clock.advance(TTL / 3);
  const status = joined.status(scope());
  await settled();
  slow.resolve();
  expect((await status).lease?.ownerId).toBe("agent:2");
  await joined.close();
});

test("calls that need the daemon at once share one connection", async () => {
  const { daemon, begin } = world();
  const { session } = begin();
  await Promise.all([session.listDevices({}, scope()), session.listDevices({}, scope()), session.status(scope())]);
  expect(daemon.connects).toEqual([{ launch: true }]);
});

test("sixty-five losses are each told once, whatever their order", async () => {
  const { daemon, begin } = world();
  const { session, notices } = begin();
  for (let round = 0; round < 65; round += 1) {
    const { lease } = await session.lease(IOS, scope());
    daemon.endLease(lease.id);
  }
  expect(notices).toHaveLength(65);
});

test("whatever happens, a held lease is renewed in time and a lease is announced lost at most once", async () => {
  const step = fc.constantFrom("lease", "release", "run", "status", "restart", "kill", "wait", "lose-connection");
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const { clock, daemon, begin } = world();
      const { session, notices } = begin();
      const current = (): LeaseId | undefined => [...daemon.leases.values()][0]?.lease.id;
      for (const each of steps) {
        const leaseId = current();
        if (each === "lease") await codeOf(session.lease(IOS, scope()));
        else if (each === "release" && leaseId !== undefined) await codeOf(session.release(leaseId, scope()));
        else if (each === "run") await codeOf(session.run(COMMAND, scope()));
        else if (each === "status") {
          expect((await session.status(scope())).lease?.id).toBe(leaseId);
        } else if (each === "restart") {
          daemon.stop();
          daemon.listening = true;
        } else if (each === "kill" && leaseId !== undefined) daemon.endLease(leaseId);
        else if (each === "lose-connection") for (const client of daemon.clients) client.drop();
        else if (each === "wait") await clock.advance(TTL / 2);
        const grant = [...daemon.leases.values()][0];
        if (grant !== undefined) expect(clock.now()).toBeLessThan(grant.lease.ttlDeadline);
      }
      const told = notices.map(({ data }) => data.leaseId);
      expect(new Set(told).size).toBe(told.length);
    }),
    { numRuns: 60 },
  );
});
