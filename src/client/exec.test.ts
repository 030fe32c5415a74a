import { afterEach, describe, expect, test } from "vitest";
import { INITIAL_OUTPUT_CREDIT, MAX_FRAME_BYTES, SimlockError } from "../contract/index.ts";
import { connectSimlock } from "./connect.ts";
import { leaseRecord } from "./grant.fixture.ts";
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

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("it did not reject");
}

const input = { leaseId: "lse_1", tool: "adb", args: ["logcat"] };
const credits = (daemon: FakeDaemon): unknown[] =>
  daemon.frames.flatMap((frame) => (frame.push === "credit" ? [frame.payload] : []));

test("a command's output arrives chunk by chunk before its result, each call with its own", async () => {
  const { client } = await connected({
    "device.exec": ({ args }, call) => {
      call.push("started", {});
      call.push("output", { stream: "stdout", chunk: `${args[0]} out` });
      call.push("output", { stream: "stderr", chunk: `${args[0]} err` });
      return { exitCode: args[0] === "a" ? 0 : 3, notes: ["n"] };
    },
  });
  const run = async (name: string): Promise<unknown[]> => {
    const heard: unknown[] = [];
    const result = await client.exec(
      { ...input, args: [name] },
      { onStarted: () => heard.push("started"), onOutput: (stream, chunk) => void heard.push([stream, chunk]) },
    );
    return [...heard, result];
  };
  expect(await Promise.all([run("a"), run("b")])).toEqual(
    ["a", "b"].map((name) => [
      "started",
      ["stdout", `${name} out`],
      ["stderr", `${name} err`],
      { exitCode: name === "a" ? 0 : 3, notes: ["n"] },
    ]),
  );
});

test("with keepLast the daemon's tail and its activity come through, and no output does", async () => {
  const { daemon, client } = await connected({
    "device.exec": ({ keepLast }, call) => {
      call.push("activity", { stdout: 10, stderr: 2 });
      return { exitCode: 0, stdout: `last ${keepLast}`, stderr: "", truncated: true };
    },
  });
  const activity: unknown[] = [];
  const result = await client.exec({ ...input, keepLast: 7 }, { onActivity: (report) => activity.push(report) });
  expect(result).toEqual({ exitCode: 0, stdout: "last 7", stderr: "", truncated: true });
  expect(activity).toEqual([{ stdout: 10, stderr: 2 }]);
  expect(credits(daemon)).toEqual([]);
});

