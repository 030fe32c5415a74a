import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { errorOf, jsonLines, MAIN, PROCESS_TEST_MS, TestHome } from "./cli.fixture.ts";

vi.setConfig({ testTimeout: PROCESS_TEST_MS, hookTimeout: PROCESS_TEST_MS });

let home: TestHome;
beforeAll(() => {
  home = new TestHome({ capacity: { strategy: "fixed", maxRunning: 1 } });
});
afterEach(async () => {
  await home.run(["release", "--all", "--yes"]);
});
afterAll(() => home.dispose());

const ASK = ["lease", "--platform", "ios", "--device", "iPhone 17"];

interface Grant {
  readonly device: { readonly id: string; readonly driverDeviceId: string };
  readonly lease: { readonly id: string; readonly ttlMs: number; readonly ttlDeadline: number };
  readonly environment: Readonly<Record<string, string>>;
  readonly role: string;
}

function grantOf(stdout: string): Grant {
  const [line, ...others] = stdout.split("\n").filter((text) => text !== "");
  expect(others).toEqual([]);
  return JSON.parse(line ?? "") as Grant;
}

async function leases(): Promise<{ id: string; requesterId: string; ttlDeadline: number }[]> {
  const status = JSON.parse((await home.run(["status", "--json"])).stdout) as {
    leases: { id: string; requesterId: string; ttlDeadline: number }[];
  };
  return status.leases;
}

/** Waits for the daemon to say that this happened. */
async function happened(event: string, leaseId: string): Promise<Record<string, unknown>> {
  const watching = home.start(["events", "--follow", "--since", "10m"]);
  try {
    for (;;) {
      const found = jsonLines(watching.stdout).find(
        (line) => line["event"] === event && (line["payload"] as { leaseId?: string }).leaseId === leaseId,
      );
      if (found !== undefined) return found["payload"] as Record<string, unknown>;
      await new Promise((resolve) => watching.child.stdout?.once("data", resolve));
    }
  } finally {
    watching.kill();
    await watching.done;
  }
}

test("--detach prints the grant and ends, renew extends it, release gives it back", async () => {
  const leased = await home.run([...ASK, "--ttl", "5m", "--detach"]);
  expect(leased.code).toBe(0);
  const grant = grantOf(leased.stdout);
  expect(grant).toMatchObject({
    role: "agent",
    lease: { ttlMs: 300_000 },
    environment: { SIMLOCK_DEVICE_UDID: grant.device.driverDeviceId },
  });
  expect(jsonLines(leased.stderr).every(({ push }) => push === "progress")).toBe(true);
  expect(jsonLines(leased.stderr).map(({ stage }) => stage)).toContain("booting");

  const renewed = JSON.parse((await home.run(["renew", "--ttl", "10m"])).stdout) as { id: string; ttlMs: number };
  expect(renewed).toMatchObject({ id: grant.lease.id, ttlMs: 600_000 });
  expect(await home.run(["release"])).toMatchObject({ code: 0, stdout: `{"leaseId":"${grant.lease.id}"}\n` });
  expect(errorOf(await home.run(["release"]))).toMatchObject({ code: "NO_LEASE" });
  const gone = await home.run(["renew", grant.lease.id]);
  expect(errorOf(gone).code).toBe("UNKNOWN_LEASE");
  expect(gone.code).toBe(1);
});

test("a holder stays, renews at a third of the lease, and gives it back on a signal", async () => {
  const holder = home.start([...ASK, "--ttl", "1500ms"]);
  const grant = grantOf(await holder.said("stdout", "\n"));
  expect(await happened("lease.renewed", grant.lease.id)).toMatchObject({ leaseId: grant.lease.id });
  holder.child.kill("SIGTERM");
  expect((await holder.done).code).toBe(0);
  expect(await happened("lease.released", grant.lease.id)).toMatchObject({ reason: "explicit" });
});

