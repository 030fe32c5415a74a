import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { afterEach, expect, test } from "vitest";
import { DeviceId, LeaseId, OPERATIONS, SimlockError } from "../contract/index.ts";
import { listedSchemas, type ToolCallEvent } from "../tool/index.ts";
import { openTo } from "./index.ts";
import { leasesOf } from "./leases.ts";
import { createMcpServer } from "./server.ts";
import { McpSession } from "./session.ts";
import { failing, FakeClock, FakeDaemon, settled } from "./test-support.ts";

const DESCRIPTION =
  "Run one simctl, adb or devicectl command on this session's leased device, on the machine that holds it. Leave the device out: Simlock fills in the lease's UDID or serial, and refuses a command that names another device. File paths are on that machine. Output is text: stdout and stderr each keep their last 32768 characters, and truncated says when any was cut. A non-zero exitCode is the command's own answer, not a tool error. There is no terminal: a bare adb shell is refused, and an interactive command hangs until the time limit (10 minutes by default) stops it.";
const NO_LEASE = { code: "NO_LEASE", message: "This MCP session holds no lease. Call lease_simulator first." };
const INSTALL = { tool: "simctl", args: ["install", "/builds/App.app"] };

const LEASE_1 = { leaseId: LeaseId.parse("lse_1"), deviceId: DeviceId.parse("dev_1") };

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function connected() {
  const clock = new FakeClock();
  const daemon = new FakeDaemon(clock);
  const session = new McpSession({ connect: daemon.connect, clock });
  const faults: unknown[] = [];
  const events: ToolCallEvent[] = [];
  const toolset = await openTo("agent-1", leasesOf(session, clock), (event) => void events.push(event));
  const server = createMcpServer(toolset, {
    version: "1.2.3",
    onFault: (_tool, fault) => faults.push(fault),
  });
  const client = new Client({ name: "test", version: "1" });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.connect(far);
  await client.connect(near);
  closers.push(async () => {
    await client.close();
    // Nothing here runs on the real clock: what close waits for has to be let through.
    const closing = session.close();
    await clock.advance(5000);
    await closing;
  });
  const call = (name: string, args: Record<string, unknown> = {}, options = {}) =>
    client.callTool({ name, arguments: args }, options);
  const lease = async () => {
    const result = await call("lease_simulator", { platform: "ios" });
    const [leaseId] = daemon.leases.keys();
    if (result.isError === true || leaseId === undefined) throw new Error("no lease");
    return leaseId;
  };
  return { clock, daemon, session, server, client, call, lease, faults, events };
}

function textOf(result: { content: readonly { type: string; text?: unknown }[] }): string {
  const [item] = result.content;
  if (result.content.length !== 1 || item?.type !== "text" || typeof item.text !== "string")
    throw new Error("not one text");
  return item.text;
}
const errorOf = (result: { isError?: boolean | undefined; content: readonly { type: string; text?: unknown }[] }) => {
  expect(result.isError).toBe(true);
  return JSON.parse(textOf(result)) as { code: string; message: string; hint?: string; details?: unknown };
};

test("an agent with a lease gets its command's output and exit code, and names no lease itself", async () => {
  const { daemon, call, lease } = await connected();
  const leaseId = await lease();
  daemon.exec = async () => ({ exitCode: 0, stdout: "installed\n", stderr: "", truncated: false });
  const result = await call("run_on_device", INSTALL);
  const facts = { exitCode: 0, stdout: "installed\n", stderr: "", truncated: false };
  expect(result.structuredContent).toEqual(facts);
  expect(JSON.parse(textOf(result))).toEqual(facts);
  expect(daemon.inputsOf("device.exec")).toEqual([{ leaseId, ...INSTALL, keepLast: 32_768 }]);
});

test("a non-zero exit code is the command's answer, not an error", async () => {
  const { daemon, call, lease } = await connected();
  await lease();
  daemon.exec = async () => ({ exitCode: 3, stdout: "", stderr: "No such app\n", truncated: false });
  const result = await call("run_on_device", INSTALL);
  expect(result.isError).toBeFalsy();
  expect(result.structuredContent).toEqual({ exitCode: 3, stdout: "", stderr: "No such app\n", truncated: false });
});

