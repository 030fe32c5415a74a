import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, expect, test } from "vitest";
import { Heard, rawPeer } from "./peer.fixture.ts";

const PROGRAM = join(dirname(fileURLToPath(import.meta.url)), "process.fixture.ts");
const AGENT = { CLAUDE_CODE_SESSION_ID: "abc" };

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** A server process with its pipes in the test's hands. */
function start(args: readonly string[] = [PROGRAM], env: Record<string, string> = AGENT) {
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(process.execPath, args, {
    stdio: ["pipe", "pipe", "pipe"],
    env: { PATH: process.env["PATH"] ?? "", ...env },
  });
  const err = new Heard(child.stderr);
  const exit = once(child, "exit").then(([code]) => code as number | null);
  child.stdin.on("error", () => {});
  closers.push(async () => {
    child.kill("SIGKILL");
    await exit;
  });
  const fact = (key: string) => err.line((line) => line.startsWith(`{"${key}"`)).then((line) => JSON.parse(line));
  return { child, err, exit, fact, ...rawPeer(child.stdin, child.stdout) };
}

test.for([
  ["legacy", undefined, undefined],
  ["modern", { mode: { pin: "2026-07-28" } }, "2026-07-28"],
  ["the one that is found out", { mode: "auto" }, "2026-07-28"],
] as const)(
  "the official client leases, runs, is refused and releases in the era: %s",
  async ([, negotiation, version]) => {
    const client = new Client(
      { name: "test", version: "1" },
      negotiation === undefined ? {} : { versionNegotiation: negotiation },
    );
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [PROGRAM],
      env: AGENT,
      stderr: "ignore",
    });
    closers.push(() => client.close());
    await client.connect(transport);
    expect(client.getNegotiatedProtocolVersion()).toBe(version ?? "2025-11-25");
    expect(client.getServerVersion()).toMatchObject({ name: "simlock", version: "9.9.9" });
    expect((await client.listTools()).tools).toHaveLength(5);
    const instructions = await client.readResource({ uri: "simlock://instructions" });
    expect(instructions.contents).toMatchObject([{ mimeType: "text/markdown", text: client.getInstructions() }]);
    const progress: unknown[] = [];
    const grant = await client.callTool(
      { name: "lease_simulator", arguments: { platform: "ios" } },
      { onprogress: (each) => progress.push(each) },
    );
    expect(grant.structuredContent).toMatchObject({ lease: { id: "lse_1", ownerId: "claude-code:abc" } });
    const run = await client.callTool({ name: "run_on_device", arguments: { tool: "adb", args: ["big"] } });
    expect(run.structuredContent).toEqual({ exitCode: 0, stdout: "€".repeat(32_768), stderr: "", truncated: true });
    const refused = await client.callTool({ name: "run_on_device", arguments: { tool: "", args: [] } });
    expect(refused.isError).toBe(true);
    const released = await client.callTool({ name: "release_simulator", arguments: { leaseId: "lse_1" } });
    expect(released.structuredContent).toEqual({ leaseId: "lse_1", released: true });
  },
);

test("every line of standard output is JSON-RPC, whatever a dependency prints", async () => {
  const { out, err, initialize, call } = start();
  await initialize();
  await call(2, "lease_simulator", { platform: "ios" });
  await err.line((line) => line === "noise: loaded");
  await err.line((line) => line === "noise: called");
  await err.line((line) => line.includes("forged"));
  for (const line of out.lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
  expect(out.lines.join("\n")).not.toContain("forged");
});

test("who the agent is comes from its environment, else from the process", async () => {
  const named = start([PROGRAM], { ...AGENT, SIMLOCK_AGENT_ID: "me" });
  await named.initialize();
  await named.call(2, "list_devices");
  expect(await named.fact("connect")).toEqual({ connect: { launch: true, principal: "me" } });
  const nameless = start([PROGRAM], {});
  await nameless.initialize();
  await nameless.call(2, "list_devices");
  const { pid } = await nameless.fact("pid");
  expect(await nameless.fact("connect")).toEqual({ connect: { launch: true, principal: `mcp:${pid}` } });
});

test("at the end of input the lease is given back, what is to be said is said, and the process ends", async () => {
  const { child, out, initialize, call, hang, answer, fact, exit } = start();
  await initialize();
  await call(2, "lease_simulator", { platform: "ios" });
  hang(3);
  await fact("exec");
  child.stdin.end();
  expect(JSON.stringify((await answer(3)).result)).toContain("SESSION_CLOSED");
  expect(await fact("leases")).toEqual({ leases: 0, exitCode: 0 });
  expect(await exit).toBe(0);
  for (const line of out.lines) JSON.parse(line);
});

test("at SIGTERM the lease is given back and the process ends with 143", async () => {
  const { child, initialize, call, fact, exit } = start();
  await initialize();
  await call(2, "lease_simulator", { platform: "ios" });
  child.kill("SIGTERM");
  expect(await fact("leases")).toEqual({ leases: 0, exitCode: 143 });
  expect(await exit).toBe(143);
});

test("when nobody reads the answers any more, the lease is given back and the process ends", async () => {
  const { child, initialize, call, send, fact, exit } = start();
  await initialize();
  await call(2, "lease_simulator", { platform: "ios" });
  child.stdout.destroy();
  send({ jsonrpc: "2.0", id: 3, method: "ping" });
  expect(await fact("leases")).toEqual({ leases: 0, exitCode: 0 });
  expect(await exit).toBe(0);
});

test("when the parent dies with our input still open, the lease is given back", async () => {
  const program = `require("node:child_process").spawn(process.execPath, [${JSON.stringify(PROGRAM)}], { stdio: "inherit" }); setInterval(() => {}, 1000)`;
  const parent = start(["-e", program]);
  const { pid } = await parent.fact("pid");
  closers.push(async () => killed(pid));
  await parent.initialize();
  await parent.call(2, "lease_simulator", { platform: "ios" });
  parent.child.kill("SIGKILL");
  expect(await parent.fact("leases")).toEqual({ leases: 0, exitCode: 0 });
});

function killed(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It is gone already, as it should be.
  }
}
