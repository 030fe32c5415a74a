import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import { at, must, TestBench, text, type TestDaemon, type TestOptions } from "./daemon.fixture.ts";
import type { RawClient } from "./raw-client.fixture.ts";

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

interface Held extends TestDaemon {
  readonly client: RawClient;
  readonly leaseId: string;
  readonly udid: string;
}

async function held(options: TestOptions = {}): Promise<Held> {
  const daemon = await bench.start(options);
  const client = await daemon.agent("a");
  const grant = await client.ok("lease.request", phone);
  return { ...daemon, client, leaseId: text(grant, "lease", "id"), udid: text(grant, "device", "driverDeviceId") };
}

/** A process of the caller's own: in the caller's group, or leading its own. */
function ownProcess(detached: boolean): { child: ChildProcess; pid: number; exited: Promise<unknown[]> } {
  const child = spawn("sleep", ["600"], { detached, stdio: "ignore" });
  children.push(child);
  return { child, pid: must(child.pid), exited: once(child, "exit") };
}

const cleans = (daemon: TestDaemon): number => daemon.driver.steps.filter((step) => step.startsWith("clean")).length;

async function until(fact: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!fact()) {
    if (Date.now() > deadline) throw new Error("waited in vain");
    await new Promise((done) => setTimeout(done, 10));
  }
}

test("a command is decided and whole: file, arguments with the device filled in, environment", async () => {
  const { client, leaseId, udid } = await held();
  const decided = await client.ok("driver.passthrough", { leaseId, tool: "simctl", args: ["listapps"], cwd: "/tmp" });
  expect(decided).toMatchObject({
    runId: expect.stringMatching(/^run_/),
    command: "/bin/sh",
    args: [expect.anything(), expect.anything(), "simctl", "listapps", udid],
    env: { FAKE_TOOL: "1", PATH: expect.anything() },
    cwd: "/tmp",
    hostPaths: [],
  });
});

test("a dry run reserves nothing, and a refusal says why", async () => {
  const daemon = await held();
  const { client, leaseId } = daemon;
  const dry = await client.ok("driver.passthrough", { leaseId, tool: "simctl", args: ["listapps"], dryRun: true });
  expect(at(dry, "runId")).toBeUndefined();
  const refused = await client.call("driver.passthrough", { leaseId, tool: "simctl", args: ["erase", "all"] });
  expect(refused).toEqual(failed("PASSTHROUGH_REFUSED"));
  expect(
    await (await daemon.agent("b")).call("driver.passthrough", { leaseId, tool: "simctl", args: ["list"] }),
  ).toEqual(failed("FORBIDDEN"));
  await client.ok("lease.release", { leaseId });
  await until(() => cleans(daemon) === 1);
});

async function running(daemon: Held, detached: boolean) {
  const { client, leaseId } = daemon;
  const runId = text(await client.ok("driver.passthrough", { leaseId, tool: "simctl", args: ["listapps"] }), "runId");
  const own = ownProcess(detached);
  await client.ok("run.start", { runId, pid: own.pid });
  return { runId, ...own };
}

test("a lease that ends waits for the caller's word that its command has ended", async () => {
  const daemon = await held();
  const { runId } = await running(daemon, false);
  await daemon.client.ok("lease.release", { leaseId: daemon.leaseId });
  await daemon.client.ok("status.get");
  expect(cleans(daemon)).toBe(0);
  await daemon.client.ok("run.end", { runId });
  await until(() => cleans(daemon) === 1);
});

test("where the caller is gone, it waits for the process itself", async () => {
  const daemon = await held();
  const { child, exited } = await running(daemon, false);
  const other = await daemon.agent("a");
  daemon.client.close();
  await other.ok("lease.release", { leaseId: daemon.leaseId });
  await other.ok("status.get");
  expect(cleans(daemon)).toBe(0);
  child.kill("SIGKILL");
  await exited;
  await until(() => cleans(daemon) === 1);
});

test.each([true, false])(
  "a process that goes on after exec.drainMs is ended before the device is cleaned (leads a group: %s)",
  async (leads) => {
    const daemon = await held({ config: { exec: { drainMs: 100 } } });
    const { exited } = await running(daemon, leads);
    await daemon.client.ok("lease.release", { leaseId: daemon.leaseId });
    expect(await exited).toEqual([null, "SIGTERM"]);
    await until(() => cleans(daemon) === 1);
  },
);

test("a run that was reserved and never begun is given up with its connection", async () => {
  const daemon = await held();
  const { client, leaseId } = daemon;
  await client.ok("driver.passthrough", { leaseId, tool: "simctl", args: ["listapps"] });
  const other = await daemon.agent("a");
  await other.ok("lease.release", { leaseId });
  await other.ok("status.get");
  expect(cleans(daemon)).toBe(0);
  client.close();
  await until(() => cleans(daemon) === 1);
});

test("a run belongs to its connection", async () => {
  const daemon = await held();
  const { client, leaseId } = daemon;
  const runId = text(await client.ok("driver.passthrough", { leaseId, tool: "simctl", args: ["listapps"] }), "runId");
  const other = await daemon.agent("a");
  const { pid } = ownProcess(false);
  expect(await other.call("run.start", { runId, pid })).toEqual(failed("UNKNOWN_LEASE"));
  await other.ok("run.end", { runId });
  await client.ok("lease.release", { leaseId });
  await client.ok("status.get");
  expect(cleans(daemon)).toBe(0);
  expect((await client.call("run.start", { runId, pid })).ok).toBe(true);
  await client.ok("run.end", { runId });
  await until(() => cleans(daemon) === 1);
});

test("a daemon that starts again still waits for the process that the last one was told of", async () => {
  const daemon = await held();
  const { child, exited } = await running(daemon, false);
  await daemon.daemon.stop("restart");
  const again = await bench.start({ home: daemon.home });
  const client = await again.agent("a");
  await client.ok("lease.release", { leaseId: daemon.leaseId });
  await client.ok("status.get");
  expect(cleans(again)).toBe(0);
  child.kill("SIGKILL");
  await exited;
  await until(() => cleans(again) === 1);
});