test("standard input is passed through", async () => {
  const { daemon, call, lease } = await connected();
  await lease();
  await call("run_on_device", { tool: "adb", args: ["shell", "cat"], stdin: "hällo\n" });
  expect(daemon.inputsOf("device.exec")[0]).toMatchObject({ stdin: "hällo\n" });
});

test("each stream keeps its last 32,768 characters, and says whether any were cut", async () => {
  const { daemon, call, lease } = await connected();
  await lease();
  const full = "x".repeat(32_768);
  const cases: [{ stdout: string; stderr: string }, object][] = [
    [
      { stdout: `cut${full}`, stderr: "e" },
      { stdout: full, stderr: "e", truncated: true },
    ],
    [
      { stdout: "o", stderr: `cut${full}` },
      { stdout: "o", stderr: full, truncated: true },
    ],
    [
      { stdout: full, stderr: full },
      { stdout: full, stderr: full, truncated: false },
    ],
    // Half of an emoji at the cut would be no character at all.
    [
      { stdout: `😀${full.slice(1)}`, stderr: "" },
      { stdout: full.slice(1), stderr: "", truncated: true },
    ],
  ];
  for (const [output, expected] of cases) {
    daemon.exec = async () => ({ exitCode: 0, ...output });
    const result = await call("run_on_device", INSTALL);
    expect(result.structuredContent).toEqual({ exitCode: 0, ...expected });
  }
});

test("what the daemon kept is passed on with its word that more was cut, and its notes stand after the command's errors", async () => {
  const { daemon, call, lease } = await connected();
  await lease();
  daemon.exec = async () => ({
    exitCode: 0,
    stdout: "tail",
    stderr: "oops",
    truncated: true,
    notes: ["stdout was not UTF-8"],
  });
  const result = await call("run_on_device", INSTALL);
  expect(result.structuredContent).toEqual({
    exitCode: 0,
    stdout: "tail",
    stderr: "oops\nsimlock: stdout was not UTF-8\n",
    truncated: true,
  });
});

test("an agent that never leased gets NO_LEASE", async () => {
  const { daemon, call } = await connected();
  expect(errorOf(await call("run_on_device", INSTALL))).toEqual(NO_LEASE);
  expect(daemon.inputsOf("device.exec")).toEqual([]);
});

test("an agent that released gets NO_LEASE", async () => {
  const { call, lease } = await connected();
  const leaseId = await lease();
  expect((await call("release_simulator", { leaseId })).structuredContent).toEqual({ leaseId, released: true });
  expect(errorOf(await call("run_on_device", INSTALL))).toEqual(NO_LEASE);
});

test("an agent whose lease was lost gets NO_LEASE", async () => {
  const { daemon, call, lease } = await connected();
  daemon.endLease(await lease());
  expect(errorOf(await call("run_on_device", INSTALL))).toEqual(NO_LEASE);
});

test("the daemon's errors come back as they are, with their next step", async () => {
  const { daemon, call, lease } = await connected();
  await lease();
  for (const code of ["PASSTHROUGH_REFUSED", "UNKNOWN_PASSTHROUGH_TOOL", "EXEC_TIMEOUT"] as const) {
    daemon.exec = () =>
      Promise.reject(new SimlockError(code, `Said: ${code}`, { hint: "Do this.", details: { a: 1 } }));
    expect(errorOf(await call("run_on_device", INSTALL))).toEqual({
      code,
      message: `Said: ${code}`,
      hint: "Do this.",
      details: { a: 1 },
    });
  }
});

test("a fault of ours is INTERNAL without its text, and is reported aside", async () => {
  const { daemon, call, lease, faults } = await connected();
  await lease();
  daemon.exec = () => Promise.reject(new TypeError("secret of the device"));
  const result = await call("run_on_device", INSTALL);
  expect(errorOf(result).code).toBe("INTERNAL");
  expect(textOf(result)).not.toContain("secret");
  expect(faults).toHaveLength(1);
});

