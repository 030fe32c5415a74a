import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { INITIAL_OUTPUT_CREDIT, layoutOf, MAX_FRAME_BYTES } from "../contract/index.ts";
import { at, TestBench, text, type TestDaemon, type TestOptions } from "./daemon.fixture.ts";
import type { RawClient } from "./raw-client.fixture.ts";

let bench: TestBench;
beforeEach(() => {
  bench = new TestBench();
});
afterEach(async () => bench.close());

const phone = { platform: "ios", model: "iPhone 17" } as const;
const failed = (code: string) => expect.objectContaining({ ok: false, error: expect.objectContaining({ code }) });

interface Held extends TestDaemon {
  readonly client: RawClient;
  readonly leaseId: string;
  readonly udid: string;
}

/** A daemon, and an agent that holds a device of it. */
async function held(options: TestOptions = {}): Promise<Held> {
  const daemon = await bench.start(options);
  const client = await daemon.agent("a");
  const grant = await client.ok("lease.request", phone);
  return { ...daemon, client, leaseId: text(grant, "lease", "id"), udid: text(grant, "device", "driverDeviceId") };
}

/** A shell script on the "device": the fake simctl's spawn runs it on this host, as the real one does. */
const script = (leaseId: string, line: string, more: object = {}) => ({
  leaseId,
  tool: "simctl",
  args: ["spawn", "/bin/sh", "-c", line],
  ...more,
});

const outputOf = (client: RawClient, id: unknown, stream = "stdout"): string =>
  client.frames
    .filter((frame) => frame.push === "output" && at(frame.payload, "requestId") === id)
    .filter((frame) => at(frame.payload, "stream") === stream)
    .map((frame) => text(frame.payload, "chunk"))
    .join("");

/** Whether the process of this pid still runs; one that only waits to be reaped does not. */
function runs(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

async function until(fact: () => boolean, what: string): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!fact()) {
    if (Date.now() > deadline) throw new Error(`waited in vain: ${what}`);
    await new Promise((done) => setTimeout(done, 10));
  }
}

const pidIn = (path: string): number => Number(readFileSync(path, "utf8").trim());

