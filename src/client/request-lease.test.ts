import { afterEach, describe, expect, test } from "vitest";
import { SimlockError, type LeaseProgress } from "../contract/index.ts";
import { connectSimlock } from "./connect.ts";
import { leaseGrant } from "./grant.fixture.ts";
import { fakeDaemon, type FakeCall, type FakeDaemon, type FakeHandlers } from "./testing.ts";
import type { SimlockClient } from "./types.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function connected(handlers: FakeHandlers): Promise<{ daemon: FakeDaemon; client: SimlockClient }> {
  const daemon = await fakeDaemon(handlers);
  ends.push(daemon.close);
  const client = await connectSimlock({ socketPath: daemon.socketPath, principal: "agent", clientVersion: "1" });
  ends.push(client.close);
  return { daemon, client };
}

async function refusal(promise: Promise<unknown>): Promise<SimlockError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof SimlockError) return error;
    throw error;
  }
  throw new Error("it did not reject");
}

const asked = (daemon: FakeDaemon): string[] =>
  daemon.frames.flatMap((frame) => (frame.type === undefined || frame.type === "hello" ? [] : [frame.type]));
const payloadOf = (daemon: FakeDaemon, type: string): unknown =>
  daemon.frames.find((frame) => frame.type === type)?.payload;

/** A daemon whose one lease request ends when the test says how. */
function waitingRequest() {
  const settled = Promise.withResolvers<unknown>();
  const arrived = Promise.withResolvers<FakeCall>();
  const handler = async (_input: unknown, call: FakeCall): Promise<unknown> => {
    arrived.resolve(call);
    return settled.promise;
  };
  return { handler, arrived: arrived.promise, settle: settled.resolve, refuse: settled.reject };
}

test("a request is answered with its grant, and its progress is told in order; what can't be read of it is not", async () => {
  const request = waitingRequest();
  const { daemon, client } = await connected({ "lease.request": request.handler });
  const told: LeaseProgress[] = [];
  const grant = client.requestLease(
    { platform: "ios", model: "iPhone 17" },
    { onProgress: (progress) => told.push(progress), signal: new AbortController().signal },
  );
  const call = await request.arrived;
  call.push("progress", { progress: { stage: "queued", queuePosition: 2, reason: "capacity" } });
  call.connection.raw(`{"push":"progress","payload":{"requestId":${call.id},"progress":{"stage":"praying"}}}\n`);
  call.connection.raw(`{"push":"progress","payload":{"requestId":77,"progress":{"stage":"booting","etaMs":1}}}\n`);
  call.push("progress", { progress: { stage: "booting", etaMs: 5 } });
  request.settle(leaseGrant("lse_1"));
  expect(await grant).toEqual(leaseGrant("lse_1"));
  expect(told).toEqual([
    { stage: "queued", queuePosition: 2, reason: "capacity" },
    { stage: "booting", etaMs: 5 },
  ]);
  expect(payloadOf(daemon, "lease.request")).toEqual({ platform: "ios", model: "iPhone 17" });
});