test("each call is told once, with what came of it, and never what it was given", async () => {
  const { daemon, client, call, lease, events } = await connected();
  await lease();
  daemon.exec = () => Promise.reject(new SimlockError("EXEC_BUSY", "Another command runs."));
  await call("run_on_device", { ...INSTALL, args: ["install", "s3cret"] });
  await call("run_on_device", { tool: "simctl", args: ["s3cret"], leaseId: "s3cret" });
  await expect(client.callTool({ name: "s3cret", arguments: {} })).rejects.toThrow("not found");
  expect(events.map(({ toolName, outcome, code }) => [toolName, outcome, code])).toEqual([
    ["lease_simulator", "ok", undefined],
    ["run_on_device", "error", "EXEC_BUSY"],
    ["run_on_device", "error", "invalid_input"],
    ["(unknown)", "denied", "not_found"],
  ]);
  expect(events[0]?.auth).toEqual({ kind: "machine", subject: "agent-1", ownerId: "agent-1" });
  expect(JSON.stringify(events)).not.toContain("s3cret");
});

/** A command that the test ends, its news of output in hand. */
function heldCommand(daemon: FakeDaemon) {
  const end = Promise.withResolvers<{ exitCode: number; stdout: string; stderr: string; truncated: boolean }>();
  const command = {
    output: () => {},
    started: false,
    end: () => end.resolve(DONE),
    signal: undefined as AbortSignal | undefined,
  };
  daemon.exec = (_input, options) => {
    command.started = true;
    command.output = () => options.onActivity?.({ stdout: 1, stderr: 0 });
    command.signal = options.signal;
    return end.promise;
  };
  return command;
}
const DONE = { exitCode: 0, stdout: "", stderr: "", truncated: false };

test.for([
  { name: "three chunks within a second make one", at: [100, 400, 700], until: 900, expected: 1 },
  { name: "chunks 1.5 s apart make two", at: [0, 1500], until: 1600, expected: 2 },
  { name: "25 s of silence make two", at: [], until: 25_000, expected: 2 },
])("progress of a command: $name", async ({ at, until, expected }) => {
  const { clock, daemon, call, lease } = await connected();
  await lease();
  const command = heldCommand(daemon);
  const seen: { progress: number; message?: string | undefined }[] = [];
  const result = call("run_on_device", INSTALL, { onprogress: (progress: (typeof seen)[0]) => seen.push(progress) });
  await settled();
  expect(command.started).toBe(true);
  for (const time of at) {
    await clock.advance(time - clock.now());
    command.output();
  }
  await clock.advance(until - clock.now());
  expect(seen).toHaveLength(expected);
  expect(seen.every(({ message }) => message === "Running simctl install")).toBe(true);
  expect(new Set(seen.map(({ progress }) => progress)).size).toBe(expected);
  command.end();
  await result;
  command.output();
  await clock.advance(30_000);
  expect(seen).toHaveLength(expected);
});

test("the progress of a command without arguments names the tool alone", async () => {
  const { clock, daemon, call, lease } = await connected();
  await lease();
  const command = heldCommand(daemon);
  const messages: (string | undefined)[] = [];
  const result = call(
    "run_on_device",
    { tool: "simctl", args: [] },
    { onprogress: ({ message }: { message?: string }) => messages.push(message) },
  );
  await settled();
  await clock.advance(10_000);
  command.end();
  await result;
  expect(messages).toEqual(["Running simctl"]);
});

test("without a token there is no progress", async () => {
  const { clock, daemon, call, client, lease } = await connected();
  await lease();
  const command = heldCommand(daemon);
  const heard: string[] = [];
  client.fallbackNotificationHandler = async ({ method }) => void heard.push(method);
  client.setNotificationHandler("notifications/progress", async ({ method }) => void heard.push(method));
  const result = call("run_on_device", INSTALL);
  await settled();
  command.output();
  await clock.advance(25_000);
  command.end();
  await result;
  expect(heard).toEqual([]);
});

test("lease_status and list_devices answer while a command runs", async () => {
  const { daemon, call, lease } = await connected();
  const leaseId = await lease();
  const command = heldCommand(daemon);
  let ended = false;
  const running = call("run_on_device", INSTALL).then(() => (ended = true));
  expect((await call("lease_status")).structuredContent).toMatchObject({ held: true, id: leaseId });
  expect((await call("list_devices")).structuredContent).toEqual({ platforms: [] });
  expect(ended).toBe(false);
  command.end();
  await running;
});

test("two commands run side by side", async () => {
  const { daemon, call, lease } = await connected();
  await lease();
  const command = heldCommand(daemon);
  const first = call("run_on_device", INSTALL);
  await settled();
  daemon.exec = async () => DONE;
  await call("run_on_device", INSTALL);
  command.end();
  await first;
});

