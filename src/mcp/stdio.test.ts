import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { afterEach, expect, test } from "vitest";
import { SimlockError } from "../contract/index.ts";
import { MODERN_META, rawPeer, type Message } from "./peer.fixture.ts";
import { leasesOf } from "./leases.ts";
import { machineGate } from "./machine-gate.ts";
import { McpSession } from "./session.ts";
import { serveOverStdio } from "./stdio.ts";
import { FakeClock, FakeDaemon, settled } from "./test-support.ts";

const AGENT = "claude-code:session-1";
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** The whole stdio server in this process, its streams and its process in the test's hands. */
function served() {
  const clock = new FakeClock();
  const daemon = new FakeDaemon(clock);
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const watched = Object.assign(new EventEmitter(), { ppid: 41 });
  const reports: string[] = [];
  const session = new McpSession({
    connect: (options) => daemon.connect(options, AGENT),
    clock,
    ownPrincipal: "mcp:4711",
    cwd: "/home/agent/project",
  });
  const toolset = leasesOf(session, clock);
  const exit = serveOverStdio({
    toolset: { ...toolset, gate: machineGate(AGENT, toolset.tools) },
    version: "9.9.9",
    stdin,
    stdout,
    write: (chunk, written) => stdout.write(chunk, "utf8", written),
    report: (line) => reports.push(line),
    process: watched,
    clock,
  });
  closers.push(async () => {
    stdin.end();
    await clock.advance(10_000);
    await exit;
  });
  return { clock, daemon, stdin, stdout, watched, reports, exit };
}

function talking() {
  const world = served();
  return { ...world, ...rawPeer(world.stdin, world.stdout) };
}

/** Commands named `hang` wait to be cancelled. */
function hanging(daemon: FakeDaemon) {
  const heard = { started: 0, cancelled: 0 };
  daemon.exec = (_input, options) =>
    new Promise((_resolve, reject) => {
      heard.started += 1;
      options.signal?.addEventListener("abort", () => {
        heard.cancelled += 1;
        reject(new SimlockError("EXEC_CANCELLED", "Cancelled."));
      });
    });
  return heard;
}

test.for([
  ["2025-11-25", "2025-11-25"],
  ["2025-06-18", "2025-06-18"],
  ["2024-11-05", "2024-11-05"],
  ["2025-03-26", "2025-11-25"],
  ["2024-10-07", "2025-11-25"],
  ["2026-07-28", "2025-11-25"],
])("initialize with %s is answered with %s", async ([asked, answered]) => {
  const { initialize, ask } = talking();
  expect((await initialize(asked)).result).toMatchObject({
    protocolVersion: answered,
    serverInfo: { name: "simlock", version: "9.9.9" },
    capabilities: { tools: {}, logging: {}, resources: {} },
  });
  expect((await ask(2, "ping")).result).toEqual({});
  expect((await ask(3, "tools/list")).result?.["tools"]).toHaveLength(5);
});

test("raw garbage is answered line by line, and the session goes on", async () => {
  const { stdin, messages, initialize, call, send } = talking();
  await initialize();
  stdin.write("{nonsense\n[]\n5\n\n{}\n");
  stdin.write(`${"x".repeat(8 * 1024 * 1024 + 1)}\n`);
  stdin.write(Buffer.from([0xff, 0xfe, 10]));
  send([{ jsonrpc: "2.0", id: 50, method: "ping" }]);
  const badToken = { name: "lease_status", _meta: { progressToken: [] } };
  send({ jsonrpc: "2.0", id: 51, method: "tools/call", params: badToken });
  send({ jsonrpc: "2.0", id: 52, result: {} });
  expect((await call(60, "lease_status")).result).toMatchObject({ structuredContent: { held: false } });
  const errors = messages().filter((message) => message.error !== undefined);
  expect(errors.map(({ id, error }) => [id, error?.code])).toEqual([
    [null, -32700],
    [null, -32600],
    [null, -32600],
    [null, -32600],
    [null, -32600],
    [null, -32700],
    [null, -32600],
    [51, -32602],
  ]);
});