describe("a command", () => {
  test("is started, brings its output as it comes, and its exit code", async () => {
    const { client, leaseId } = await held();
    const id = client.begin("device.exec", script(leaseId, "cat; echo err >&2; exit 7", { stdin: "in\n" }));
    expect((await client.reply(id)).payload).toEqual({ exitCode: 7 });
    expect([outputOf(client, id), outputOf(client, id, "stderr")]).toEqual(["in\n", "err\n"]);
    const pushes = client.frames.filter((frame) => at(frame.payload, "requestId") === id).map((frame) => frame.push);
    expect(pushes[0]).toBe("started");
  });

  test("gets the leased device filled in, and may not name another", async () => {
    const { client, leaseId, udid } = await held();
    const id = client.begin("device.exec", {
      leaseId,
      tool: "simctl",
      args: ["openurl", "booted", "https://example.com"],
    });
    await client.reply(id);
    expect(outputOf(client, id)).toBe(`openurl ${udid} https://example.com\n`);
    const other = await client.call("device.exec", {
      leaseId,
      tool: "simctl",
      args: ["openurl", "00000000-0000-4000-8000-000000000000", "https://example.com"],
    });
    expect(other).toEqual(failed("PASSTHROUGH_REFUSED"));
    expect(other.error?.details).toMatchObject({ tool: "simctl", reason: "other-device" });
    expect(await client.call("device.exec", { leaseId, tool: "idb", args: [] })).toEqual(
      failed("UNKNOWN_PASSTHROUGH_TOOL"),
    );
  });

  test("runs for the holder of the lease alone: no admin has a way round", async () => {
    const { client, leaseId, agent, admin } = await held();
    const list = { leaseId, tool: "simctl", args: ["list"] };
    expect(await client.call("device.exec", { ...list, requesterId: "a" })).toEqual(failed("FORBIDDEN"));
    expect(await (await agent("b")).call("device.exec", list)).toEqual(failed("FORBIDDEN"));
    const operator = await admin();
    expect(await operator.call("device.exec", list)).toEqual(failed("FORBIDDEN"));
    expect((await operator.call("device.exec", { ...list, requesterId: "a" })).ok).toBe(true);
    expect(await client.call("device.exec", { ...list, leaseId: "lse_gone" })).toEqual(failed("UNKNOWN_LEASE"));
  });

  test("works in its lease's own folder, or in the caller's", async () => {
    const { client, leaseId, home } = await held();
    const where = async (more: object): Promise<string> => {
      const answer = await client.ok("device.exec", script(leaseId, "pwd; echo $TMPDIR", { keepLast: 1000, ...more }));
      return text(answer, "stdout");
    };
    const scratch = join(realpathSync(home.path), "scratch", `lease-${leaseId}`);
    expect(await where({})).toBe(`${scratch}\n${scratch}\n`);
    const own = join(bench.root, "project");
    mkdirSync(own);
    expect(await where({ cwd: own })).toBe(`${own}\n${scratch}\n`);
    for (const cwd of ["relative", join(bench.root, "none")]) {
      expect(await client.call("device.exec", script(leaseId, "pwd", { cwd }))).toEqual(failed("BAD_REQUEST"));
    }
    await client.ok("lease.release", { leaseId });
    await until(() => !existsSync(scratch), "the scratch folder goes with its lease");
  });

  test("reads no file of the home", async () => {
    const { client, leaseId, home } = await held();
    const reply = await client.call("device.exec", {
      leaseId,
      tool: "simctl",
      args: ["addmedia", layoutOf(home).adminToken],
    });
    expect(reply).toEqual(failed("PASSTHROUGH_REFUSED"));
    expect(reply.error?.details).toMatchObject({ reason: "host-path" });
  });

  test("inherits nothing that picks another device or puts code into it", async () => {
    process.env["SIMCTL_CHILD_X"] = "1";
    process.env["ANDROID_SERIAL"] = "other";
    const { client, leaseId } = await held();
    const answer = await client.ok("device.exec", script(leaseId, "env", { keepLast: 10_000 }));
    delete process.env["SIMCTL_CHILD_X"];
    delete process.env["ANDROID_SERIAL"];
    const env = text(answer, "stdout");
    expect(env).toContain("FAKE_TOOL=1");
    expect(env).not.toMatch(/SIMCTL_CHILD|ANDROID_SERIAL|NODE_|VITEST/);
  });

  test("with keepLast sends the tail only, and tells how much has come", async () => {
    const { client, leaseId } = await held();
    const id = client.begin(
      "device.exec",
      script(leaseId, "head -c 300000 /dev/zero | tr '\\0' x; echo end", { keepLast: 10 }),
    );
    expect((await client.reply(id)).payload).toEqual({
      exitCode: 0,
      stdout: `xxxxxx${"end\n"}`,
      stderr: "",
      truncated: true,
    });
    expect(outputOf(client, id)).toBe("");
    expect(client.frames.some((frame) => frame.push === "activity" && at(frame.payload, "requestId") === id)).toBe(
      true,
    );
  });

  test("whose tail would not fit into a frame keeps what fits", async () => {
    const { client, leaseId } = await held();
    const answer = await client.ok(
      "device.exec",
      script(leaseId, "head -c 1048576 /dev/zero | tee /dev/stderr; printf end", { keepLast: 1_048_576 }),
    );
    expect(JSON.stringify(answer).length).toBeLessThan(MAX_FRAME_BYTES);
    expect(text(answer, "stdout").endsWith("\0end")).toBe(true);
    expect(answer).toMatchObject({ truncated: true });
  });

  test("that does not end is ended with all that it started, and answered once with EXEC_TIMEOUT", async () => {
    const { client, leaseId } = await held({ config: { exec: { timeoutMs: 300 } } });
    const pid = join(bench.root, "pid");
    const id = client.begin(
      "device.exec",
      script(leaseId, `trap '' TERM; sleep 600 & echo $! > ${pid}; wait; sleep 600`),
    );
    expect(await client.reply(id)).toEqual(failed("EXEC_TIMEOUT"));
    expect(runs(pidIn(pid))).toBe(false);
    expect(client.frames.filter((frame) => frame.push === undefined && frame.id === id)).toHaveLength(1);
  });

  test("is cancelled by its own connection only", async () => {
    const { client, leaseId, agent } = await held();
    const id = client.begin("device.exec", script(leaseId, "sleep 600"));
    await client.push("started");
    const same = await agent("a");
    expect(await same.ok("call.cancel", { callId: id })).toEqual({ found: false });
    expect(await client.ok("call.cancel", { callId: id })).toEqual({ found: true });
    expect(await client.reply(id)).toEqual(failed("EXEC_CANCELLED"));
    expect(await client.ok("call.cancel", { callId: id })).toEqual({ found: false });
  });

  test("over the limit is refused, and let in when another has ended", async () => {
    const { client, leaseId } = await held({ config: { exec: { maxConcurrent: 1 } } });
    const id = client.begin("device.exec", script(leaseId, "sleep 600"));
    await client.push("started");
    expect(await client.call("device.exec", script(leaseId, "true"))).toEqual(failed("EXEC_BUSY"));
    await client.ok("call.cancel", { callId: id });
    await client.reply(id);
    expect(await client.ok("device.exec", script(leaseId, "true"))).toEqual({ exitCode: 0 });
  });

  test("that shuts its own device down is told to the decider first, so that nobody boots it again", async () => {
    const { client, leaseId, driver, home, daemon } = await held();
    await client.ok("device.exec", { leaseId, tool: "simctl", args: ["shutdown"] });
    for (const device of driver.world.values()) device.runState = "stopped";
    driver.save();
    await daemon.stop("restart");
    const again = await bench.start({ home });
    await again.daemon.running;
    const back = await again.agent("a");
    expect(await back.ok("lease.list")).toMatchObject({ leases: [{ id: leaseId }] });
    expect(again.driver.steps).not.toContainEqual(expect.stringContaining("boot"));
  });

  test("on a device that can't be found is refused", async () => {
    const { client, leaseId, driver } = await held();
    driver.world.clear();
    expect(await client.call("device.exec", script(leaseId, "true"))).toEqual(failed("DEVICE_UNAVAILABLE"));
  });
});