test("a client sees exactly five tools, strict in what they take", async () => {
  const { client } = await connected();
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    "list_devices",
    "lease_simulator",
    "release_simulator",
    "lease_status",
    "run_on_device",
  ]);
  const inputs = Object.fromEntries(tools.map((tool) => [tool.name, tool.inputSchema]));
  const fieldsOf = (name: string) => Object.keys(inputs[name]?.properties ?? {});
  expect(fieldsOf("list_devices")).toEqual(["platform"]);
  expect(fieldsOf("lease_simulator")).toEqual([
    ...["platform", "model", "class", "osVersion", "mode", "imageTag", "physical"],
    ...["allowDownload", "noWait", "timeoutMs", "ttlMs", "idempotencyKey"],
  ]);
  expect(inputs["lease_simulator"]?.required).toEqual(["platform"]);
  expect(fieldsOf("release_simulator")).toEqual(["leaseId"]);
  expect(fieldsOf("lease_status")).toEqual([]);
  expect(fieldsOf("run_on_device")).toEqual(["tool", "args", "stdin"]);
  expect(inputs["run_on_device"]?.required).toEqual(["tool", "args"]);
  expect(inputs["run_on_device"]?.properties).toMatchObject({ tool: { type: "string", minLength: 1 } });
  for (const tool of tools) {
    expect(tool.inputSchema).toMatchObject({ type: "object", additionalProperties: false });
    expect(tool.outputSchema).toMatchObject({ type: "object" });
  }
  const run = tools.find(({ name }) => name === "run_on_device");
  expect(run?.description).toBe(DESCRIPTION);
  expect(Object.keys(run?.outputSchema?.["properties"] ?? {})).toEqual(["exitCode", "stdout", "stderr", "truncated"]);
});

test("what the tools take and give is what the operations behind them do", async () => {
  const { client } = await connected();
  const { tools } = await client.listTools();
  const tool = (name: string) => tools.find((each) => each.name === name);
  const listed = (operation: "catalog.get" | "lease.request" | "device.exec") => listedSchemas(OPERATIONS[operation]);
  const propertiesOf = (operation: Parameters<typeof listed>[0]) =>
    listed(operation).inputSchema["properties"] as Readonly<Record<string, unknown>>;
  for (const [name, operation] of [
    ["list_devices", "catalog.get"],
    ["lease_simulator", "lease.request"],
    ["run_on_device", "device.exec"],
  ] as const) {
    for (const [field, schema] of Object.entries(tool(name)?.inputSchema.properties ?? {})) {
      expect(schema).toEqual(propertiesOf(operation)[field]);
    }
  }
  expect(tool("list_devices")?.outputSchema).toEqual(listed("catalog.get").outputSchema);
  expect(tool("lease_simulator")?.outputSchema).toEqual(listed("lease.request").outputSchema);
});

test("annotations follow what a tool can do", async () => {
  const { client } = await connected();
  const { tools } = await client.listTools();
  const readers = tools.filter((tool) => tool.annotations?.readOnlyHint === true).map(({ name }) => name);
  const destroyers = tools.filter((tool) => tool.annotations?.destructiveHint === true).map(({ name }) => name);
  expect(readers).toEqual(["list_devices", "lease_status"]);
  expect(destroyers).toEqual(["run_on_device"]);
});

test("the whole list of tools costs a model fewer than 6,000 tokens", async () => {
  const { client } = await connected();
  const { tools } = await client.listTools();
  expect(JSON.stringify(tools).length / 4).toBeLessThan(6000);
});

test.for([
  ["run_on_device", { ...INSTALL, leaseId: "lse_1" }, "leaseId"],
  ["run_on_device", { tool: "", args: [] }, "tool"],
  ["run_on_device", { tool: "simctl" }, "args"],
  ["run_on_device", { tool: "simctl", args: "listapps" }, "args"],
  ["lease_simulator", { platform: "ios", timeoutMs: "5" }, "timeoutMs"],
  ["lease_simulator", { platform: "ios", requesterId: "somebody" }, "requesterId"],
  ["lease_simulator", { platform: "ios", bindPid: 1234 }, "bindPid"],
  ["lease_status", { verbose: true }, "verbose"],
] as const)("malformed input is refused before %s runs: %o", async ([name, args, field]) => {
  const { daemon, call } = await connected();
  const result = await call(name, args);
  expect(result.isError).toBe(true);
  expect(result.isError).toBe(true);
  expect(textOf(result)).toContain(`Input validation error: Invalid arguments for tool ${name}`);
  expect(textOf(result)).toContain(field);
  expect(daemon.connects).toEqual([]);
});

