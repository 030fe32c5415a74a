import { readFileSync, statSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { encodeFrame, LineSplitter } from "../contract/index.ts";
import { errorOf, PROCESS_TEST_MS, TestHome } from "./cli.fixture.ts";
import { contextOf } from "./context.ts";
import { processesNaming, waitForEnd } from "./daemon-process.ts";
import { stopDaemon } from "./stop-daemon.ts";

vi.setConfig({ testTimeout: PROCESS_TEST_MS, hookTimeout: PROCESS_TEST_MS });

let home: TestHome;
const closers: (() => unknown)[] = [];

beforeEach(() => {
  home = new TestHome();
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  await home.dispose();
});

test("commands that start at once in a new home share one daemon", async () => {
  const all = await Promise.all(Array.from({ length: 4 }, () => home.run(["status", "--json"])));
  const pids = all.map(({ stdout }) => (JSON.parse(stdout) as { daemon: { pid: number } }).daemon.pid);
  expect(all.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  expect(new Set(pids).size).toBe(1);
  expect(await processesNaming(home.path)).toEqual([pids[0]]);
});

test.skipIf(process.platform !== "linux")(
  "the daemon outlives the command that started it, in a session of its own, away from its folder",
  async () => {
    expect((await home.run(["daemon", "start"])).stdout).toContain("Daemon: running");
    const pid = await home.daemonPid();
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    // ppid, pgrp, session: it leads its own, and the one who started it is gone.
    expect([fields[2], fields[3]]).toEqual([String(pid), String(pid)]);
    expect(Number(fields[1])).not.toBe(process.pid);
    expect(statSync(`/proc/${pid}/cwd/.`).ino).toBe(statSync("/").ino);
  },
);

test.skipIf(process.platform !== "linux")("the daemon's environment holds nothing of the one who asked", async () => {
  const secrets = { SIMLOCK_ADMIN_TOKEN: "slk_s", SIMLOCK_AGENT_ID: "me", CODEX_SESSION_ID: "c", SIMLOCK_LEASE: "l" };
  await home.run(["daemon", "start"], { env: secrets });
  const environment = readFileSync(`/proc/${await home.daemonPid()}/environ`, "utf8").split("\0");
  for (const [name, value] of Object.entries(secrets)) expect(environment).not.toContain(`${name}=${value}`);
});

test("a daemon that can't start says why, with its own code", async () => {
  home.configure({ lease: { defaultTtlMs: -5 } });
  const done = await home.run(["status"]);
  expect(errorOf(done)).toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringContaining("lease.defaultTtlMs"),
  });
  expect(done.code).toBe(2);
  expect(await processesNaming(home.path)).toEqual([]);
});

test("daemon status starts nothing", async () => {
  expect(await home.run(["daemon", "status", "--json"])).toMatchObject({ code: 0, stdout: '{"status":"stopped"}\n' });
  expect((await home.run(["daemon", "status"])).stdout).toContain("stopped");
  expect(await home.daemonPid()).toBeUndefined();
});

test("stop ends the process, start brings another, and each says so", async () => {
  await home.run(["daemon", "start"]);
  const first = await home.daemonPid();
  expect(JSON.parse((await home.run(["daemon", "stop", "--json"])).stdout)).toEqual({
    status: "stopped",
    outcome: "stopped",
  });
  expect(await home.daemonPid()).toBeUndefined();
  expect((await home.run(["daemon", "stop"])).stdout).toContain("was not running");
  await home.run(["daemon", "restart"]);
  const second = await home.daemonPid();
  expect(second).toBeDefined();
  expect(second).not.toBe(first);
});

test("a daemon that does not answer is ended by its process, and its lease stands in the next", async () => {
  const lease = await home.run(["lease", "--platform", "ios", "--detach"]);
  const { id } = (JSON.parse(lease.stdout) as { lease: { id: string } }).lease;
  const pid = await home.daemonPid();
  if (pid === undefined) throw new Error("no daemon");
  process.kill(pid, "SIGSTOP");
  const io = { env: home.env(), cwd: "/", stdin: process.stdin, stdout: process.stdout, stderr: process.stderr };
  expect(await stopDaemon(contextOf(io, {}), { answerMs: 300, endMs: 300, signalMs: 2000 })).toBe("killed");
  expect(await waitForEnd(pid, 0)).toBe(true);
  expect(await home.run(["renew", id])).toMatchObject({ code: 0 });
});

/** A daemon of another version: refuses the handshake, and stops when an admin asks. */
function otherVersion(path: string): Promise<{ server: Server; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((socket) => {
    const splitter = new LineSplitter();
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      for (const line of splitter.push(chunk)) {
        const { id, type } = JSON.parse(line) as { id: number; type: string };
        asked.push(type);
        const error = { code: "PROTOCOL_VERSION_UNSUPPORTED", message: "I speak 7." };
        if (type !== "daemon.stop") socket.write(encodeFrame({ id, ok: false, error }));
        else {
          socket.end(encodeFrame({ id, ok: true, payload: { stopping: true } }));
          server.close();
        }
      }
    });
  });
  return new Promise((resolve) => server.listen(path, () => resolve({ server, asked })));
}

test("on a version mismatch nothing is started, the remedy is named, and it works in one command", async () => {
  const { server, asked } = await otherVersion(join(home.path, "daemon.sock"));
  closers.push(() => server.close());
  const refused = await home.run(["status"]);
  expect(refused.code).toBe(1);
  expect(errorOf(refused)).toMatchObject({
    code: "PROTOCOL_VERSION_UNSUPPORTED",
    hint: expect.stringContaining("simlock daemon restart"),
  });
  expect(await home.daemonPid()).toBeUndefined();
  expect((await home.run(["daemon", "status", "--json"])).stdout).toContain('"status":"handshake-refused"');

  expect(await home.run(["daemon", "restart"])).toMatchObject({ code: 0, stdout: expect.stringContaining("running") });
  expect(asked.slice(-2)).toEqual(["hello", "daemon.stop"]);
  expect(await home.daemonPid()).toBeDefined();
});

test("a home of the other kind is refused with the way out", async () => {
  await home.run(["daemon", "start"]);
  const done = await home.run(["status"], { env: { SIMLOCK_VIRTUAL: "0" } });
  expect(done.code).toBe(2);
  expect(errorOf(done)).toMatchObject({ code: "HOME_MISMATCH", hint: expect.stringContaining("--virtual") });
});