test("a message of 8 MiB is taken", async () => {
  const { daemon, initialize, call } = talking();
  await initialize();
  await call(1, "lease_simulator", { platform: "ios" });
  const stdin = "x".repeat(8 * 1024 * 1024 - 500);
  await call(2, "run_on_device", { tool: "adb", args: ["shell", "cat"], stdin });
  expect(daemon.inputsOf("device.exec")[0]?.stdin).toHaveLength(stdin.length);
});

test("unknown methods and tools are refused by their own codes in both eras", async () => {
  const legacy = talking();
  await legacy.initialize();
  expect((await legacy.ask(1, "no/such")).error?.code).toBe(-32601);
  expect((await legacy.ask(2, "prompts/list")).error?.code).toBe(-32601);
  expect((await legacy.call(3, "no_such_tool")).error?.code).toBe(-32602);
  const modern = talking();
  expect((await modern.ask(1, "no/such", { _meta: MODERN_META })).error?.code).toBe(-32601);
  expect((await modern.ask(2, "ping", { _meta: MODERN_META })).error?.code).toBe(-32601);
  expect((await modern.call(3, "no_such_tool", {}, MODERN_META)).error?.code).toBe(-32602);
  expect((await modern.ask(4, "tools/list")).error?.code).toBe(-32602);
});

test("every request that a legacy or modern server is given is answered, whatever its envelope holds", async () => {
  const odd = [
    { "io.modelcontextprotocol/related-task": 5 },
    { "io.modelcontextprotocol/clientInfo": "x" },
    { "io.modelcontextprotocol/logLevel": "loud" },
    { progressToken: 1.5 },
    { progressToken: null },
  ];
  const legacy = talking();
  await legacy.initialize();
  const modern = talking();
  for (const [id, meta] of odd.entries()) {
    expect((await legacy.ask(id, "tools/list", { _meta: meta })).id).toBe(id);
    expect((await modern.ask(id, "tools/list", { _meta: { ...MODERN_META, ...meta } })).id).toBe(id);
  }
});

test("after server/discover both ways are open, and a request without an envelope takes neither", async () => {
  const modern = talking();
  expect((await modern.ask(1, "server/discover", { _meta: MODERN_META })).result).toMatchObject({
    supportedVersions: ["2026-07-28"],
  });
  expect((await modern.ask(2, "tools/list")).error?.code).toBe(-32602);
  expect((await modern.ask(3, "tools/list", { _meta: MODERN_META })).result?.["tools"]).toHaveLength(5);
  const legacy = talking();
  await legacy.ask(1, "server/discover", { _meta: MODERN_META });
  expect((await legacy.initialize()).result).toMatchObject({ protocolVersion: "2025-11-25" });
  expect((await legacy.ask(2, "tools/list")).result?.["tools"]).toHaveLength(5);
});

test("in the modern era the loss of a lease is told to the next call that wants messages, once", async () => {
  const { daemon, messages, call } = talking();
  const wanting = { ...MODERN_META, "io.modelcontextprotocol/logLevel": "info" };
  await call(1, "lease_simulator", { platform: "ios" }, MODERN_META);
  daemon.endLease("lse_1");
  await call(2, "lease_status", {}, MODERN_META);
  const notes = () => messages().filter(({ method }) => method === "notifications/message");
  expect(notes()).toEqual([]);
  expect((await call(3, "lease_status", {}, wanting)).result).toMatchObject({
    structuredContent: { held: false, lost: { leaseId: "lse_1", reason: "killed" } },
  });
  await call(4, "lease_status", {}, wanting);
  expect(notes()).toMatchObject([{ params: { level: "warning", logger: "simlock", data: { leaseId: "lse_1" } } }]);
});

test("nothing connects to a daemon before a tool needs it", async () => {
  const { daemon, initialize, ask, call } = talking();
  await initialize();
  await ask(2, "tools/list");
  await ask(3, "resources/read", { uri: "simlock://instructions" });
  expect(daemon.connects).toEqual([]);
  await call(4, "list_devices");
  expect(daemon.connects).toEqual([{ launch: true }]);
});

test("commands run in the agent's working directory", async () => {
  const { daemon, initialize, call } = talking();
  await initialize();
  await call(1, "lease_simulator", { platform: "ios" });
  await call(2, "run_on_device", { tool: "simctl", args: ["install", "App.app"] });
  expect(daemon.inputsOf("device.exec")).toMatchObject([{ leaseId: "lse_1", cwd: "/home/agent/project" }]);
});