test("model and class together are refused by the handler", async () => {
  const { daemon, call } = await connected();
  const result = await call("lease_simulator", { platform: "ios", model: "iPhone 17", class: "phone" });
  expect(errorOf(result)).toEqual({ code: "BAD_REQUEST", message: "class: name a model or a class, not both" });
  expect(daemon.inputsOf("lease.request")).toEqual([]);
});

test("a lease is answered as the grant, and shown by lease_status with its device", async () => {
  const { daemon, call } = await connected();
  const result = await call("lease_simulator", { platform: "ios", model: "iPhone 17", ttlMs: 60_000 });
  const [grant] = daemon.leases.values();
  expect(result.structuredContent).toEqual(grant);
  expect(JSON.parse(textOf(result))).toEqual(grant);
  expect(daemon.inputsOf("lease.request")).toEqual([{ platform: "ios", model: "iPhone 17", ttlMs: 60_000 }]);
  expect((await call("lease_status")).structuredContent).toEqual({
    held: true,
    ...grant?.lease,
    device: grant?.device,
    environment: grant?.environment,
  });
});

test("fields that a newer daemon adds are not passed on", async () => {
  const { daemon, call } = await connected();
  daemon.catalog = { platforms: [], more: "later" } as typeof daemon.catalog;
  expect((await call("list_devices", { platform: "ios" })).structuredContent).toEqual({ platforms: [] });
  expect(daemon.inputsOf("catalog.get")).toEqual([{ platform: "ios" }]);
});

test("a stale lease id is UNKNOWN_LEASE, and the lease held stays", async () => {
  const { call, lease } = await connected();
  await lease();
  expect(errorOf(await call("release_simulator", { leaseId: "lse_gone" })).code).toBe("UNKNOWN_LEASE");
  expect((await call("lease_status")).structuredContent).toMatchObject({ held: true });
});

test("lease progress rises on a scale of 3000 and says where the request stands and why", async () => {
  const { clock, daemon, call } = await connected();
  const granted = Promise.withResolvers<void>();
  let report: NonNullable<Parameters<NonNullable<typeof daemon.ask>>[1]["onProgress"]> = () => {};
  daemon.ask = async (_input, { onProgress }) => {
    report = onProgress ?? report;
    await granted.promise;
    return daemon.grant("claude-code:session-1");
  };
  const seen: { progress: number; total?: number | undefined; message?: string | undefined }[] = [];
  const result = call(
    "lease_simulator",
    { platform: "ios" },
    { onprogress: (progress: (typeof seen)[0]) => seen.push(progress) },
  );
  await settled();
  report({ stage: "queued", queuePosition: 3, reason: "capacity" });
  report({ stage: "queued", queuePosition: 2, reason: "older-request" });
  report({ stage: "queued", queuePosition: 1 });
  report({ stage: "provisioning", etaMs: 9000 });
  report({ stage: "reclaiming", etaMs: 9000 });
  report({ stage: "booting", etaMs: 30_000 });
  await clock.advance(20_000);
  granted.resolve();
  await result;
  report({ stage: "queued", queuePosition: 1 });
  await clock.advance(60_000);
  expect(seen).toEqual([
    {
      progress: 333,
      total: 3000,
      message: "Queued behind 2 other requests: every device that fits is in use, and no more may be made",
    },
    { progress: 500, total: 3000, message: "Queued behind 1 other request: an older request goes first" },
    { progress: 1000, total: 3000, message: "Next in queue" },
    { progress: 1100, total: 3000, message: "Provisioning device (~9s remaining)" },
    { progress: 1101, total: 3000, message: "Cleaning device (~9s remaining)" },
    { progress: 2032, total: 3000, message: "Booting device (~30s remaining)" },
    { progress: 2048, total: 3000, message: "Booting device (~20s remaining)" },
    { progress: 2091, total: 3000, message: "Booting device (~10s remaining)" },
  ]);
});

