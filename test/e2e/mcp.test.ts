import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { PNG } from "pngjs";
import type { LeaseGrant, Status } from "../../src/contract/index.ts";
import { makeSampleApp } from "../../src/virtual/index.ts";
import { until } from "../support/until.ts";
import { type McpAgent, type Protocol, TestHome } from "../support/virtual-home.ts";

/** The tools end to end: the official client, a spawned `simlock mcp`, a real daemon, a virtual Mac. */

const homes: TestHome[] = [];
const home = (options?: ConstructorParameters<typeof TestHome>[0]) => {
  const made = new TestHome(options);
  homes.push(made);
  return made;
};
afterEach(async () => {
  await Promise.all(homes.splice(0).map((one) => one.close()));
});

const NO_LEASE = "This MCP session holds no lease. Call lease_simulator first.";
const DESCRIPTION =
  "Run one simctl, adb or devicectl command on this session's leased device, on the machine that holds it. Leave the device out: Simlock fills in the lease's UDID or serial, and refuses a command that names another device. File paths are on that machine. Output is text: stdout and stderr each keep their last 32768 characters, and truncated says when any was cut. A non-zero exitCode is the command's own answer, not a tool error. There is no terminal: a bare adb shell is refused, and an interactive command hangs until the time limit (10 minutes by default) stops it.";

const sh = (script: string) => ({ tool: "simctl", args: ["spawn", "/bin/sh", "-c", script] });
const lease = async (agent: McpAgent) =>
  (await agent.must("lease_simulator", { platform: "ios" })) as unknown as LeaseGrant;

describe.each<Protocol>(["2025-11-25", "2026-07-28"])("over protocol %s", (protocol) => {
  test("an agent sees five tools, leases, runs, is refused, releases", async () => {
    const agent = await home().agent("anna", protocol);
    const { tools } = await agent.client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual([
      "list_devices",
      "lease_simulator",
      "release_simulator",
      "lease_status",
      "run_on_device",
    ]);
    const run = tools.find((tool) => tool.name === "run_on_device");
    expect(run?.description).toBe(DESCRIPTION);
    expect(Object.keys(run?.inputSchema.properties ?? {})).toEqual(["tool", "args", "stdin"]);

    expect(await agent.call("run_on_device", sh("true"))).toMatchObject({ code: "NO_LEASE", message: NO_LEASE });
    const { platforms } = await agent.must("list_devices", { platform: "ios" });
    expect(JSON.stringify(platforms)).toContain("iPhone 17");
    const grant = await lease(agent);
    expect(await agent.must("lease_status")).toMatchObject({ held: true, id: grant.lease.id });

    expect(await agent.must("run_on_device", sh("echo out; exit 0"))).toEqual({
      exitCode: 0,
      stdout: "out\n",
      stderr: "",
      truncated: false,
    });
    expect(await agent.must("run_on_device", sh("echo bad >&2; exit 3"))).toMatchObject({
      exitCode: 3,
      stderr: "bad\n",
    });
    expect(await agent.must("run_on_device", { ...sh("cat"), stdin: "given" })).toMatchObject({ stdout: "given" });
    const long = await agent.must("run_on_device", sh("head -c 40000 /dev/zero | tr '\\0' x; printf end"));
    expect(String(long["stdout"])).toHaveLength(32_768);
    expect(long).toMatchObject({ truncated: true });
    expect(String(long["stdout"]).endsWith("xend")).toBe(true);

    expect(await agent.call("run_on_device", { tool: "simctl", args: ["shutdown", "all"] })).toMatchObject({
      code: "PASSTHROUGH_REFUSED",
    });
    expect(await agent.call("run_on_device", { tool: "fastboot", args: [] })).toMatchObject({
      code: "UNKNOWN_PASSTHROUGH_TOOL",
    });
    const wrong = await agent
      .call("run_on_device", { ...sh("true"), leaseId: grant.lease.id })
      .catch((error: unknown) => error);
    expect(JSON.stringify(wrong, Object.getOwnPropertyNames(wrong))).toContain("leaseId");

    expect(await agent.must("release_simulator", { leaseId: grant.lease.id })).toEqual({
      leaseId: grant.lease.id,
      released: true,
    });
    expect(await agent.call("run_on_device", sh("true"))).toMatchObject({ code: "NO_LEASE" });
  });
});

test("each call is one line on standard error, with who called and what came of it, and without what it was given", async () => {
  const mac = home();
  const call = (id: number, name: string, args: object) =>
    JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } });
  const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
  const input = [
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: hello }),
    JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }),
    call(2, "run_on_device", sh("s3cret")),
    call(3, "run_on_device", { tool: "s3cret" }),
    call(4, "s3cret", {}),
  ];
  // The input ends with the calls under way: a daemon that they start would come up when nobody looks after it.
  expect((await mac.run(["daemon", "start"])).code).toBe(0);
  const { stderr } = await mac.run(["mcp"], { input: `${input.join("\n")}\n`, env: { SIMLOCK_AGENT_ID: "anna" } });
  const lines = stderr
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; requestId: string });
  const auth = { kind: "machine", subject: "anna", ownerId: "anna" };
  expect(lines.toSorted((a, b) => Number(a.requestId) - Number(b.requestId))).toMatchObject([
    { type: "mcp.tool_call", toolName: "run_on_device", outcome: "error", requestId: "2", auth },
    { type: "mcp.tool_call", toolName: "run_on_device", outcome: "error", code: "invalid_input", requestId: "3" },
    { type: "mcp.tool_call", toolName: "(unknown)", outcome: "denied", code: "not_found", requestId: "4" },
  ]);
  expect(stderr).not.toContain("s3cret");
});

