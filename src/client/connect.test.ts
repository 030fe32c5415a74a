import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { encodeFrame, MAX_SOCKET_PATH_BYTES, SimlockError } from "../contract/index.ts";
import { connectSimlock, stopDaemon } from "./connect.ts";
import { fakeDaemon, welcome } from "./testing.ts";
import type { ConnectOptions } from "./types.ts";

let folder: string;
let socketPath: string;
const servers: Server[] = [];
const sockets = new Set<Socket>();

beforeEach(() => {
  folder = mkdtempSync("/tmp/sl-conn-");
  socketPath = join(folder, "d.sock");
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

/** A listener that does with a connection whatever the test says. */
async function listener(onSocket: (socket: Socket) => void): Promise<void> {
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    onSocket(socket);
  });
  servers.push(server);
  server.listen(socketPath);
  await once(server, "listening");
}

const options = (more: Partial<ConnectOptions> = {}): ConnectOptions => ({
  socketPath,
  principal: "agent",
  clientVersion: "1.0.0",
  ...more,
});

async function refusal(promise: Promise<unknown>): Promise<SimlockError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof SimlockError) return error;
    throw error;
  }
  throw new Error("it did not reject");
}

describe("hello", () => {
  test("says who calls, with which protocol, and what kind of home is meant; the answer is what the client shows", async () => {
    await using daemon = await fakeDaemon();
    const client = await connectSimlock(
      options({ socketPath: daemon.socketPath, principal: "claude-code:7", credential: "secret", virtual: true }),
    );
    expect(daemon.frames).toEqual([
      {
        id: 1,
        type: "hello",
        payload: {
          clientVersion: "1.0.0",
          protocolVersion: 1,
          protocolRange: { min: 1, max: 1 },
          principal: "claude-code:7",
          credential: "secret",
          virtual: true,
        },
      },
    ]);
    expect(client).toMatchObject({
      role: "admin",
      principal: "claude-code:7",
      daemonVersion: "0.0.0-fake",
      instanceId: "fake",
    });
    await client.close();
  });

  test("leaves out what was not given, and takes a newer daemon's answer with fields that we don't know", async () => {
    await using daemon = await fakeDaemon({ hello: (hello) => welcome(hello, { tomorrow: { is: "another day" } }) });
    const client = await connectSimlock(options({ socketPath: daemon.socketPath }));
    expect(client.role).toBe("agent");
    expect(Object.keys(Object(daemon.frames[0]?.payload))).toEqual([
      "clientVersion",
      "protocolVersion",
      "protocolRange",
      "principal",
    ]);
    await client.close();
  });

  test.each(["ADMIN_AUTHENTICATION_FAILED", "HOME_MISMATCH", "PROTOCOL_VERSION_UNSUPPORTED"] as const)(
    "that is refused with %s rejects with it, and ends the connection",
    async (code) => {
      await using daemon = await fakeDaemon({
        hello: () => {
          throw new SimlockError(code, "no", { hint: "do that", details: { x: 1 } });
        },
      });
      const error = await refusal(connectSimlock(options({ socketPath: daemon.socketPath })));
      expect(error).toMatchObject({ code, message: "no", hint: "do that", details: { x: 1 } });
      for (const { socket } of daemon.connections) await once(socket, "close");
      expect(daemon.connections.size).toBe(0);
    },
  );

  test("that is answered with something else is refused as another version's", async () => {
    await using daemon = await fakeDaemon({ hello: () => ({ hi: true }) });
    const error = await refusal(connectSimlock(options({ socketPath: daemon.socketPath })));
    expect(error.code).toBe("UNKNOWN_DAEMON_ERROR");
    expect(error.hint).toContain("simlock daemon restart");
  });

  test("what the daemon says right after its welcome reaches listeners that are added at once", async () => {
    await listener((socket) => {
      socket.once("data", () => {
        const lost = { push: "lease-lost", payload: { leaseId: "lse_1", deviceId: "dev_1", reason: "expired" } };
        socket.write(
          encodeFrame({ id: 1, ok: true, payload: welcome({ clientVersion: "1", principal: "agent" }) }) +
            encodeFrame(lost),
        );
      });
    });
    const client = await connectSimlock(options());
    const lost = await new Promise((resolve) => client.onLeaseLost(resolve));
    expect(lost).toMatchObject({ leaseId: "lse_1" });
    await client.close();
  });
});