test("a cancelled command is ended", async () => {
  const { daemon, call, lease } = await connected();
  await lease();
  const command = heldCommand(daemon);
  const cancel = new AbortController();
  const result = call("run_on_device", INSTALL, { signal: cancel.signal });
  result.catch(() => {});
  await settled();
  cancel.abort();
  await expect(result).rejects.toThrow();
  await settled();
  expect(command.signal?.aborted).toBe(true);
  command.end();
});

test("a cancelled lease request is taken back, and the next one is heard", async () => {
  const { daemon, call } = await connected();
  daemon.ask = () => new Promise(() => {});
  const cancel = new AbortController();
  const waiting = call("lease_simulator", { platform: "ios" }, { signal: cancel.signal });
  waiting.catch(() => {});
  await settled();
  daemon.ask = undefined;
  cancel.abort();
  await expect(waiting).rejects.toThrow();
  const result = await call("lease_simulator", { platform: "ios" });
  expect(result.structuredContent).toMatchObject({ lease: { id: "lse_1" } });
});

test("a release waits for the lease request before it; a call cancelled before its turn never runs", async () => {
  const { daemon, call } = await connected();
  const granted = Promise.withResolvers<void>();
  daemon.ask = async () => {
    await granted.promise;
    return daemon.grant("claude-code:session-1");
  };
  const lease = call("lease_simulator", { platform: "ios" });
  const cancel = new AbortController();
  const second = call("lease_simulator", { platform: "android" }, { signal: cancel.signal });
  second.catch(() => {});
  const release = call("release_simulator", { leaseId: "lse_1" });
  await settled();
  cancel.abort();
  await settled();
  expect(daemon.inputsOf("lease.release")).toEqual([]);
  granted.resolve();
  await lease;
  expect((await release).structuredContent).toEqual({ leaseId: "lse_1", released: true });
  expect(daemon.inputsOf("lease.request")).toHaveLength(1);
});

test("a lost lease is told once, as a warning of the logger simlock", async () => {
  const { daemon, client, call, lease } = await connected();
  const heard: unknown[] = [];
  client.setNotificationHandler("notifications/message", async ({ params }) => void heard.push(params));
  const leaseId = await lease();
  const [connection] = daemon.clients;
  daemon.endLease(leaseId, "expired");
  connection?.push({ ...LEASE_1, reason: "expired" });
  await settled();
  expect(heard).toEqual([
    {
      level: "warning",
      logger: "simlock",
      data: {
        message:
          "Lease lse_1 is lost: its time to live ran out before it was renewed. The device is no longer yours; call lease_simulator for another.",
        leaseId,
        deviceId: "dev_1",
        reason: "expired",
      },
    },
  ]);
  expect((await call("lease_status")).structuredContent).toEqual({
    held: false,
    lost: { leaseId, reason: "expired" },
  });
});

test("an unhealthy device and its recovery are told, and a client that wants only errors hears neither", async () => {
  const { daemon, client, lease } = await connected();
  const heard: unknown[] = [];
  client.setNotificationHandler("notifications/message", async ({ params }) => void heard.push(params));
  await lease();
  const [connection] = daemon.clients;
  connection?.pushUnhealthy({ ...LEASE_1, reason: "crashed" });
  connection?.pushRecovered({ ...LEASE_1, attempts: 2 });
  await settled();
  expect(heard).toMatchObject([
    { level: "warning", logger: "simlock", data: { ...LEASE_1, reason: "crashed" } },
    { level: "info", logger: "simlock", data: { ...LEASE_1, attempts: 2 } },
  ]);
  await client.setLoggingLevel("error");
  connection?.pushUnhealthy({ ...LEASE_1, reason: "crashed" });
  await settled();
  expect(heard).toHaveLength(2);
});

test("a client may be told nothing of a daemon that fails: each call says so itself", async () => {
  const { daemon, call } = await connected();
  daemon.before = failing("catalog.get", "NO_DRIVER", "There is no driver for ios.");
  expect(errorOf(await call("list_devices"))).toEqual({
    code: "NO_DRIVER",
    message: "There is no driver for ios.",
    hint: "Run `simlock doctor`.",
  });
});