describe("credit", () => {
  test("a fast consumer gives all of it back, in portions and not a frame a chunk", async () => {
    const chunks = 1_000;
    const chunk = "x".repeat(8 * 1024);
    const { daemon, client } = await connected({
      "device.exec": async (_input, call) => {
        let sent = 0;
        for (let i = 0; i < chunks; i += 1) {
          sent += chunk.length;
          // As the daemon does: never more under way than the credit allows.
          if (sent > INITIAL_OUTPUT_CREDIT) await call.credit(sent - INITIAL_OUTPUT_CREDIT);
          call.push("output", { stream: "stdout", chunk });
        }
        return { exitCode: 0 };
      },
    });
    let characters = 0;
    await client.exec(input, { onOutput: (_stream, text) => void (characters += text.length) });
    expect(characters).toBe(chunks * chunk.length);
    const given = credits(daemon);
    expect(given.length).toBeGreaterThan(10);
    expect(given.length).toBeLessThan(40);
    expect(given[0]).toEqual({ requestId: 2, characters: INITIAL_OUTPUT_CREDIT / 4 });
  });

  test("a slow consumer holds the command back and nothing else: no credit, no second chunk, other calls answered", async () => {
    const half = "x".repeat(INITIAL_OUTPUT_CREDIT / 2);
    let creditCame = false;
    const { daemon, client } = await connected({
      "device.exec": async (_input, call) => {
        call.push("output", { stream: "stdout", chunk: half });
        call.push("output", { stream: "stdout", chunk: half });
        await call.credit(1).then(() => (creditCame = true));
        call.push("output", { stream: "stderr", chunk: "end" });
        return { exitCode: 0 };
      },
      "lease.renew": () => leaseRecord("lse_1"),
    });
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const arrived = gates.map(() => Promise.withResolvers<void>());
    let chunks = 0;
    let done = false;
    const result = client
      .exec(input, {
        onOutput: async () => {
          const n = chunks;
          chunks += 1;
          arrived[n]?.resolve();
          await gates[n]?.promise;
        },
      })
      .finally(() => (done = true));
    await arrived[0]?.promise;
    for (let i = 0; i < 20; i += 1) await client.call("lease.renew", { leaseId: "lse_1" });
    expect([chunks, creditCame, done]).toEqual([1, false, false]);
    gates[0]?.resolve();
    await daemon.heard((frame) => frame.push === "credit");
    await arrived[1]?.promise;
    gates[1]?.resolve();
    await arrived[2]?.promise;
    // The result is here by now, and waits for the consumer.
    await client.call("lease.renew", { leaseId: "lse_1" });
    expect(done).toBe(false);
    gates[2]?.resolve();
    expect(await result).toEqual({ exitCode: 0 });
  });

  test("without a consumer the output is dropped, and the command is never held back", async () => {
    const { client } = await connected({
      "device.exec": async (_input, call) => {
        for (let i = 0; i < 8; i += 1) {
          call.push("output", { stream: "stdout", chunk: "x".repeat(INITIAL_OUTPUT_CREDIT / 2) });
          await call.credit(((i + 1) * INITIAL_OUTPUT_CREDIT) / 2);
        }
        return { exitCode: 0 };
      },
    });
    expect(await client.exec(input)).toEqual({ exitCode: 0 });
  });

  test("a daemon that sends far more than its credit has the command ended: memory stays bounded", async () => {
    const { daemon, client } = await connected({
      "device.exec": async (_input, call) => {
        const ended = new Promise<void>((resolve) => call.cancelled.addEventListener("abort", () => resolve()));
        const chunk = "x".repeat(1024 * 1024);
        for (let i = 0; i < (INITIAL_OUTPUT_CREDIT + MAX_FRAME_BYTES) / chunk.length + 1; i += 1) {
          call.push("output", { stream: "stdout", chunk });
        }
        await ended;
        throw new SimlockError("EXEC_CANCELLED", "ended");
      },
    });
    const error = await rejection(client.exec(input, { onOutput: () => new Promise(() => undefined) }));
    expect(error).toMatchObject({ code: "UNKNOWN_DAEMON_ERROR" });
    expect(daemon.frames.filter((frame) => frame.type === "call.cancel")).toHaveLength(1);
  });
});