test("a holder that is killed outright loses its lease at once", async () => {
  const holder = home.start(ASK);
  const grant = grantOf(await holder.said("stdout", "\n"));
  holder.child.kill("SIGKILL");
  expect(await happened("lease.released", grant.lease.id)).toMatchObject({ reason: "holder-gone" });
});

test("a holder ends with the process that started it", async () => {
  // The shell stays between us and the holder, and is killed while it waits.
  const shell = home.spawn("/bin/sh", ["-c", `"$0" "$@" & wait`, process.execPath, MAIN, ...ASK]);
  const grant = grantOf(await shell.said("stdout", "\n"));
  shell.child.kill("SIGKILL");
  expect(await happened("lease.released", grant.lease.id)).toMatchObject({ reason: "explicit" });
});

test("a lease that is ended under its holder is told in the last line, with exit code 14", async () => {
  const holder = home.start(ASK);
  const { lease } = grantOf(await holder.said("stdout", "\n"));
  const refused = await home.run(["release", lease.id, "--agent-id", "somebody-else"]);
  expect(errorOf(refused)).toMatchObject({ code: "FORBIDDEN" });
  expect((await home.run(["release", lease.id, "--force", "--agent-id", "somebody-else"])).code).toBe(0);
  const done = await holder.done;
  expect(done.code).toBe(14);
  expect(jsonLines(done.stderr).at(-1)).toMatchObject({ push: "lease-lost", leaseId: lease.id, reason: "killed" });
});

test("a holder keeps its lease over a restart of the daemon", async () => {
  const holder = home.start([...ASK, "--ttl", "30s"]);
  const { lease } = grantOf(await holder.said("stdout", "\n"));
  expect((await home.run(["daemon", "restart"])).code).toBe(0);
  await holder.said("stderr", '"push":"reconnected"');
  expect((await leases()).map(({ id }) => id)).toEqual([lease.id]);
  holder.child.kill("SIGINT");
  expect((await holder.done).code).toBe(0);
  expect(await leases()).toEqual([]);
});

test("--export-env prints lines that a shell evaluates", async () => {
  const { stdout } = await home.run([...ASK, "--detach", "--export-env"]);
  const shown = await home.spawn("/bin/sh", ["-c", `${stdout}\nprintf '%s|%s' "$SIMLOCK_LEASE" "$SIMLOCK_DEVICE_UDID"`])
    .done;
  const [held] = await leases();
  expect(shown.stdout).toMatch(new RegExp(`^${held?.id}\\|[0-9A-F-]{36}$`));
});

test("the busy are told who holds what, until when, and what to do, each with its exit code", async () => {
  const held = grantOf((await home.run([...ASK, "--detach", "--agent-id", "bob"])).stdout);
  const none = await home.run([...ASK, "--no-wait", "--agent-id", "eve"]);
  expect(none.code).toBe(11);
  const holder = { leaseId: held.lease.id, requesterId: "bob", model: "iPhone 17", expiresAt: held.lease.ttlDeadline };
  expect(errorOf(none)).toMatchObject({
    code: "NO_CAPACITY",
    message: expect.stringContaining("bob"),
    hint: expect.stringContaining("simlock status"),
    details: { holders: [holder] },
  });
  const late = await home.run([...ASK, "--timeout", "300ms", "--agent-id", "eve"]);
  expect([late.code, errorOf(late).code]).toEqual([10, "QUEUE_TIMEOUT"]);
  const queued = jsonLines(late.stderr).find(({ push }) => push === "progress");
  expect(queued).toMatchObject({ stage: "queued", queuePosition: 1, reason: "capacity" });
  const again = await home.run([...ASK, "--agent-id", "bob"]);
  expect([again.code, errorOf(again).code]).toEqual([13, "REQUESTER_ALREADY_LEASED"]);
  expect(errorOf(again).hint).toContain(held.lease.id);
  const unknown = await home.run(["lease", "--platform", "ios", "--device", "iPhone 99"]);
  expect([unknown.code, errorOf(unknown).code]).toEqual([12, "UNKNOWN_MODEL"]);
});

