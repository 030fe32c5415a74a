import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MAX_FRAME_BYTES } from "../contract/index.ts";
import { at, TestBench } from "./daemon.fixture.ts";

let bench: TestBench;
beforeEach(() => {
  bench = new TestBench();
});
afterEach(async () => bench.close());

const refused = (code: string, id: unknown = expect.anything()) =>
  expect.objectContaining({ id, ok: false, error: expect.objectContaining({ code }) });

describe("hello", () => {
  test("tells what the daemon is and who the caller is", async () => {
    const { daemon } = await bench.start();
    const client = await bench.raw(daemon.socketPath);
    const reply = await client.call("hello", { clientVersion: "9", protocolRange: { min: 1, max: 7 }, principal: "p" });
    expect(reply.payload).toEqual({
      protocolVersion: 1,
      daemonProtocolRange: { min: 1, max: 1 },
      version: "1.2.3",
      role: "agent",
      principal: "p",
      instanceId: daemon.instanceId,
      virtual: false,
    });
  });

  test("gives two callers that do not say who they are two names", async () => {
    const { daemon } = await bench.start();
    const names = await Promise.all(
      [1, 2].map(async () => {
        const client = await bench.raw(daemon.socketPath);
        return at(await client.ok("hello", { clientVersion: "9", protocolVersion: 1 }), "principal");
      }),
    );
    expect(new Set(names).size).toBe(2);
  });

  test("must be first: anything else is answered and cut off", async () => {
    const { daemon } = await bench.start();
    const client = await bench.raw(daemon.socketPath);
    expect(await client.call("status.get")).toEqual(refused("HANDSHAKE_REQUIRED"));
    await client.ended();
  });

  test.each([
    ["BAD_REQUEST", {}],
    ["BAD_REQUEST", { clientVersion: "9" }],
    ["BAD_REQUEST", null],
    ["ADMIN_AUTHENTICATION_FAILED", { clientVersion: "9", protocolVersion: 1, credential: "slk_wrong" }],
    // The credential is looked at before the version.
    ["ADMIN_AUTHENTICATION_FAILED", { clientVersion: "9", protocolVersion: 99, credential: "slk_wrong" }],
    ["HOME_MISMATCH", { clientVersion: "9", protocolVersion: 1, virtual: true }],
  ])("is refused with %s and cut off: %j", async (code, hello) => {
    const { daemon, log } = await bench.start();
    const client = await bench.raw(daemon.socketPath);
    expect(await client.call("hello", hello)).toEqual(refused(code));
    await client.ended();
    expect(JSON.stringify(log)).not.toContain("slk_wrong");
  });

  test("of another protocol version leaves the line open, so that an admin can stop the daemon", async () => {
    const { daemon, home } = await bench.start();
    const agent = await bench.raw(daemon.socketPath);
    const greeting = await agent.call("hello", { clientVersion: "9", protocolRange: { min: 2, max: 3 } });
    expect(greeting).toEqual(refused("PROTOCOL_VERSION_UNSUPPORTED"));
    expect(greeting.error?.details).toEqual({
      client: { min: 2, max: 3 },
      daemon: { min: 1, max: 1 },
      daemonVersion: "1.2.3",
    });
    expect(greeting.error?.hint).toContain("simlock daemon restart");
    expect(await agent.call("status.get")).toEqual(refused("PROTOCOL_VERSION_UNSUPPORTED"));
    expect(await agent.call("daemon.stop")).toEqual(refused("FORBIDDEN"));
    const credential = readFileSync(`${home.path}/admin.token`, "utf8").trim();
    const other = await bench.raw(daemon.socketPath);
    await other.call("hello", { clientVersion: "9", protocolVersion: 2, credential });
    expect(await other.ok("daemon.stop")).toEqual({ stopping: true });
    expect(await daemon.stopped).toBe(0);
  });

  test("that is never said ends the connection, and no other", async () => {
    const { daemon, agent } = await bench.start({ limits: { helloTimeoutMs: 50 } });
    const polite = await agent();
    const silent = await bench.raw(daemon.socketPath);
    await silent.ended();
    expect((await polite.call("lease.list")).ok).toBe(true);
  });
});