describe("output", () => {
  test("is held back for a reader that gives no credit, while its connection answers all else", async () => {
    const { client, leaseId } = await held();
    const id = client.begin("device.exec", script(leaseId, "head -c 5000000 /dev/zero | tr '\\0' x"));
    await client.wait((frame) => frame.push === "output" && outputOf(client, id).length >= INITIAL_OUTPUT_CREDIT);
    const before = outputOf(client, id).length;
    expect(before).toBeLessThan(INITIAL_OUTPUT_CREDIT + 200_000);
    expect((await client.call("lease.renew", { leaseId })).ok).toBe(true);
    expect(outputOf(client, id)).toHaveLength(before);
    client.send({ push: "credit", payload: { requestId: id, characters: 10_000_000 } });
    expect((await client.reply(id)).payload).toEqual({ exitCode: 0 });
    expect(outputOf(client, id)).toHaveLength(5_000_000);
  });

  test("that nobody takes does not keep a command past its time limit", async () => {
    const { client, leaseId } = await held({ config: { exec: { timeoutMs: 400 } } });
    const id = client.begin("device.exec", script(leaseId, "exec head -c 3000000 /dev/zero"));
    expect(await client.reply(id)).toEqual(failed("EXEC_TIMEOUT"));
  });

  test("that nobody takes does not keep one that has ended from its answer", async () => {
    const { client, leaseId } = await held({ config: { exec: { timeoutMs: 1500 } } });
    // It ends with half a character, which is told of only at the end; where the last of it does not fit into what is under way, that is told instead.
    const line = `head -c ${INITIAL_OUTPUT_CREDIT + 10_000} /dev/zero | tr '\\0' x; printf '\\342'; exit 5`;
    const reply = await client.reply(client.begin("device.exec", script(leaseId, line)));
    expect(reply).toMatchObject({
      ok: true,
      payload: { exitCode: 5, notes: expect.arrayContaining([expect.stringMatching(/UTF-8|did not take all/)]) },
    });
  });

  test("of a caller that went away is dropped, and its command goes on to its end", async () => {
    const { client, leaseId, agent } = await held();
    const done = join(bench.root, "done");
    client.begin("device.exec", script(leaseId, `head -c 5000000 /dev/zero; echo yes > ${done}`));
    await client.push("output");
    client.close();
    await until(() => existsSync(done), "the command ends");
    expect(await (await agent("a")).ok("device.exec", script(leaseId, "true"))).toEqual({ exitCode: 0 });
  });

  test("of a caller that stops reading slows its command and no other", async () => {
    const { client, leaseId, agent } = await held();
    const slow = await agent("a");
    const id = slow.begin("device.exec", script(leaseId, "cat /dev/zero"));
    await slow.push("started");
    slow.send({ push: "credit", payload: { requestId: id, characters: 60_000_000 } });
    await slow.push("output");
    slow.socket.pause();
    for (let index = 0; index < 20; index++) {
      expect(await client.ok("device.exec", script(leaseId, "echo quick", { keepLast: 10 }))).toMatchObject({
        stdout: "quick\n",
      });
    }
    expect(slow.closed).toBe(false);
  });
});