test("lease_status answers while a command runs", async () => {
  const mac = home();
  const agent = await mac.agent("anna");
  const grant = await lease(agent);
  const go = join(mac.work, "go");
  let ended = false;
  const running = agent
    .must("run_on_device", sh(`until [ -e '${go}' ]; do sleep 0.05; done; echo done`))
    .then((result) => {
      ended = true;
      return result;
    });
  expect(await agent.must("lease_status")).toMatchObject({ held: true, id: grant.lease.id });
  expect(ended).toBe(false);
  await mac.run(["simctl", "spawn", "/bin/sh", "-c", `: > '${go}'`], { env: { SIMLOCK_AGENT_ID: "anna" } });
  expect(await running).toMatchObject({ exitCode: 0, stdout: "done\n" });
});

test("a cancelled call ends its command", async () => {
  const mac = home();
  const agent = await mac.agent("anna");
  await lease(agent);
  const ended = join(mac.work, "ended");
  const started = join(mac.work, "started");
  const cancel = new AbortController();
  const running = agent
    .call(
      "run_on_device",
      sh(`trap "echo x > '${ended}'; exit" INT TERM; : > '${started}'; while :; do sleep 0.05; done`),
      {
        signal: cancel.signal,
      },
    )
    .catch(() => "cancelled");
  await until(() => existsSync(started));
  cancel.abort();
  expect(await running).toBe("cancelled");
  await until(() => existsSync(ended));
});

test("an app is installed, launched, and seen on a screenshot that was saved to a file", async () => {
  const mac = home();
  const agent = await mac.agent("anna");
  await lease(agent);
  const app = await makeSampleApp(mac.work, { bundleId: "com.example.hello", name: "Hello" });
  const run = async (...args: string[]) => {
    const result = await agent.must("run_on_device", { tool: "simctl", args });
    expect(result).toMatchObject({ exitCode: 0 });
    return String(result["stdout"]);
  };
  await run("io", "screenshot", "before.png");
  await run("install", app);
  expect(await run("launch", "com.example.hello")).toMatch(/^com\.example\.hello: \d+\n$/);
  await run("io", "screenshot", "after.png");
  const [before, after] = await Promise.all(
    ["before.png", "after.png"].map(async (name) => PNG.sync.read(await readFile(join(mac.work, name)))),
  );
  expect([after?.width, after?.height]).toEqual([1206, 2622]);
  expect(before?.data.equals(after?.data ?? Buffer.alloc(0))).toBe(false);
});

test("two agents get two devices; a third waits, is told its place, and gets the one that is released", async () => {
  const mac = home({ config: { capacity: { strategy: "fixed", maxRunning: 2 } } });
  const [anna, ben, carol] = await Promise.all([mac.agent("anna"), mac.agent("ben", "2026-07-28"), mac.agent("carol")]);
  const [a, b] = await Promise.all([lease(anna), lease(ben)]);
  expect(a.device.driverDeviceId).not.toBe(b.device.driverDeviceId);
  const told: string[] = [];
  const waiting = carol.call("lease_simulator", { platform: "ios" }, { onprogress: (message) => told.push(message) });
  await until(() => told.length > 0);
  expect(told[0]).toMatch(/queue|behind|wait/i);
  await anna.must("release_simulator", { leaseId: a.lease.id });
  const got = (await waiting).facts as unknown as LeaseGrant;
  expect(got.device.driverDeviceId).toBe(a.device.driverDeviceId);
});

test("a session that ends gives its lease back; one that was killed and restarted adopts it", async () => {
  const mac = home();
  const first = await mac.agent("anna");
  const grant = await lease(first);
  process.kill(first.pid, "SIGKILL");
  const second = await mac.agent("anna");
  expect(await second.must("lease_status")).toMatchObject({ held: true, id: grant.lease.id });
  expect(await second.must("run_on_device", sh("echo still"))).toMatchObject({ stdout: "still\n" });
  await second.close();
  const leases = async () => ((await mac.json(["status", "--json"])) as unknown as Status).leases ?? [];
  await until(async () => (await leases()).length === 0);
});

test("a lease that an operator ends is announced, and the session says NO_LEASE from then on", async () => {
  const mac = home();
  const warnings: unknown[] = [];
  const agent = await mac.agent("anna", "2025-11-25", (client) => {
    client.setNotificationHandler("notifications/message", (notification: { params: unknown }) => {
      warnings.push(notification.params);
    });
  });
  const grant = await lease(agent);
  expect((await mac.run(["release", grant.lease.id, "--force", "--agent-id", "operator"])).code).toBe(0);
  await until(() => warnings.length > 0);
  expect(warnings).toMatchObject([
    { level: "warning", logger: "simlock", data: { leaseId: grant.lease.id, reason: "killed" } },
  ]);
  expect(await agent.call("run_on_device", sh("true"))).toMatchObject({ code: "NO_LEASE", message: NO_LEASE });
});