describe("a frame", () => {
  test.each([
    "{",
    "[]",
    "null",
    '"text"',
    "42",
    '{"id":1}',
    '{"type":"status.get","payload":{}}',
    '{"id":{},"type":"x"}',
    "\u0000\u0001",
  ])("that is none is answered without an id, and the connection goes on: %s", async (garbage) => {
    const { agent } = await bench.start();
    const client = await agent();
    client.write(`${garbage}\n`);
    expect(await client.wait((frame) => frame.ok === false)).toEqual(refused("BAD_FRAME", null));
    expect((await client.call("lease.list")).ok).toBe(true);
  });

  test("of an unknown type, or without its fields, is answered with its id", async () => {
    const { agent } = await bench.start();
    const client = await agent();
    for (const type of ["nope", "__proto__", "toString", ""]) {
      expect(await client.call(type)).toEqual(refused("UNKNOWN_REQUEST"));
    }
    expect(await client.call("lease.renew", {})).toEqual(refused("BAD_REQUEST"));
    expect((await client.call("lease.renew", { leaseId: 4, ttlMs: "x" })).error?.message).toMatch(
      /leaseId: .*; ttlMs: /,
    );
    expect(await client.call("lease.list", { surprise: 1 })).toEqual(refused("BAD_REQUEST"));
    client.send({ id: "text", type: "nope", payload: {} });
    expect(await client.reply("text")).toEqual(refused("UNKNOWN_REQUEST", "text"));
  });

  test("needs no payload where its operation has no fields", async () => {
    const { agent } = await bench.start();
    const client = await agent();
    client.send({ id: "bare", type: "lease.list" });
    expect(await client.reply("bare")).toMatchObject({ ok: true, payload: { leases: [] } });
    client.send({ id: "lacking", type: "lease.renew" });
    expect(await client.reply("lacking")).toEqual(refused("BAD_REQUEST", "lacking"));
  });

  test("may come in pieces, with blank lines and with others in one write", async () => {
    const { agent } = await bench.start();
    const client = await agent();
    client.write('\n\r\n{"id":"a","type":"lease.list","payl');
    client.write(
      'oad":{}}\n{"id":"b","type":"lease.list","payload":{}}\n{"id":"c","type":"lease.list","payload":null}\n',
    );
    for (const id of ["a", "b", "c"]) expect((await client.reply(id)).ok).toBe(true);
  });

  test("over 8 MiB is answered and cut off as soon as it is too long; others go on", async () => {
    const { agent } = await bench.start();
    const [client, other] = [await agent("one"), await agent("two")];
    client.write(Buffer.alloc(MAX_FRAME_BYTES + 1, 0x20));
    expect(await client.wait((frame) => frame.ok === false)).toEqual(refused("BAD_FRAME", null));
    await client.ended();
    expect((await other.call("lease.list")).ok).toBe(true);
  });

  test("of nearly 8 MiB is taken", async () => {
    const { agent } = await bench.start();
    const client = await agent();
    const stdin = "x".repeat(MAX_FRAME_BYTES - 1000);
    expect(await client.call("device.exec", { leaseId: "lse_none", tool: "simctl", args: ["list"], stdin })).toEqual(
      refused("UNKNOWN_LEASE"),
    );
  });

  test("that is left unfinished ends its connection after a while", async () => {
    const { agent } = await bench.start({ limits: { frameTimeoutMs: 50 } });
    const [client, other] = [await agent("one"), await agent("two")];
    client.write('{"id":1,');
    await client.ended();
    expect((await other.call("lease.list")).ok).toBe(true);
  });

  test("with the id of a call that still runs is refused", async () => {
    const { agent } = await bench.start({ fake: { latency: { read: 300 } } });
    const client = await agent();
    client.send({ id: 7, type: "lease.list", payload: {} });
    client.send({ id: 7, type: "lease.list", payload: {} });
    const first = await client.reply(7);
    expect(first).toEqual(refused("BAD_REQUEST", 7));
    await client.wait((frame) => frame.id === 7 && frame.ok === true);
  });
});