describe("an abort", () => {
  /** A command that runs until it is cancelled, and then ends when the test lets it. */
  function runningCommand() {
    const arrived = Promise.withResolvers<FakeCall>();
    const mayEnd = Promise.withResolvers<unknown>();
    const handler = async (_input: unknown, call: FakeCall): Promise<unknown> => {
      arrived.resolve(call);
      return mayEnd.promise;
    };
    return { handler, arrived: arrived.promise, end: mayEnd.resolve, fail: mayEnd.reject };
  }

  test("before it is sent: EXEC_CANCELLED, and the daemon never hears of it", async () => {
    const { daemon, client } = await connected({});
    const error = await rejection(client.exec(input, { signal: AbortSignal.abort() }));
    expect(error).toMatchObject({ code: "EXEC_CANCELLED" });
    expect(daemon.frames).toHaveLength(1);
  });

  test("ends the command by the id of its frame, and rejects once it has ended; output on the way is dropped", async () => {
    const command = runningCommand();
    const { daemon, client } = await connected({ "device.exec": command.handler });
    const abort = new AbortController();
    const heard: string[] = [];
    let settled = false;
    const result = rejection(
      client.exec(input, { signal: abort.signal, onOutput: (_stream, chunk) => void heard.push(chunk) }),
    ).finally(() => (settled = true));
    const call = await command.arrived;
    abort.abort();
    const cancel = await daemon.heard((frame) => frame.type === "call.cancel");
    expect(cancel.payload).toEqual({ callId: call.id });
    expect(call.cancelled.aborted).toBe(true);
    // More than the credit: the end of a command that is ended must not wait for anybody to read.
    for (let i = 0; i < 4; i += 1)
      call.push("output", { stream: "stdout", chunk: "x".repeat(INITIAL_OUTPUT_CREDIT / 2) });
    await call.credit(INITIAL_OUTPUT_CREDIT);
    expect([settled, heard]).toEqual([false, []]);
    command.fail(new SimlockError("EXEC_CANCELLED", "by the daemon"));
    expect(await result).toMatchObject({ code: "EXEC_CANCELLED", message: expect.stringContaining("adb") });
  });

  test("while a consumer holds on to a chunk does not wait for the consumer", async () => {
    const { client } = await connected({
      "device.exec": async (_input, call) => {
        call.push("output", { stream: "stdout", chunk: "a" });
        call.push("output", { stream: "stdout", chunk: "b" });
        return { exitCode: 0 };
      },
    });
    const abort = new AbortController();
    const heard: string[] = [];
    const result = await rejection(
      client.exec(input, {
        signal: abort.signal,
        onOutput: (_stream, chunk) => {
          heard.push(chunk);
          setImmediate(() => abort.abort());
          return new Promise(() => undefined);
        },
      }),
    );
    expect(result).toMatchObject({ code: "EXEC_CANCELLED" });
    expect(heard).toEqual(["a"]);
  });

  test("after the result is ignored", async () => {
    const { daemon, client } = await connected({
      "device.exec": () => ({ exitCode: 0 }),
      "lease.renew": () => leaseRecord("lse_1"),
    });
    const abort = new AbortController();
    expect(await client.exec(input, { signal: abort.signal })).toEqual({ exitCode: 0 });
    abort.abort();
    await client.call("lease.renew", { leaseId: "lse_1" });
    expect(daemon.frames.map((frame) => frame.type)).toEqual(["hello", "device.exec", "lease.renew"]);
  });

  test("of a command whose connection is lost: DAEMON_CONNECTION_LOST", async () => {
    const command = runningCommand();
    const { daemon, client } = await connected({ "device.exec": command.handler });
    const abort = new AbortController();
    const result = rejection(client.exec(input, { signal: abort.signal }));
    await command.arrived;
    abort.abort();
    await daemon.close();
    expect(await result).toMatchObject({ code: "DAEMON_CONNECTION_LOST" });
  });
});

test.each([
  [
    "throws",
    () => {
      throw new Error("full");
    },
  ],
  ["rejects", () => Promise.reject(new Error("full"))],
])("a consumer that %s ends the command, gets no more output, and its error is the call's", async (_how, onOutput) => {
  const { daemon, client } = await connected({
    "device.exec": async (_input, call) => {
      const ended = new Promise<void>((resolve) => call.cancelled.addEventListener("abort", () => resolve()));
      call.push("output", { stream: "stdout", chunk: "a" });
      call.push("output", { stream: "stdout", chunk: "b" });
      await ended;
      throw new SimlockError("EXEC_CANCELLED", "ended");
    },
  });
  let chunks = 0;
  const error = await rejection(
    client.exec(input, {
      onOutput: () => {
        chunks += 1;
        return onOutput();
      },
    }),
  );
  expect(error).toMatchObject({ message: "full" });
  expect(chunks).toBe(1);
  expect(daemon.frames.filter((frame) => frame.type === "call.cancel")).toHaveLength(1);
});

test("a refusal of the daemon comes through whole", async () => {
  const { client } = await connected({
    "device.exec": () => {
      throw new SimlockError("PASSTHROUGH_REFUSED", "no", { details: { token: "-s" }, hint: "leave it out" });
    },
  });
  expect(await rejection(client.exec(input, { onOutput: () => undefined }))).toMatchObject({
    code: "PASSTHROUGH_REFUSED",
    details: { token: "-s" },
    hint: "leave it out",
  });
});
