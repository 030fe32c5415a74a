import { afterEach, expect, test } from "vitest";
import type { LeaseGrant, Status } from "../../src/contract/index.ts";
import { TestHome } from "../support/virtual-home.ts";

/** The main job through the command, as a shell script would do it. */

const homes: TestHome[] = [];
const home = (options?: ConstructorParameters<typeof TestHome>[0]) => {
  const made = new TestHome(options);
  homes.push(made);
  return made;
};
afterEach(async () => {
  await Promise.all(homes.splice(0).map((one) => one.close()));
});

const asGrant = (json: Record<string, unknown>) => json as unknown as LeaseGrant;
const errorOf = (stderr: string) => {
  const line = stderr
    .trim()
    .split("\n")
    .findLast((text) => text.startsWith('{"error"'));
  return (JSON.parse(line ?? "{}") as { error?: { code: string; message: string; hint?: string; details?: object } })
    .error;
};

test("a lease is granted, answers a command, and is given back", async () => {
  const mac = home();
  const grant = asGrant(await mac.json(["lease", "--platform", "ios", "--device", "iPhone 17", "--detach"]));
  expect(grant.device.spec).toMatchObject({ platform: "ios", model: "iPhone 17" });
  expect(grant.environment["SIMLOCK_DEVICE_UDID"]).toBe(grant.device.address);

  const listing = await mac.run(["run", "--", "simctl", "listapps"]);
  expect(listing).toMatchObject({ code: 0, stderr: "" });
  expect(listing.stdout).toContain('"com.apple.mobilesafari"');

  const status = (await mac.json(["status", "--json"])) as unknown as Status;
  expect(status.leases).toMatchObject([{ id: grant.lease.id }]);
  expect(status.devices).toMatchObject([{ state: "leased" }]);

  expect(await mac.json(["release"])).toEqual({ leaseId: grant.lease.id });
  const gone = await mac.run(["simctl", "listapps"]);
  expect(gone.code).toBe(1);
  expect(errorOf(gone.stderr)?.code).toBe("NO_LEASE");
});

test("a command that names another device, or changes its life, is refused with the token and the way to do it", async () => {
  const mac = home();
  await mac.json(["lease", "--platform", "ios", "--detach"]);
  const other = "11111111-2222-3333-4444-555555555555";
  const refused = await mac.run(["simctl", "install", other, "/tmp/App.app"]);
  expect(refused.code).toBe(2);
  expect(errorOf(refused.stderr)).toMatchObject({
    code: "PASSTHROUGH_REFUSED",
    details: { tool: "simctl", reason: "other-device", token: other },
  });
  expect(errorOf((await mac.run(["simctl", "erase", "booted"])).stderr)?.details).toMatchObject({
    reason: "lifecycle",
  });
  const unknown = await mac.run(["run", "--", "xcrun", "simctl", "list"]);
  expect([unknown.code, errorOf(unknown.stderr)?.code]).toEqual([2, "UNKNOWN_PASSTHROUGH_TOOL"]);
});

test("a dry run prints the decision and runs nothing", async () => {
  const mac = home();
  const grant = asGrant(await mac.json(["lease", "--platform", "ios", "--detach"]));
  const decided = await mac.run([
    "run",
    "--dry-run",
    "--json",
    "--",
    "simctl",
    "io",
    "booted",
    "screenshot",
    "shot.png",
  ]);
  expect(decided.code).toBe(0);
  expect(decided.stdout).toContain(grant.device.driverDeviceId);
  expect(decided.stdout).toContain("shot.png");
  const refused = await mac.run(["run", "--dry-run", "--json", "--", "simctl", "shutdown", "all"]);
  expect(refused.code).toBe(2);
  expect(`${refused.stdout}${refused.stderr}`).toContain("other-device");
});

test("a command exits with the tool's own code, its output and its input untouched", async () => {
  const mac = home();
  await mac.json(["lease", "--platform", "ios", "--detach"]);
  const odd = await mac.run(["simctl", "spawn", "/bin/sh", "-c", "cat; echo oops >&2; exit 7"], { input: "in\r\nput" });
  expect(odd).toEqual({ code: 7, stdout: "in\r\nput", stderr: "oops\n" });
  const killed = await mac.run(["simctl", "spawn", "/bin/sh", "-c", "kill -TERM $$"]);
  expect(killed.code).toBe(143);
});