describe("a client", () => {
  test("that sends nothing but garbage is cut off in the end", async () => {
    const { agent } = await bench.start({ limits: { maxBadFrames: 5 } });
    const client = await agent();
    client.write("x\n".repeat(5));
    await client.ended();
  });

  test("that never reads is cut off once too much waits for it; others are undisturbed", async () => {
    const { agent, daemon } = await bench.start({ limits: { maxOutgoingBytes: 256 * 1024 } });
    await daemon.running;
    const [client, other] = [await agent("one"), await agent("two")];
    client.socket.pause();
    for (let index = 0; index < 4000; index++) client.begin("status.get");
    const ended = new Promise<void>((done) => client.socket.once("close", () => done()));
    // Paused, it sees its end only when it writes again.
    const poke = setInterval(() => client.begin("status.get"), 20);
    await ended;
    clearInterval(poke);
    expect((await other.call("status.get")).ok).toBe(true);
  });

  test("may have only so many calls under way", async () => {
    const { agent } = await bench.start({ limits: { maxCalls: 2 }, fake: { latency: { read: 200 } } });
    const client = await agent();
    const ids = [1, 2, 3].map(() => client.begin("lease.list"));
    expect(await client.reply(ids[2])).toEqual(refused("BAD_REQUEST"));
    expect((await client.reply(ids[0])).ok).toBe(true);
  });

  test("too many is turned away without a word, and those before it go on", async () => {
    const { agent, daemon } = await bench.start({ limits: { maxConnections: 1 } });
    const client = await agent();
    const over = await bench.raw(daemon.socketPath);
    await over.ended();
    expect((await client.call("lease.list")).ok).toBe(true);
  });
});

test("the socket is for its owner only", async () => {
  const { daemon } = await bench.start();
  expect(statSync(daemon.socketPath).mode & 0o777).toBe(0o600);
});

test("what only an admin may do is refused to an agent by name", async () => {
  const { agent, admin } = await bench.start();
  const [client, operator] = [await agent(), await admin()];
  for (const type of ["list.get", "config.get", "lease.release-all", "events.replay", "daemon.stop"]) {
    expect(await client.call(type)).toEqual(refused("FORBIDDEN"));
  }
  for (const type of ["list.get", "config.get", "lease.release-all", "events.replay"]) {
    expect((await operator.call(type)).ok).toBe(true);
  }
  expect(await client.call("doctor.run", { fix: true })).toEqual(refused("FORBIDDEN"));
  expect((await client.call("doctor.run")).ok).toBe(true);
});

test("a refused command is told of in the log by its reason, not by its words", async () => {
  const { agent, log } = await bench.start();
  const client = await agent("me");
  const grant = await client.ok("lease.request", { platform: "ios" });
  const leaseId = at(grant, "lease", "id");
  const reply = await client.call("device.exec", {
    leaseId,
    tool: "simctl",
    args: ["addmedia", join(homedir(), ".ssh", "secret-key")],
  });
  expect(reply.error?.message).toContain("secret-key");
  expect(log).toContainEqual(expect.objectContaining({ operation: "device.exec", reason: "host-path" }));
  expect(JSON.stringify(log)).not.toContain("secret-key");
});

test("each call is one line in the log, without arguments and output", async () => {
  const { agent, log } = await bench.start({ config: { log: { level: "debug" } } });
  const client = await agent("me");
  await client.call("device.exec", {
    leaseId: "lse_1",
    tool: "simctl",
    args: ["secret-argument"],
    stdin: "secret-stdin",
  });
  await client.call("lease.list");
  const lines = log.filter((line) => line["message"] === "operation");
  expect(lines).toEqual([
    expect.objectContaining({
      level: "info",
      module: "operations",
      operation: "device.exec",
      principal: "me",
      role: "agent",
      leaseId: "lse_1",
      code: "UNKNOWN_LEASE",
      durationMs: expect.any(Number),
    }),
    expect.objectContaining({ level: "debug", operation: "lease.list" }),
  ]);
  expect(JSON.stringify(log)).not.toContain("secret-");
});