test("at the end of input the lease is given back, the command under way fails, and its answer is still written", async () => {
  const { daemon, stdin, initialize, call, hang, answer, exit } = talking();
  await initialize();
  await call(2, "lease_simulator", { platform: "ios" });
  const commands = hanging(daemon);
  hang(3);
  await settled();
  stdin.end();
  const { result } = await answer(3);
  expect(result).toMatchObject({ isError: true });
  expect(JSON.stringify(result)).toContain("SESSION_CLOSED");
  expect(await exit).toBe(0);
  expect(daemon.leases.size).toBe(0);
  // The daemon ends it in its own time: nobody cancelled it.
  expect(commands).toEqual({ started: 1, cancelled: 0 });
});

test("requests that are piped in are answered, the last one without a line end too", async () => {
  const { stdin, initialize, answer, exit } = talking();
  void initialize();
  stdin.write('{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_devices"}}\n');
  stdin.end('{"jsonrpc":"2.0","id":3,"method":"tools/list"}');
  expect((await answer(2)).result).toMatchObject({ structuredContent: { platforms: [] } });
  expect((await answer(3)).result?.["tools"]).toHaveLength(5);
  expect(await exit).toBe(0);
});

test.for([
  ["SIGTERM", 143],
  ["SIGINT", 130],
  ["SIGHUP", 129],
] as const)(
  "at %s the lease is given back, the exit code is %i, and the process is watched no more",
  async ([signal, code]) => {
    const { daemon, watched, initialize, call, exit } = talking();
    await initialize();
    await call(2, "lease_simulator", { platform: "ios" });
    watched.emit(signal);
    watched.emit(signal);
    expect(await exit).toBe(code);
    expect(daemon.leases.size).toBe(0);
    expect(watched.eventNames()).toEqual([]);
  },
);

test("when the parent has died, the lease is given back though the input is still open", async () => {
  const { daemon, watched, initialize, call, exit } = talking();
  await initialize();
  await call(2, "lease_simulator", { platform: "ios" });
  watched.ppid = 1;
  expect(await exit).toBe(0);
  expect(daemon.leases.size).toBe(0);
});

test("an input or an output that breaks ends the session", async () => {
  for (const side of ["stdin", "stdout"] as const) {
    const { daemon, initialize, call, exit, ...streams } = talking();
    await initialize();
    await call(2, "lease_simulator", { platform: "ios" });
    streams[side].destroy(Object.assign(new Error("broken"), { code: "EPIPE" }));
    expect(await exit).toBe(0);
    expect(daemon.leases.size).toBe(0);
  }
});

test("the end comes within its bounds though neither daemon nor client move", async () => {
  const { clock, daemon, stdin, initialize, call, hang, exit } = talking();
  await initialize();
  await call(2, "lease_simulator", { platform: "ios" });
  hanging(daemon);
  hang(3);
  daemon.before = () => new Promise(() => {});
  await settled();
  stdin.end();
  await settled();
  await clock.advance(3500);
  expect(await exit).toBe(0);
});

test("a cancelled call ends its command and is not answered", async () => {
  const { daemon, messages, initialize, call, send, hang } = talking();
  await initialize();
  await call(2, "lease_simulator", { platform: "ios" });
  const commands = hanging(daemon);
  hang(3);
  await settled();
  send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 3 } });
  await call(4, "lease_status");
  expect(commands).toEqual({ started: 1, cancelled: 1 });
  expect(messages().filter(({ id }) => id === 3)).toEqual([]);
});

test("a cancelled command that takes its time to end gives no more progress", async () => {
  const { clock, daemon, messages, initialize, call, send } = talking();
  await initialize();
  await call(2, "lease_simulator", { platform: "ios" });
  const end = Promise.withResolvers<never>();
  daemon.exec = () => end.promise;
  const run = { name: "run_on_device", arguments: { tool: "adb", args: ["x"] }, _meta: { progressToken: "t" } };
  send({ jsonrpc: "2.0", id: 3, method: "tools/call", params: run });
  await clock.advance(10_000);
  const progress = () => messages().filter(({ method }) => method === "notifications/progress").length;
  expect(progress()).toBe(1);
  send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 3 } });
  await clock.advance(30_000);
  expect(progress()).toBe(1);
  end.reject(new SimlockError("EXEC_CANCELLED", "Cancelled."));
  await settled();
  expect(clock.pending).toBe(1);
});