test("`with` leases, runs with the grant's environment, releases, and exits with the command's code", async () => {
  const mac = home();
  const script =
    'test -n "$SIMLOCK_LEASE" && echo "$SIMLOCK_DEVICE_UDID" && xcrun simctl getenv "$SIMLOCK_DEVICE_UDID" HOME; exit 3';
  const ran = await mac.run(["with", "--platform", "ios", "--", "/bin/sh", "-c", script]);
  expect(ran.code).toBe(3);
  const [udid = "", folder = ""] = ran.stdout.split("\n");
  expect(udid).toMatch(/^[0-9A-F-]{36}$/);
  expect(folder).toContain(udid);
  expect(((await mac.json(["status", "--json"])) as unknown as Status).leases).toEqual([]);
});

test("a busy answer names the holder, the expiry and the next step", async () => {
  const mac = home({ config: { capacity: { strategy: "fixed", maxRunning: 1 } } });
  const held = asGrant(await mac.json(["lease", "--platform", "ios", "--detach", "--agent-id", "anna"]));
  const busy = await mac.run(["lease", "--platform", "ios", "--detach", "--no-wait", "--agent-id", "ben"]);
  expect(busy.code).toBe(11);
  const error = errorOf(busy.stderr);
  expect(error?.code).toBe("NO_CAPACITY");
  expect(error?.message).toContain("anna");
  expect(error?.message).toContain(new Date(held.lease.ttlDeadline).toISOString());
  expect(error?.hint).toBeTruthy();
  const again = await mac.run(["lease", "--platform", "ios", "--detach", "--agent-id", "anna"]);
  expect([again.code, errorOf(again.stderr)?.code]).toEqual([13, "REQUESTER_ALREADY_LEASED"]);
  const late = await mac.run(["lease", "--platform", "ios", "--detach", "--timeout", "300ms", "--agent-id", "ben"]);
  expect([late.code, errorOf(late.stderr)?.code]).toEqual([10, "QUEUE_TIMEOUT"]);
});

test("somebody else's lease takes an operator's force to end", async () => {
  const mac = home();
  const held = asGrant(await mac.json(["lease", "--platform", "ios", "--detach", "--agent-id", "anna"]));
  const polite = await mac.run(["release", held.lease.id, "--agent-id", "ben"]);
  expect([polite.code, errorOf(polite.stderr)?.code]).toEqual([1, "FORBIDDEN"]);
  expect((await mac.run(["release", held.lease.id, "--force", "--agent-id", "ben"])).code).toBe(0);
});

test("a lease survives a restart of the daemon, also a hard one", async () => {
  const mac = home();
  const held = asGrant(await mac.json(["lease", "--platform", "ios", "--detach"]));
  expect((await mac.run(["daemon", "restart"])).code).toBe(0);
  expect((await mac.run(["simctl", "getenv", "HOME"])).code).toBe(0);
  process.kill(await mac.daemonPid(), "SIGKILL");
  expect((await mac.run(["simctl", "getenv", "HOME"])).code).toBe(0);
  const after = (await mac.json(["status", "--json"])) as unknown as Status;
  expect(after.leases).toMatchObject([{ id: held.lease.id }]);
});

test("a home is real or virtual for life", async () => {
  const mac = home();
  await mac.json(["status", "--json"]);
  const real = await mac.run(["status"], { env: { SIMLOCK_VIRTUAL: "0" } });
  expect(real.code).toBe(2);
  expect(errorOf(real.stderr)).toMatchObject({ code: "HOME_MISMATCH" });
  expect(errorOf(real.stderr)?.hint).toContain("--virtual");
});

test("the next holder finds nothing of the last one", async () => {
  const mac = home({ config: { capacity: { strategy: "fixed", maxRunning: 1 } } });
  const first = asGrant(await mac.json(["lease", "--platform", "ios", "--detach", "--agent-id", "anna"]));
  const write = ["simctl", "spawn", "defaults", "write", "com.example.app", "secret", "anna-was-here"];
  expect((await mac.run(write, { env: { SIMLOCK_AGENT_ID: "anna" } })).code).toBe(0);
  await mac.json(["release", first.lease.id], { env: { SIMLOCK_AGENT_ID: "anna" } });
  const second = asGrant(await mac.json(["lease", "--platform", "ios", "--detach", "--agent-id", "ben"]));
  expect(second.device.driverDeviceId).toBe(first.device.driverDeviceId);
  const read = await mac.run(["simctl", "spawn", "defaults", "read", "com.example.app", "secret"], {
    env: { SIMLOCK_AGENT_ID: "ben" },
  });
  expect(read.code).not.toBe(0);
  expect(read.stdout).not.toContain("anna-was-here");
});