describe("an abort", () => {
  test("before the request is sent: CANCELLED, and the daemon never hears of it", async () => {
    const { daemon, client } = await connected({});
    const error = await refusal(client.requestLease({ platform: "ios" }, { signal: AbortSignal.abort() }));
    expect(error.code).toBe("CANCELLED");
    expect(asked(daemon)).toEqual([]);
  });

  test("while the request still waits to be sent: CANCELLED, and the daemon never hears of it", async () => {
    const { daemon, client } = await connected({ "device.exec": () => ({ exitCode: 0 }) });
    for (const { socket } of daemon.connections) socket.pause();
    const big = { leaseId: "l", tool: "adb", args: [], stdin: "x".repeat(7 * 1024 * 1024) };
    const before = [client.exec(big), client.exec(big)];
    const abort = new AbortController();
    const request = refusal(client.requestLease({ platform: "ios" }, { signal: abort.signal }));
    abort.abort();
    expect((await request).code).toBe("CANCELLED");
    for (const { socket } of daemon.connections) socket.resume();
    await Promise.all(before);
    expect(asked(daemon)).toEqual(["device.exec", "device.exec"]);
  });

  test("while it waits in the queue: it is taken back for the same requester, and CANCELLED once the daemon has said so", async () => {
    const request = waitingRequest();
    const cancelled = Promise.withResolvers<void>();
    const { daemon, client } = await connected({
      "lease.request": request.handler,
      "lease.cancel": () => {
        cancelled.resolve();
        return { result: "cancelled" };
      },
    });
    const abort = new AbortController();
    const told: LeaseProgress[] = [];
    const answer = refusal(
      client.requestLease(
        { platform: "ios", requesterId: "worker-3" },
        { signal: abort.signal, onProgress: (progress) => told.push(progress) },
      ),
    );
    const call = await request.arrived;
    abort.abort();
    await cancelled.promise;
    call.push("progress", { progress: { stage: "booting", etaMs: 1 } });
    request.refuse(new SimlockError("REQUEST_CANCELLED", "taken back"));
    expect((await answer).code).toBe("CANCELLED");
    expect(payloadOf(daemon, "lease.cancel")).toEqual({ requesterId: "worker-3" });
    expect(asked(daemon)).toEqual(["lease.request", "lease.cancel"]);
    expect(told).toEqual([]);
  });

  test("too late, while the device is made: the grant that lands is given back before it is CANCELLED", async () => {
    const request = waitingRequest();
    const released = Promise.withResolvers<void>();
    const { daemon, client } = await connected({
      "lease.request": request.handler,
      "lease.cancel": () => ({ result: "not-cancellable" }),
      "lease.release": async ({ leaseId }) => {
        await released.promise;
        return { leaseId };
      },
    });
    const abort = new AbortController();
    let settled = false;
    const answer = refusal(client.requestLease({ platform: "ios" }, { signal: abort.signal })).finally(() => {
      settled = true;
    });
    await request.arrived;
    abort.abort();
    await daemon.heard((frame) => frame.type === "lease.cancel");
    expect(payloadOf(daemon, "lease.cancel")).toEqual({});
    request.settle(leaseGrant("lse_7"));
    await daemon.heard((frame) => frame.type === "lease.release");
    expect([payloadOf(daemon, "lease.release"), settled]).toEqual([{ leaseId: "lse_7" }, false]);
    released.resolve();
    expect((await answer).code).toBe("CANCELLED");
  });

  test("whose late grant can't be given back is CANCELLED all the same", async () => {
    const request = waitingRequest();
    const { client } = await connected({
      "lease.request": request.handler,
      "lease.release": () => {
        throw new SimlockError("UNKNOWN_LEASE", "gone");
      },
    });
    const abort = new AbortController();
    const answer = refusal(client.requestLease({ platform: "ios" }, { signal: abort.signal }));
    await request.arrived;
    abort.abort();
    request.settle(leaseGrant("lse_7"));
    expect((await answer).code).toBe("CANCELLED");
  });

  test("too late, and then the device fails: the request is taken back as soon as it waits again", async () => {
    const request = waitingRequest();
    let cancels = 0;
    const { client } = await connected({
      "lease.request": request.handler,
      "lease.cancel": () => {
        cancels += 1;
        if (cancels === 2) request.refuse(new SimlockError("REQUEST_CANCELLED", "taken back"));
        return { result: cancels === 1 ? "not-cancellable" : "cancelled" };
      },
    });
    const abort = new AbortController();
    const answer = refusal(client.requestLease({ platform: "ios" }, { signal: abort.signal }));
    const call = await request.arrived;
    abort.abort();
    call.push("progress", { progress: { stage: "provisioning", etaMs: 1 } });
    call.push("progress", { progress: { stage: "queued", queuePosition: 1 } });
    expect((await answer).code).toBe("CANCELLED");
    expect(cancels).toBe(2);
  });

  test("after the grant is ignored: the lease stands", async () => {
    const { daemon, client } = await connected({
      "lease.request": () => leaseGrant("lse_1"),
      "lease.list": () => ({ leases: [] }),
    });
    const abort = new AbortController();
    await client.requestLease({ platform: "ios" }, { signal: abort.signal });
    abort.abort();
    await client.call("lease.list", {});
    expect(asked(daemon)).toEqual(["lease.request", "lease.list"]);
  });

  test("of a request whose connection is lost: DAEMON_CONNECTION_LOST, since how it ended is not known", async () => {
    const request = waitingRequest();
    const { daemon, client } = await connected({ "lease.request": request.handler });
    const abort = new AbortController();
    const answer = refusal(client.requestLease({ platform: "ios" }, { signal: abort.signal }));
    await request.arrived;
    abort.abort();
    await daemon.close();
    expect((await answer).code).toBe("DAEMON_CONNECTION_LOST");
  });
});

test("a refusal without an abort is the daemon's own", async () => {
  const { client } = await connected({
    "lease.request": () => {
      throw new SimlockError("NO_CAPACITY", "all are leased", { details: { holder: "other" } });
    },
  });
  const { signal } = new AbortController();
  expect(await refusal(client.requestLease({ platform: "ios", noWait: true }, { signal }))).toMatchObject({
    code: "NO_CAPACITY",
    details: { holder: "other" },
  });
});