describe("a lease that ends while its command runs", () => {
  test("lets it end, answers its result, and cleans the device only then", async () => {
    const { client, leaseId, driver } = await held();
    const go = join(bench.root, "go");
    const id = client.begin(
      "device.exec",
      script(leaseId, `while [ ! -e ${go} ]; do sleep 0.02; done; echo done; exit 4`),
    );
    await client.push("started");
    await client.ok("lease.release", { leaseId });
    expect(await client.call("device.exec", script(leaseId, "true"))).toEqual(failed("UNKNOWN_LEASE"));
    expect(driver.steps).not.toContainEqual(expect.stringContaining("clean"));
    writeFileSync(go, "");
    expect((await client.reply(id)).payload).toEqual({ exitCode: 4 });
    expect(outputOf(client, id)).toBe("done\n");
    await until(() => driver.steps.some((step) => step.startsWith("clean")), "the device is cleaned");
  });

  test("ends it after exec.drainMs, with all that it started, and says so", async () => {
    const { client, leaseId, driver } = await held({ config: { exec: { drainMs: 200 } } });
    const pid = join(bench.root, "pid");
    const id = client.begin("device.exec", script(leaseId, `sleep 600 & echo $! > ${pid}; wait`));
    await until(() => existsSync(pid) && readFileSync(pid, "utf8") !== "", "the command runs");
    let pidAtCleaning: boolean | undefined;
    driver.options = { before: (step) => void (step === "clean" && (pidAtCleaning = runs(pidIn(pid)))) };
    await client.ok("lease.release", { leaseId });
    const { payload } = await client.reply(id);
    expect(at(payload, "notes")).toEqual([expect.stringContaining("lease")]);
    await until(() => pidAtCleaning !== undefined, "the device is cleaned");
    expect(pidAtCleaning).toBe(false);
  });

  test("refuses one that has not begun yet", async () => {
    const { client, leaseId, driver } = await held();
    const finding = Promise.withResolvers<void>();
    driver.options = { before: async (step) => (step === "target" ? finding.promise : undefined) };
    const mark = join(bench.root, "mark");
    const id = client.begin("device.exec", script(leaseId, `touch ${mark}`));
    await until(() => driver.steps.some((step) => step.startsWith("target")), "the device is looked for");
    await client.ok("lease.release", { leaseId });
    finding.resolve();
    expect(await client.reply(id)).toEqual(failed("UNKNOWN_LEASE"));
    await until(() => driver.steps.some((step) => step.startsWith("clean")), "the device is cleaned");
    expect(existsSync(mark)).toBe(false);
  });
});

test("one recording at a time, whatever the simulator", async () => {
  const { client, leaseId, agent } = await held({
    fake: {
      tool: { file: "/bin/sh", prefix: ["-c", "echo recording; exec sleep 600", "simctl"], env: {} },
    },
  });
  const other = await agent("b");
  const second = text(await other.ok("lease.request", phone), "lease", "id");
  const record = { tool: "simctl", args: ["io", "recordVideo", "a.mp4"] };
  const first = client.begin("device.exec", { ...record, leaseId });
  await client.push("started");
  const next = other.begin("device.exec", { ...record, leaseId: second });
  expect((await other.call("lease.renew", { leaseId: second })).ok).toBe(true);
  expect(other.frames.some((frame) => frame.push === "started")).toBe(false);
  await client.ok("call.cancel", { callId: first });
  await other.push("started", (payload) => at(payload, "requestId") === next);
  await other.ok("call.cancel", { callId: next });
});