describe("a daemon that can't be reached", () => {
  test("nothing at the path: DAEMON_UNREACHABLE, which alone says that one may be started", async () => {
    expect(await refusal(connectSimlock(options()))).toMatchObject({
      code: "DAEMON_UNREACHABLE",
      hint: "Run `simlock daemon start`.",
      details: { socketPath, cause: "ENOENT" },
    });
  });

  test("the socket of a daemon that was killed: DAEMON_UNREACHABLE", async () => {
    writeFileSync(socketPath, "");
    expect(await refusal(connectSimlock(options()))).toMatchObject({ code: "DAEMON_UNREACHABLE" });
  });

  test("a path that is too long for a socket is refused before it is tried, one that just fits is not", async () => {
    const room = MAX_SOCKET_PATH_BYTES - 1 - Buffer.byteLength(join(folder, "é"));
    const fits = join(folder, `é${"x".repeat(room)}`);
    expect(await refusal(connectSimlock(options({ socketPath: fits })))).toMatchObject({ code: "DAEMON_UNREACHABLE" });
    const error = await refusal(connectSimlock(options({ socketPath: `${fits}x` })));
    expect(error).toMatchObject({ code: "HOME_UNUSABLE" });
    expect(error.hint).toContain("SIMLOCK_HOME");
  });

  test("one that accepts and says nothing: DAEMON_CONNECTION_LOST after the time limit, and the connection is ended", async () => {
    let closed: Promise<unknown> | undefined;
    await listener((socket) => {
      socket.resume();
      closed = once(socket, "close");
    });
    const error = await refusal(connectSimlock(options({ timeoutMs: 50 })));
    expect(error).toMatchObject({ code: "DAEMON_CONNECTION_LOST", details: { cause: "timeout" } });
    expect(error.message).toContain("within 50 ms");
    await closed;
  });

  test("one that hangs up instead of a welcome: DAEMON_CONNECTION_LOST at once", async () => {
    await listener((socket) => socket.once("data", () => socket.end()));
    const error = await refusal(connectSimlock(options({ timeoutMs: 20_000 })));
    expect(error.code).toBe("DAEMON_CONNECTION_LOST");
    expect(error.message).toContain("hello");
  });

  test("one that sends only garbage: the time limit holds", async () => {
    await listener((socket) => socket.write('garbage\n[1,2]\nnull\n{"id":"1","ok":true}\n{"id":1}\n'.repeat(3)));
    // The last line is an answer to the hello, though one that can't be read.
    expect(await refusal(connectSimlock(options()))).toMatchObject({ code: "UNKNOWN_DAEMON_ERROR" });
  });
});

describe("stopping a daemon of any version", () => {
  test("goes on after the versions did not fit, and tells when the daemon is gone", async () => {
    await using daemon = await fakeDaemon({
      hello: () => {
        throw new SimlockError("PROTOCOL_VERSION_UNSUPPORTED", "too old");
      },
      "daemon.stop": () => ({ stopping: true }),
    });
    const stopping = await stopDaemon(options({ socketPath: daemon.socketPath, credential: "secret" }));
    expect(daemon.frames.map((frame) => frame.type)).toEqual(["hello", "daemon.stop"]);
    const gone = stopping.gone(20_000);
    await daemon.close();
    expect(await gone).toBe(true);
  });

  test("tells that it is still there after the limit, and hangs up", async () => {
    await using daemon = await fakeDaemon({ "daemon.stop": () => ({ stopping: true }) });
    const stopping = await stopDaemon(options({ socketPath: daemon.socketPath, credential: "secret" }));
    const [connection] = daemon.connections;
    const closed = connection === undefined ? undefined : once(connection.socket, "close");
    expect(await stopping.gone(20)).toBe(false);
    expect(closed).toBeDefined();
    await closed;
  });

  test("is refused like any other call, and with a wrong credential nothing is asked", async () => {
    await using agentOnly = await fakeDaemon({
      "daemon.stop": () => {
        throw new SimlockError("FORBIDDEN", "for an admin");
      },
    });
    expect(await refusal(stopDaemon(options({ socketPath: agentOnly.socketPath })))).toMatchObject({
      code: "FORBIDDEN",
    });
    await using strict = await fakeDaemon({
      hello: () => {
        throw new SimlockError("ADMIN_AUTHENTICATION_FAILED", "no");
      },
    });
    expect(await refusal(stopDaemon(options({ socketPath: strict.socketPath })))).toMatchObject({
      code: "ADMIN_AUTHENTICATION_FAILED",
    });
    expect(strict.frames).toHaveLength(1);
  });
});