test("more than 64 requests under way at once are refused, and an id under way can't be used again", async () => {
  const { daemon, initialize, call, send, hang, answer, ask } = talking();
  await initialize();
  await call("lease", "lease_simulator", { platform: "ios" });
  hanging(daemon);
  for (let id = 1; id <= 65; id += 1) hang(id);
  expect((await answer(65)).error?.code).toBe(-32000);
  send({ jsonrpc: "2.0", id: 1, method: "ping" });
  expect((await answer(null)).error).toMatchObject({ code: -32600 });
  send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 64 } });
  expect((await ask(66, "ping")).result).toEqual({});
});

test("hundreds of quick requests in one chunk are all answered", async () => {
  const { stdin, initialize, messages, answer } = talking();
  await initialize();
  const ids = Array.from({ length: 500 }, (_, n) => n);
  stdin.write(ids.map((id) => `{"jsonrpc":"2.0","id":${id},"method":"tools/list"}\n`).join(""));
  await answer(499);
  const answered = messages().filter(({ result }) => result?.["tools"] !== undefined);
  expect(answered.map(({ id }) => id)).toEqual(ids);
});

test("a client that does not read is not heard either, so that its answers do not pile up; later it gets them all", async () => {
  const { stdin, stdout } = served();
  const count = 2000;
  const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: "init", method: "initialize", params: initialize })}\n`);
  for (let id = 0; id < count; id += 1) stdin.write(`{"jsonrpc":"2.0","id":${id},"method":"tools/list"}\n`);
  for (let turn = 0; turn < 50; turn += 1) await settled();
  const answerBytes = 10_000;
  expect(stdout.readableLength + stdout.writableLength).toBeLessThan(40 * answerBytes);
  const { answer, messages } = rawPeer(stdin, stdout);
  await answer(count - 1);
  expect(messages()).toHaveLength(count + 1);
});

test("progress is left out for a client that does not read; its result is kept", async () => {
  const { clock, daemon, stdin, stdout } = served();
  const quick = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  const say = (message: object) => stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  say({ id: 1, method: "initialize", params: quick });
  say({ id: 2, method: "tools/call", params: { name: "lease_simulator", arguments: { platform: "ios" } } });
  await settled();
  const end = Promise.withResolvers<void>();
  daemon.exec = () => end.promise.then(() => ({ exitCode: 0, stdout: "done", stderr: "", truncated: false }));
  const run = { name: "run_on_device", arguments: { tool: "adb", args: ["x"] }, _meta: { progressToken: "t" } };
  say({ id: 3, method: "tools/call", params: run });
  // Answers that fill what the stream holds.
  for (let id = 10; id < 50; id += 1) say({ id, method: "tools/list" });
  for (let turn = 0; turn < 20; turn += 1) await settled();
  await clock.advance(100_000);
  end.resolve();
  const { answer, messages } = rawPeer(stdin, stdout);
  expect((await answer(3)).result).toMatchObject({ structuredContent: { stdout: "done" } });
  expect(messages().filter(({ method }) => method === "notifications/progress")).toEqual([]);
});

test("a fault of ours is reported by its place, never by its text", async () => {
  const { daemon, reports, initialize, call } = talking();
  await initialize();
  await call(1, "lease_simulator", { platform: "ios" });
  daemon.exec = () => Promise.reject(new TypeError("token slk_secret"));
  const answered: Message = await call(2, "run_on_device", { tool: "adb", args: ["x"] });
  expect(JSON.stringify(answered)).toContain("INTERNAL");
  expect(JSON.stringify(answered)).not.toContain("slk_secret");
  expect(reports).toHaveLength(1);
  expect(reports[0]).toMatch(/^simlock mcp: run_on_device failed unexpectedly: TypeError at /);
  expect(reports[0]).not.toContain("slk_secret");
});
