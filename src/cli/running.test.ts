import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { setFaults } from "../virtual/index.ts";
import { errorOf, jsonLines, MAIN, PROCESS_TEST_MS, TestHome } from "./cli.fixture.ts";

vi.setConfig({ testTimeout: PROCESS_TEST_MS, hookTimeout: PROCESS_TEST_MS });

let home: TestHome;
let udid = "";
beforeAll(async () => {
  home = new TestHome();
  const { stdout } = await home.run(["lease", "--platform", "ios", "--device", "iPhone 17", "--detach"]);
  udid = (JSON.parse(stdout) as { device: { driverDeviceId: string } }).device.driverDeviceId;
});
afterAll(() => home.dispose());

test("the device is filled in, the streams are kept apart, the exit code is the tool's own", async () => {
  const done = await home.run(["run", "--", "simctl", "getenv", "HOME"]);
  expect(done).toMatchObject({ code: 0, stderr: "" });
  expect(done.stdout).toContain(udid);
  const failed = await home.run(["simctl", "launch", "com.example.not-there"]);
  expect(failed.code).not.toBe(0);
  expect(failed.stdout).toBe("");
  expect(failed.stderr).not.toContain('"error":{"code"');
});

test("a refusal is an error line with exit code 2, and the tool is not started", async () => {
  const refused = await home.run(["simctl", "erase", "booted"]);
  expect(refused.code).toBe(2);
  expect(errorOf(refused)).toMatchObject({
    code: "PASSTHROUGH_REFUSED",
    details: { token: "erase", reason: "lifecycle" },
  });
  const unknown = await home.run(["run", "--", "xcodebuild", "test"]);
  expect([unknown.code, errorOf(unknown).code]).toEqual([2, "UNKNOWN_PASSTHROUGH_TOOL"]);
});

test("--dry-run prints the decision and runs nothing", async () => {
  const picture = join(home.folder, "dry.png");
  const would = await home.run(["run", "--dry-run", "--json", "--", "simctl", "io", "booted", "screenshot", picture]);
  expect(would.code).toBe(0);
  const decision = JSON.parse(would.stdout) as { args: string[] };
  expect(decision).toMatchObject({
    decision: "run",
    tool: "simctl",
    flags: [],
    hostPaths: [{ access: "write", path: picture }],
  });
  expect(decision.args.slice(-5)).toEqual(["simctl", "io", udid, "screenshot", picture]);
  expect(existsSync(picture)).toBe(false);
  const refused = await home.run(["run", "--dry-run", "--json", "--", "simctl", "shutdown", "all"]);
  expect(refused).toMatchObject({ code: 2, stderr: "" });
  expect(JSON.parse(refused.stdout)).toMatchObject({ decision: "refuse", reason: "other-device", token: "all" });
});

test("standard input reaches a command that reads it, and is not waited for by one that does not", async () => {
  expect((await home.run(["simctl", "pbcopy"], { stdin: "grün 电\n" })).code).toBe(0);
  expect((await home.run(["simctl", "pbpaste"])).stdout).toBe("grün 电\n");
  // The pipe stays open: a command that waited for its end would never come back.
  const open = home.spawn("/bin/sh", [
    "-c",
    `sleep 300 | { "$@" simctl getenv HOME; kill $$; }`,
    "sh",
    process.execPath,
    MAIN,
  ]);
  expect(await open.said("stdout", udid)).toContain(udid);
  open.kill();
  await open.done;
});

test("a screenshot to standard output is exact to the byte", async () => {
  const file = join(home.folder, "shot.png");
  const line = `"$@" simctl io screenshot - > "${file}"`;
  expect((await home.spawn("/bin/sh", ["-c", line, "sh", process.execPath, MAIN]).done).code).toBe(0);
  const other = join(home.folder, "direct.png");
  expect((await home.run(["simctl", "io", "screenshot", other])).code).toBe(0);
  expect(readFileSync(file).equals(readFileSync(other))).toBe(true);
  expect(readFileSync(file).subarray(0, 8)).toEqual(Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]));
});

test("a relative path is relative to where the command was called", async () => {
  expect((await home.run(["simctl", "io", "screenshot", "here.png"], { cwd: home.folder })).code).toBe(0);
  expect(existsSync(join(home.folder, "here.png"))).toBe(true);
});

test("Ctrl-C ends a command that does not end, and its recording is whole", async () => {
  const file = join(home.folder, "film.mov");
  const recording = home.start(["simctl", "io", "recordVideo", file]);
  await recording.said("stderr", "Recording started");
  recording.child.kill("SIGINT");
  expect((await recording.done).code).toBe(130);
  expect(readFileSync(file).length).toBeGreaterThan(0);
  const runs = JSON.parse((await home.run(["status", "--json"])).stdout) as { leases: unknown[] };
  expect(runs.leases).toHaveLength(1);
});

