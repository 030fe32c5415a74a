import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { afterAll, describe, expect, test } from "vitest";
import { MODERN_META, rawPeer } from "../../src/mcp/peer.fixture.ts";
import type { ExecutionReport, Inventory, Plan, Snapshot } from "../../src/state/index.ts";
import { fileOf, SIMLOCK, TestHome } from "../support/virtual-home.ts";

/** The seven tools over the spawned drop-in: by hand-written lines, and by the official client. */

const home = new TestHome();
const started: ChildProcessByStdio<Writable, Readable, null>[] = [];
afterAll(async () => {
  for (const child of started.splice(0)) {
    const gone = child.exitCode === null ? once(child, "exit") : undefined;
    child.stdin.end();
    await gone;
  }
  await home.close();
});

const TOOLS = [
  "simulator_inventory",
  "simulator_snapshot",
  "simulator_presets",
  "simulator_compose",
  "simulator_diff",
  "simulator_plan",
  "simulator_apply",
];
const DROP_IN = fileOf("ios-sim-state-mcp");
const SERVER_INFO = "io.modelcontextprotocol/serverInfo";

function lines() {
  const child = spawn(process.execPath, [DROP_IN], {
    env: home.env,
    cwd: home.work,
    stdio: ["pipe", "pipe", "ignore"],
  });
  started.push(child);
  return rawPeer(child.stdin, child.stdout);
}
const profileFor = (target: object, spec: object) => ({
  apiVersion: "simlock/v1",
  kind: "SimulatorState",
  metadata: { name: "example" },
  target,
  spec,
});

describe("by hand-written lines", () => {
  test("the current era needs no handshake: discovery, ping, the list with its cache, calls", async () => {
    const { ask, call, messages, send } = lines();
    // The line of the original's documentation, as it stands there.
    const discovery = await ask(1, "server/discover", {
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "example", version: "1.0" },
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    });
    expect(discovery.result).toMatchObject({
      resultType: "complete",
      capabilities: { tools: {} },
      ttlMs: expect.any(Number),
      cacheScope: expect.stringMatching(/^(public|private)$/),
      instructions: expect.stringContaining("simulator_inventory"),
      _meta: { [SERVER_INFO]: { name: expect.any(String), version: expect.any(String) } },
    });
    expect(discovery.result?.["supportedVersions"]).toContain("2026-07-28");

    const ping = await ask(2, "ping", { _meta: MODERN_META });
    expect(ping.error).toBeUndefined();
    expect(ping.result).toMatchObject({ resultType: "complete" });

    const list = await ask(3, "tools/list", { _meta: MODERN_META });
    expect(list.result).toMatchObject({
      resultType: "complete",
      ttlMs: expect.any(Number),
      cacheScope: expect.any(String),
    });
    const tools = list.result?.["tools"] as { name: string; inputSchema: object; outputSchema: object }[];
    expect(tools.map(({ name }) => name)).toEqual(TOOLS);
    for (const { inputSchema, outputSchema } of tools) {
      expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
      expect(outputSchema).toMatchObject({ type: "object" });
    }
    expect(await ask(4, "tools/list", { _meta: MODERN_META })).toEqual({ ...list, id: 4 });

    const presets = await call(5, "simulator_presets", {}, MODERN_META);
    expect(presets.result).toMatchObject({
      resultType: "complete",
      structuredContent: { presets: [{ name: "booted" }, { name: "clean-status-bar" }, { name: "shutdown" }] },
    });
    send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 99, _meta: MODERN_META } });

    // A request says its version and what its client can, each for itself.
    const none = await ask(6, "tools/list");
    expect(none.error?.code).toBe(-32602);
    const half = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
    expect((await ask(7, "tools/list", { _meta: half })).error?.code).toBe(-32602);
    const other = { ...MODERN_META, "io.modelcontextprotocol/protocolVersion": "2030-01-01" };
    const unspoken = await ask(8, "tools/list", { _meta: other });
    expect(unspoken.error).toMatchObject({
      code: -32022,
      data: {
        requested: "2030-01-01",
        supported: expect.arrayContaining(["2026-07-28"]),
        supportedVersions: expect.arrayContaining(["2026-07-28"]),
      },
    });
    expect(messages()).toHaveLength(8);
  });

  test.each(["2025-11-25", "2025-06-18", "2024-11-05"])("a client of %s opens with initialize", async (version) => {
    const { ask, call, initialize } = lines();
    const opened = await initialize(version);
    expect(opened.result).toMatchObject({ protocolVersion: version, capabilities: { tools: {} } });
    expect((await ask(1, "ping")).result).toEqual({});
    const list = await ask(2, "tools/list");
    expect(list.result?.["tools"]).toMatchObject(TOOLS.map((name) => ({ name })));
    expect(list.result).not.toHaveProperty("resultType");
    expect(list.result).not.toHaveProperty("ttlMs");
    const inventory = await call(3, "simulator_inventory");
    const { content, structuredContent } = inventory.result as {
      content: { text: string }[];
      structuredContent: object;
    };
    expect(JSON.parse(content[0]?.text ?? "")).toEqual(structuredContent);
    // What is in _meta beside the era is no era.
    expect((await ask(4, "tools/list", { _meta: { progressToken: 1 } })).error).toBeUndefined();
  });

  test("--version prints the version and ends", async () => {
    const { code, stdout } = await home.run(["--version"], { command: "ios-sim-state-mcp" });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
  });
});