test("who waits and is told to stop takes the request back", async () => {
  await home.run([...ASK, "--detach", "--agent-id", "bob"]);
  const waiting = home.start([...ASK, "--agent-id", "eve"]);
  await waiting.said("stderr", '"stage":"queued"');
  waiting.child.kill("SIGINT");
  expect(await waiting.done).toMatchObject({ code: 130, stdout: "" });
  expect(JSON.parse((await home.run(["status", "--json"])).stdout)).toMatchObject({ waiting: [] });
});

test("release --all needs the admin secret and a yes", async () => {
  await home.run([...ASK, "--detach"]);
  expect(errorOf(await home.run(["release", "--all"]))).toMatchObject({
    code: "USAGE",
    hint: expect.stringContaining("--yes"),
  });
  expect(errorOf(await home.run(["release", "--all", "--yes", "--token", "wrong"])).code).toBe(
    "ADMIN_AUTHENTICATION_FAILED",
  );
  expect((await home.run(["release", "--all", "--yes"])).code).toBe(0);
  expect(await leases()).toEqual([]);
});

test("with runs a command with the lease in its environment, in front of it the simulated xcrun, and exits as it does", async () => {
  const script = `echo "$SIMLOCK_LEASE $SIMLOCK_DEVICE_UDID"; xcrun simctl list devices booted | grep "$SIMLOCK_DEVICE_UDID"; "$@" simctl getenv HOME; exit 7`;
  const done = await home.run([
    "with",
    "--platform",
    "ios",
    "--agent-id",
    "w",
    "--",
    "sh",
    "-c",
    script,
    "sh",
    process.execPath,
    MAIN,
  ]);
  expect(done.code).toBe(7);
  const [first = "", second = "", third = ""] = done.stdout.split("\n");
  const [lease = "", udid = ""] = first.split(" ");
  expect(second).toContain(`(${udid}) (Booted)`);
  expect(third).toContain(udid);
  expect(await happened("lease.released", lease)).toMatchObject({ reason: "explicit" });
});

test("with hands signals on and tells of a command that a signal ended", async () => {
  const script = `trap 'echo caught; exit 3' TERM; echo ready; while :; do sleep 0.05; done`;
  const caught = home.start(["with", "--platform", "ios", "--", "sh", "-c", script]);
  await caught.said("stdout", "ready");
  caught.child.kill("SIGTERM");
  expect(await caught.done).toMatchObject({ code: 3, stdout: expect.stringContaining("caught") });
  expect((await home.run(["with", "--platform", "ios", "--", "sh", "-c", "kill -9 $$"])).code).toBe(137);
  expect(await leases()).toEqual([]);
});

test("with ends its command, and what that started, when the lease is lost", async () => {
  const running = home.start([
    "with",
    "--platform",
    "ios",
    "--",
    "sh",
    "-c",
    `sleep 300 & echo "$SIMLOCK_LEASE"; wait`,
  ]);
  const lease = (await running.said("stdout", "\n")).trim();
  await home.run(["release", lease, "--force", "--agent-id", "an-operator"]);
  const done = await running.done;
  expect(done.code).toBe(14);
  expect(jsonLines(done.stderr).at(-1)).toMatchObject({ push: "lease-lost", leaseId: lease });
});

test("with takes no device for a command that is not there", async () => {
  const done = await home.run(["with", "--platform", "ios", "--", "no-such-command"]);
  expect([done.code, errorOf(done).code]).toEqual([2, "USAGE"]);
  const notExecutable = join(home.folder, "plain");
  writeFileSync(notExecutable, "");
  chmodSync(notExecutable, 0o644);
  expect((await home.run(["with", "--platform", "ios", "--", notExecutable])).code).toBe(2);
  expect(await leases()).toEqual([]);
});
