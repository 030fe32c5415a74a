import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { layoutOf, type Home } from "../contract/index.ts";
import { openStore } from "../store/index.ts";
import { at, must, TestBench, text } from "./daemon.fixture.ts";
import { RawClient } from "./raw-client.fixture.ts";

let bench: TestBench;
const children: ChildProcess[] = [];
beforeEach(() => {
  bench = new TestBench();
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await bench.close();
});

const phone = { platform: "ios", model: "iPhone 17" } as const;
const failed = (code: string) => expect.objectContaining({ ok: false, error: expect.objectContaining({ code }) });

interface OwnProcess {
  readonly child: ChildProcess;
  readonly said: string;
  readonly exited: Promise<unknown[]>;
}

/** A daemon in its own process, once it has said how its start went. */
async function process_(home: Home): Promise<OwnProcess> {
  const entry = new URL("./fake-daemon.fixture.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [entry, home.path, join(bench.root, "world.json")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  const exited = once(child, "exit");
  const [chunk]: unknown[] = await once(must(child.stdout), "data");
  return { child, said: String(chunk).trim(), exited };
}

describe("the start", () => {
  test("is refused to a second daemon of the home, which leaves everything as it is", async () => {
    const home = bench.home();
    const first = await process_(home);
    const layout = layoutOf(home);
    const before = [layout.adminToken, layout.record].map((path) => readFileSync(path, "utf8"));
    expect((await process_(home)).said).toBe("DAEMON_ALREADY_RUNNING");
    expect([layout.adminToken, layout.record].map((path) => readFileSync(path, "utf8"))).toEqual(before);
    const client = bench.keep(await RawClient.hello(layout.socket, { principal: "a" }));
    expect((await client.call("lease.list")).ok).toBe(true);
    first.child.kill("SIGTERM");
    expect(await first.exited).toEqual([0, null]);
  });

  test("answers who it is at once, and makes all else wait until the machine was read", async () => {
    const reading = Promise.withResolvers<void>();
    const { agent, daemon } = await bench.start({
      fake: { before: async (step) => (step === "read" ? reading.promise : undefined) },
    });
    const client = await agent();
    const waiting = client.begin("lease.request", phone);
    const status = await client.ok("status.get");
    expect(status).toMatchObject({ daemon: { health: "starting", pid: process.pid }, host: { cpus: 8 } });
    expect(at(status, "devices")).toBeUndefined();
    expect(client.frames.some((frame) => frame.id === waiting)).toBe(false);
    reading.resolve();
    expect((await client.reply(waiting)).ok).toBe(true);
    await daemon.running;
    expect(await client.ok("status.get")).toMatchObject({ daemon: { health: "running" }, devices: [{}], leases: [{}] });
  });

  test("goes on when a platform can't be read: its leases stand", async () => {
    const first = await bench.start();
    const client = await first.agent("a");
    const leaseId = text(await client.ok("lease.request", phone), "lease", "id");
    await first.daemon.stop("restart");
    const again = await bench.start({
      home: first.home,
      fake: {
        before(step) {
          if (step === "read") throw new Error("cold");
        },
      },
    });
    await again.daemon.running;
    expect((await (await again.agent("a")).call("lease.renew", { leaseId })).ok).toBe(true);
  });

  test("removes a dead daemon's socket, and no file that is something else", async () => {
    const home = bench.home();
    const first = await bench.start({ home });
    await first.daemon.stop("over");
    const dead = createServer().listen(layoutOf(home).socket);
    await once(dead, "listening");
    const again = await bench.start({ home });
    await again.daemon.stop("over");
    dead.close();
    writeFileSync(layoutOf(home).socket, "mine");
    await expect(bench.start({ home })).rejects.toMatchObject({ code: "HOME_UNUSABLE" });
    expect(readFileSync(layoutOf(home).socket, "utf8")).toBe("mine");
  });

  test.each([
    ["CONFIG_INVALID", "config.json", '{"lease":{"defaultTtlMs":0}}'],
    ["DATABASE_UNUSABLE", "simlock.db", "not a database, whatever it is".repeat(100)],
    ["HOME_UNUSABLE", "home.json", "{}"],
  ])("fails with %s for a bad %s, leaves it untouched, and gives the home free", async (code, name, content) => {
    const home = bench.home();
    await (await bench.start({ home })).daemon.stop("made");
    const path = join(home.path, name);
    const good = existsSync(path) ? readFileSync(path) : undefined;
    writeFileSync(path, content);
    await expect(bench.start({ home })).rejects.toMatchObject({ code });
    expect(readFileSync(path, "utf8")).toBe(content);
    expect(existsSync(layoutOf(home).socket)).toBe(false);
    writeFileSync(path, good ?? "{}");
    await bench.start({ home });
  });

  test("tells of keys in the configuration that it does not know", async () => {
    const { log } = await bench.start({ config: { lease: { heartbeatIntervalMs: 1 } } });
    expect(log).toContainEqual(expect.objectContaining({ level: "warn", keys: ["lease.heartbeatIntervalMs"] }));
  });

  test("keeps the admin's secret in a file for the owner, anew each time, gone when it stops", async () => {
    const { daemon, home, log } = await bench.start();
    const path = layoutOf(home).adminToken;
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const secret = readFileSync(path, "utf8").trim();
    const admin = bench.keep(await RawClient.hello(daemon.socketPath, { credential: secret }));
    expect((await admin.call("config.get")).ok).toBe(true);
    await daemon.stop("over");
    expect(existsSync(path)).toBe(false);
    expect(JSON.stringify(log)).not.toContain(secret);
    const again = await bench.start({ home });
    expect(readFileSync(path, "utf8").trim()).not.toBe(secret);
    const stale = await bench.raw(again.daemon.socketPath);
    expect(await stale.call("hello", { clientVersion: "1", protocolVersion: 1, credential: secret })).toEqual(
      failed("ADMIN_AUTHENTICATION_FAILED"),
    );
  });
});

describe("the stop", () => {
  test("answers those who wait, leaves leases standing, and leaves nothing behind but the home", async () => {
    const { agent, admin, daemon, home } = await bench.start({
      config: { capacity: { strategy: "fixed", maxRunning: 1 } },
    });
    const [holder, waiting, operator] = [await agent("holder"), await agent("waiting"), await admin()];
    const leaseId = text(await holder.ok("lease.request", phone), "lease", "id");
    const id = waiting.begin("lease.request", phone);
    await waiting.push("progress");
    const run = holder.begin("device.exec", { leaseId, tool: "simctl", args: ["spawn", "/bin/sleep", "600"] });
    await holder.push("started");
    expect(await operator.ok("daemon.stop")).toEqual({ stopping: true });
    expect(await waiting.reply(id)).toEqual(failed("DAEMON_STOPPING"));
    expect(await holder.reply(run)).toEqual(failed("DAEMON_STOPPING"));
    expect(await daemon.stopped).toBe(0);
    await holder.ended();
    expect(readdirSync(home.path).filter((name) => /sock|token/.test(name))).toEqual([]);
    const again = await bench.start({ home });
    expect(await (await again.agent("holder")).ok("lease.list")).toMatchObject({ leases: [{ id: leaseId }] });
    expect(await (await again.agent("waiting")).ok("status.get")).toMatchObject({ waiting: [] });
  });

  test("refuses new calls by name, and a second stop is answered like the first", async () => {
    const [begun, shutting] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { agent, admin, daemon, driver } = await bench.start({
      fake: {
        before(step) {
          if (step !== "create") return undefined;
          begun.resolve();
          return shutting.promise;
        },
      },
    });
    const [client, operator] = [await agent("a"), await admin()];
    client.begin("lease.request", phone);
    await begun.promise;
    await operator.ok("daemon.stop");
    expect(await client.call("lease.list")).toEqual(failed("DAEMON_STOPPING"));
    expect(await operator.ok("daemon.stop")).toEqual({ stopping: true });
    shutting.resolve();
    expect(await daemon.stopped).toBe(0);
    expect(driver.steps.filter((step) => step.startsWith("boot"))).toEqual([]);
  });

  test("comes within bounds when a driver does not heed it", async () => {
    const begun = Promise.withResolvers<void>();
    const { agent, daemon } = await bench.start({
      fake: {
        before(step) {
          if (step !== "create") return undefined;
          begun.resolve();
          return new Promise(() => undefined);
        },
      },
    });
    (await agent("a")).begin("lease.request", phone);
    await begun.promise;
    expect(await daemon.stop("now")).toBe(0);
  }, 40_000);
});

describe("a daemon that was killed", () => {
  test("comes back with its leases, ends the commands it left, and cleans what was given back", async () => {
    const home = bench.home();
    const socket = layoutOf(home).socket;
    const first = await process_(home);
    const [kept, gone] = [
      bench.keep(await RawClient.hello(socket, { principal: "kept" })),
      bench.keep(await RawClient.hello(socket, { principal: "gone" })),
    ];
    const leaseId = text(await kept.ok("lease.request", phone), "lease", "id");
    const other = await gone.ok("lease.request", phone);
    const pidFile = join(bench.root, "pid");
    kept.begin("device.exec", {
      leaseId,
      tool: "simctl",
      args: ["spawn", "/bin/sh", "-c", `echo $$ > ${pidFile}; exec sleep 600`],
    });
    await kept.push("started");
    while (!existsSync(pidFile) || readFileSync(pidFile, "utf8") === "") await new Promise(setImmediate);
    gone.begin("lease.release", { leaseId: text(other, "lease", "id") });
    await gone.wait((frame) => frame.ok === true && at(frame.payload, "leaseId") !== undefined);
    first.child.kill("SIGKILL");
    await first.exited;

    await process_(home);
    const back = bench.keep(await RawClient.hello(socket, { principal: "kept" }));
    expect(await back.ok("lease.adopt")).toMatchObject({ grant: { lease: { id: leaseId } } });
    expect((await back.call("lease.renew", { leaseId })).ok).toBe(true);
    const state = existsSync(`/proc/${readFileSync(pidFile, "utf8").trim()}`)
      ? readFileSync(`/proc/${readFileSync(pidFile, "utf8").trim()}/status`, "utf8")
      : "State: X";
    expect(state).toMatch(/State:\s+[ZX]/);
    const again = bench.keep(await RawClient.hello(socket, { principal: "gone" }));
    expect(at(await again.ok("lease.request", phone), "device", "id")).toBe(at(other, "device", "id"));
  });

  test("at any moment of a busy life loses no lease and grants no device twice", async () => {
    const home = bench.home();
    const socket = layoutOf(home).socket;
    const granted = new Map<string, string>();
    for (let round = 0; round < 3; round++) {
      const own = await process_(home);
      expect(own.said).toBe("listening");
      const names = Array.from({ length: 6 }, (_, index) => `agent-${index}`);
      const clients = await Promise.all(names.map(async (principal) => RawClient.hello(socket, { principal })));
      for (const client of clients) bench.keep(client);
      // Whoever was told of a lease still has it, and no two have the same device.
      const lists = await Promise.all(clients.map(async (client) => client.ok("lease.list")));
      const held = lists.flatMap((list) => at(list, "leases") as { id: string; deviceId: string; ownerId: string }[]);
      expect(new Set(held.map((lease) => lease.deviceId)).size).toBe(held.length);
      for (const [leaseId, owner] of granted) {
        expect(held.find((lease) => lease.id === leaseId)?.ownerId).toBe(owner);
      }
      let grants = 0;
      const work = clients.map(async (client, index) => {
        const owner = names[index] ?? "";
        for (;;) {
          const mine = [...granted].find(([, who]) => who === owner)?.[0];
          if (mine !== undefined) {
            granted.delete(mine);
            await client.ok("lease.release", { leaseId: mine });
          }
          const reply = await client.call("lease.request", phone);
          if (reply.ok !== true) {
            // Granted and stored, but the answer was lost with the daemon: what is stored counts.
            const stored = at(await client.ok("lease.list"), "leases", 0, "id");
            if (typeof stored === "string") granted.set(stored, owner);
            continue;
          }
          granted.set(text(reply.payload, "lease", "id"), owner);
          grants += 1;
          if (grants === 15 + round * 20) own.child.kill("SIGKILL");
        }
      });
      await Promise.allSettled(work);
      await own.exited;
    }
  }, 60_000);
});

describe("a database that can't be written", () => {
  test("ends the daemon before anything is said of what was not stored", async () => {
    let broken = false;
    const { agent, daemon, exits, log, home } = await bench.start({
      openStore(options) {
        const store = openStore(options);
        return {
          load: () => store.load(),
          commit(changes, events, at) {
            if (broken && changes.length > 0) throw new Error("disk full");
            return store.commit(changes, events, at);
          },
          events: (query) => store.events(query),
          trimEvents: (limits) => store.trimEvents(limits),
          lastSeq: () => store.lastSeq(),
          close: () => store.close(),
        };
      },
    });
    const [client, other] = [await agent("a"), await agent("a")];
    const leaseId = text(await client.ok("lease.request", phone), "lease", "id");
    broken = true;
    const before = client.frames.length;
    client.begin("lease.release", { leaseId });
    client.begin("lease.renew", { leaseId });
    await client.ended();
    await other.ended();
    expect(client.frames).toHaveLength(before);
    expect(other.frames.filter((frame) => frame.push !== undefined)).toEqual([]);
    expect(exits).toEqual([1]);
    expect(await daemon.stopped).toBe(1);
    expect(log).toContainEqual(expect.objectContaining({ level: "fatal" }));
    const again = await bench.start({ home });
    expect(await (await again.agent("a")).ok("lease.list")).toMatchObject({ leases: [{ id: leaseId }] });
  });
});