describe("by the official client", () => {
  test(
    "inventory, snapshot, compose, plan, dry run, the confirmed apply, and nothing is left to do",
    { timeout: 120_000 },
    async () => {
      const agent = await home.agent("anna", "2026-07-28", undefined, [DROP_IN]);
      const { tools } = await agent.client.listTools();
      expect(tools.map((tool) => tool.name)).toEqual(TOOLS);
      const inventory = (await agent.must("simulator_inventory")) as unknown as Inventory;
      const udid = inventory.devices.find((device) => device.name === "iPhone 17")?.udid ?? "";
      const before = (await agent.must("simulator_snapshot", { udid })) as unknown as Snapshot;
      expect(before.state.power).toBe("shutdown");

      const base = profileFor({ udid }, { appearance: "dark" });
      const overlays = [
        { preset: "clean-status-bar" },
        {
          layer: {
            apiVersion: "simlock/v1",
            kind: "SimulatorStateLayer",
            metadata: { name: "b" },
            spec: { power: "booted" },
          },
        },
      ];
      const profile = await agent.must("simulator_compose", { profile: base, overlays });
      expect(profile).toMatchObject({
        metadata: { name: "example" },
        target: { udid },
        spec: { power: "booted", appearance: "dark", statusBar: { time: "09:41" } },
      });
      const plan = (await agent.must("simulator_plan", { profile })) as unknown as Plan;
      expect(plan.operations.map(({ action }) => action)).toEqual(["boot", "setAppearance", "setStatusBar"]);
      expect(await agent.must("simulator_diff", { profile })).toMatchObject({ hasChanges: true, diff: plan.diff });

      for (const asked of [{ plan }, { plan, confirm: false }, { planDigest: plan.digest }]) {
        const dry = (await agent.must("simulator_apply", asked)) as unknown as ExecutionReport;
        expect([dry.status, dry.receipts.map(({ outcome }) => outcome)]).toEqual([
          "dryRun",
          ["planned", "planned", "planned"],
        ]);
      }
      // A string is neither yes nor no.
      const wrong = await agent.call("simulator_apply", { plan, confirm: "true" }).catch((error: unknown) => error);
      expect(wrong).toSatisfy((answer) => answer instanceof Error || (answer as { isError: boolean }).isError);
      const between = (await agent.must("simulator_snapshot", { udid })) as unknown as Snapshot;
      expect(between.state).toEqual(before.state);

      const report = (await agent.must("simulator_apply", {
        planDigest: plan.digest,
        confirm: true,
      })) as unknown as ExecutionReport;
      expect(report.status).toBe("succeeded");
      expect(report.verification?.map(({ verdict }) => verdict)).toEqual(plan.diff.map(() => "satisfied"));
      expect(((await agent.must("simulator_plan", { profile })) as unknown as Plan).operations).toEqual([]);
      // The same plan again rests on a device that is no longer so.
      expect(await agent.call("simulator_apply", { plan, confirm: true })).toMatchObject({ code: "PLAN_STALE" });
      await agent.close();
    },
  );

  test("a plan is named by its digest in the older era too, and presets are an object", async () => {
    const agent = await home.agent("anna", "2025-11-25", undefined, [DROP_IN]);
    expect(await agent.must("simulator_presets")).toMatchObject({ presets: [{ name: "booted" }, {}, {}] });
    const profile = profileFor({ name: "iPhone 15" }, { power: "booted" });
    const { digest } = await agent.must("simulator_plan", { profile });
    expect(await agent.must("simulator_apply", { planDigest: digest })).toMatchObject({ status: "dryRun" });
    const unknown = `sha256:${"0".repeat(64)}`;
    expect(await agent.call("simulator_apply", { planDigest: unknown })).toMatchObject({ code: "BAD_REQUEST" });
    await agent.close();
  });
});

test("the toolsets of leases and state are served together: twelve tools", async () => {
  const agent = await home.agent("ben", "2026-07-28", undefined, [SIMLOCK, "mcp", "--toolset", "leases", "state"]);
  const { tools } = await agent.client.listTools();
  expect(tools).toHaveLength(12);
  expect(tools.map((tool) => tool.name)).toEqual(expect.arrayContaining([...TOOLS, "run_on_device"]));
  await agent.close();
});