test("a reader that goes away ends the command and is no error", async () => {
  const line = `{ "$@" simctl spawn /bin/sh -c "while :; do echo line; sleep 0.01; done"; echo "code $?" >&2; } | head -c 1 >/dev/null`;
  const done = await home.spawn("/bin/sh", ["-c", line, "sh", process.execPath, MAIN]).done;
  expect(done.stderr).toContain("code 141");
  expect(jsonLines(done.stderr)).toEqual([]);
});

test("which lease is meant: the named one, SIMLOCK_LEASE, or the only one", async () => {
  const named = await home.run(["run", "--lease", "lse_nope", "--", "simctl", "getenv", "HOME"]);
  expect(errorOf(named).code).toBe("UNKNOWN_LEASE");
  const fromEnvironment = await home.run(["simctl", "getenv", "HOME"], { env: { SIMLOCK_LEASE: "lse_nope" } });
  expect(errorOf(fromEnvironment).code).toBe("UNKNOWN_LEASE");
  const other = await home.run(["simctl", "getenv", "HOME"], { env: { SIMLOCK_AGENT_ID: "nobody" } });
  expect(errorOf(other)).toMatchObject({ code: "NO_LEASE", message: expect.stringContaining("nobody") });
});

test.skipIf(process.platform !== "linux" || !existsSync("/usr/bin/script"))(
  "on a terminal the command gets the terminal",
  async () => {
    const line = [process.execPath, MAIN, "simctl", "getenv", "HOME"].join(" ");
    const { stdout, code } = await home.spawn("/usr/bin/script", ["-qec", line, "/dev/null"]).done;
    expect(code).toBe(0);
    expect(stdout).toContain(udid);
    const status = await home.spawn("/usr/bin/script", [
      "-qec",
      [process.execPath, MAIN, "simctl", "erase"].join(" "),
      "/dev/null",
    ]).done;
    expect(status.code).toBe(2);
    // A person is told in words.
    expect(status.stdout).toContain("PASSTHROUGH_REFUSED");
    expect(jsonLines(status.stdout)).toEqual([]);
  },
);

test("what the daemon says of a device that fails is handed on with its code", async () => {
  setFaults(join(home.path, "virtual-mac"), {
    pace: "none",
    faults: [{ verb: "openurl", fail: { exit: 149, stderr: "An error was encountered\n" } }],
  });
  const failed = await home.run(["simctl", "openurl", "https://example.com"]);
  expect(failed).toMatchObject({ code: 149, stderr: "An error was encountered\n" });
});

test("config set checks before it writes, for the owner only, and says when a restart is due", async () => {
  const path = join(home.path, "config.json");
  writeFileSync(path, "{}");
  const set = await home.run(["config", "set", "lease.defaultTtlMs", "60000"]);
  expect(JSON.parse(set.stdout)).toEqual({ key: "lease.defaultTtlMs", value: 60_000, restart: true });
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ lease: { defaultTtlMs: 60_000 } });
  for (const [key, value, code] of [
    ["lease.defaultTtlMs", "never", "CONFIG_INVALID"],
    ["lease.defaultTtlMs", "99999999", "CONFIG_INVALID"],
    ["lease.nope", "1", "USAGE"],
    ["nope", "1", "USAGE"],
  ] as const) {
    const refused = await home.run(["config", "set", key, value]);
    expect([refused.code, errorOf(refused).code]).toEqual([2, code]);
  }
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ lease: { defaultTtlMs: 60_000 } });
  // The running daemon goes by what it read at its start.
  expect((await home.run(["config", "get", "lease.defaultTtlMs"])).stdout).toBe("900000\n");
  expect((await home.run(["config", "get", "ios.deviceSet"])).stdout).toBe("null\n");
  expect(errorOf(await home.run(["config", "get", "lease.nope"])).code).toBe("USAGE");
});

test("events print what happened, oldest first, to an admin only", async () => {
  const done = await home.run(["events", "--since", "1h"]);
  const events = jsonLines(done.stdout);
  expect(events.map(({ seq }) => seq)).toEqual(events.map(({ seq }) => Number(seq)).toSorted((a, b) => a - b));
  expect(events.map(({ event }) => event)).toEqual(expect.arrayContaining(["daemon.started", "lease.granted"]));
  const refused = await home.run(["events", "--token", "slk_wrong"]);
  expect([refused.code, errorOf(refused).code]).toEqual([1, "ADMIN_AUTHENTICATION_FAILED"]);
});

test("instructions and version need no daemon", async () => {
  const fresh = new TestHome();
  try {
    const text = await fresh.run(["instructions"]);
    expect(text.stdout).toContain("run_on_device");
    expect(JSON.parse((await fresh.run(["instructions", "--json"])).stdout)).toEqual({ instructions: text.stdout });
    expect((await fresh.run(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(await fresh.daemonPid()).toBeUndefined();
  } finally {
    await fresh.dispose();
  }
});
