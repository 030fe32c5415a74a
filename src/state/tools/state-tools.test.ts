import { expect, test } from "vitest";
import { z } from "zod";
import { annotationsOf } from "../../tool/index.ts";
import type { ToolProgress } from "../../tool/index.ts";
import { booted, snapshot, UDID } from "../planning/profile.fixture.ts";
import type { DeviceReader, ExecutionReport, Inventory, Plan, ReadRequest, Snapshot } from "../types.ts";
import { createStateTools } from "./state-tools.ts";
import type { ApplyPlan } from "./state-tools.ts";

const V1ALPHA1 = "awesome-ios-sim/v1alpha1";
const document = (spec: object, more: object = {}) => ({
  apiVersion: V1ALPHA1,
  kind: "SimulatorState",
  metadata: { name: "example" },
  target: { udid: UDID },
  spec,
  ...more,
});

interface Bench {
  readonly reads: (ReadRequest | "inventory")[];
  readonly applied: { plan: unknown; confirm: boolean }[];
  readonly progress: ToolProgress[];
  call(name: string, input: unknown): Promise<Record<string, unknown>>;
}

/** The tools over one simulator, called as the MCP server calls them: input and output are parsed by what the tool declares. */
function bench(
  seen: Snapshot = booted(),
  status: ExecutionReport["status"] = "succeeded",
  leased?: () => Promise<string | undefined>,
): Bench {
  const reads: (ReadRequest | "inventory")[] = [];
  const applied: { plan: unknown; confirm: boolean }[] = [];
  const progress: ToolProgress[] = [];
  const inventory: Inventory = {
    generatedAt: "2026-09-01T10:00:00Z",
    runtimes: [],
    devices: [seen.device, { ...seen.device, udid: "0A1B2C3D-0000-4000-8000-00000000A002", name: "Other" }],
  };
  const reader: DeviceReader = {
    inventory: async () => {
      reads.push("inventory");
      return inventory;
    },
    snapshot: async (request) => {
      reads.push(request);
      return seen;
    },
  };
  const apply: ApplyPlan = async ({ plan, confirm, onProgress }) => {
    applied.push({ plan, confirm });
    const whole = plan as Plan;
    for (const [at, { id, action }] of whole.operations.entries()) {
      const step = { operationID: id, action, position: at + 1, total: whole.operations.length };
      onProgress?.(step);
      onProgress?.({ ...step, outcome: "done" });
    }
    return { plan: whole, status: confirm ? status : "dryRun", receipts: [] };
  };
  const tools = createStateTools({ reader, apply, ...(leased === undefined ? {} : { leased }) });
  return {
    reads,
    applied,
    progress,
    async call(name, input) {
      const tool = tools.find((each) => each.name === name);
      if (tool === undefined) throw new Error(`no tool ${name}`);
      const signal = new AbortController().signal;
      return tool.output.parse(
        await tool.handle(tool.input.parse(input), { signal, progress: (report) => progress.push(report) }),
      );
    },
  };
}

const tools = createStateTools({
  reader: {
    inventory: () => Promise.reject(new Error("not read")),
    snapshot: () => Promise.reject(new Error("not read")),
  },
  apply: () => Promise.reject(new Error("not applied")),
});

test("there are seven tools, in their order; only apply may change something", () => {
  expect(tools.map((tool) => tool.name)).toEqual([
    "simulator_inventory",
    "simulator_snapshot",
    "simulator_presets",
    "simulator_compose",
    "simulator_diff",
    "simulator_plan",
    "simulator_apply",
  ]);
  const readOnly = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
  expect(tools.map(annotationsOf)).toEqual([
    ...Array.from({ length: 6 }, () => readOnly),
    { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  ]);
});

test("every schema is a closed object at its root, and the whole list stays small enough for an agent", () => {
  const schemas = tools.map((tool) => ({
    input: z.toJSONSchema(tool.input, { io: "input" }),
    output: z.toJSONSchema(tool.output, { io: "output" }),
  }));
  for (const { input, output } of schemas) {
    expect(input).toMatchObject({ type: "object", additionalProperties: false });
    expect(output).toMatchObject({ type: "object" });
  }
  const [, , , compose, , , apply] = schemas;
  expect(compose?.input).toMatchObject({
    required: ["profile"],
    properties: {
      profile: {
        properties: { apiVersion: { const: V1ALPHA1 }, spec: { properties: { statusBar: { type: "object" } } } },
      },
      overlays: {
        type: "array",
        default: [],
        items: {
          oneOf: [
            {
              properties: { preset: { enum: ["booted", "clean-status-bar", "shutdown"] } },
              additionalProperties: false,
            },
            { required: ["layer"] },
          ],
        },
      },
    },
  });
  expect(apply?.input).toMatchObject({ properties: { confirm: { type: "boolean", default: false } } });
  expect(JSON.stringify(schemas).length).toBeLessThan(40_000);
});

test("presets are an object that holds the list, and need no simulator", async () => {
  const all = bench();
  expect(await all.call("simulator_presets", {})).toMatchObject({
    presets: [{ name: "booted" }, { name: "clean-status-bar" }, { name: "shutdown" }],
  });
  expect(all.reads).toEqual([]);
});

test("a profile is composed in order, whole, and without reading anything", async () => {
  const all = bench();
  const layer = {
    apiVersion: V1ALPHA1,
    kind: "SimulatorStateLayer",
    metadata: { name: "late" },
    spec: { power: "booted" },
  };
  const composed = await all.call("simulator_compose", {
    profile: document({}),
    overlays: [{ preset: "shutdown" }, { preset: "clean-status-bar" }, { layer }],
  });
  expect(composed).toMatchObject(
    document({
      power: "booted",
      eraseBeforeApply: false,
      applications: [],
      preferences: [],
      statusBar: { time: "09:41", batteryLevel: 100 },
    }),
  );
  expect(all.reads).toEqual([]);
  expect(await all.call("simulator_compose", { profile: composed })).toEqual(composed);
});

test.each([
  ["an overlay that is neither", { overlays: [{}] }],
  ["an overlay that is both", { overlays: [{ preset: "booted", layer: {} }] }],
  ["a preset that there is not", { overlays: [{ preset: "nope" }] }],
  ["a field that is not known", { profile: document({ power: "booted", colour: "red" }) }],
  ["another version", { profile: document({}, { apiVersion: "v9" }) }],
])("a document that is not valid is refused before anything is read: %s", async (_, more) => {
  const all = bench();
  for (const name of ["simulator_compose", "simulator_diff", "simulator_plan"]) {
    await expect(all.call(name, { profile: document({}), ...more })).rejects.toMatchObject({ code: "STATE_INVALID" });
  }
  expect(all.reads).toEqual([]);
});

test.each([
  ["simulator_inventory", { all: true }],
  ["simulator_snapshot", {}],
  ["simulator_snapshot", { udid: 7 }],
  ["simulator_plan", { profile: document({}), udid: 7 }],
  ["simulator_plan", { profile: "x" }],
  ["simulator_apply", { plan: {}, confirm: "true" }],
  ["simulator_apply", { plan: {}, confirm: null }],
  ["simulator_apply", { plan: {}, confirm: 1 }],
  ["simulator_apply", { planDigest: "sha256:12" }],
])("%s does not take %j", async (name, input) => {
  const all = bench();
  await expect(all.call(name, input)).rejects.toThrow(z.ZodError);
  expect(all.applied).toEqual([]);
});

test("a snapshot is read as it was asked for", async () => {
  const all = bench();
  expect(await all.call("simulator_snapshot", { udid: UDID, domains: ["com.acme.demo"] })).toMatchObject({
    device: { udid: UDID },
    state: { power: "booted" },
  });
  expect(all.reads).toMatchObject([{ udid: UDID, domains: ["com.acme.demo"] }]);
  expect(all.reads[0]).not.toHaveProperty("pasteboard");
});

test("a live comparison reads what the profile speaks of, of the simulator that its target names", async () => {
  const all = bench();
  const wanted = document({ preferences: [{ domain: "com.acme.demo", key: "seen", value: true }] });
  await all.call("simulator_diff", { profile: wanted });
  expect(all.reads).toMatchObject(["inventory", { udid: UDID, domains: ["com.acme.demo"] }]);
});

test("a profile of simlock/v1 without a target is for the leased simulator, and for none where nothing is leased", async () => {
  const { target: _, ...unnamed } = document({ power: "shutdown" }, { apiVersion: "simlock/v1" });
  const all = bench(booted(), "succeeded", async () => UDID);
  expect(await all.call("simulator_plan", { profile: unnamed })).toMatchObject({ targetUDID: UDID });
  const none = bench(booted(), "succeeded", async () => undefined);
  await expect(none.call("simulator_plan", { profile: unnamed })).rejects.toMatchObject({ code: "STATE_INVALID" });
  const older = { ...unnamed, apiVersion: V1ALPHA1 };
  await expect(all.call("simulator_plan", { profile: older })).rejects.toMatchObject({ code: "STATE_INVALID" });
});

test("a saved snapshot is compared without reading anything", async () => {
  const all = bench();
  const saved = JSON.parse(JSON.stringify(snapshot("shutdown")));
  expect(await all.call("simulator_diff", { profile: document({ power: "booted" }), snapshot: saved })).toMatchObject({
    profileName: "example",
    targetUDID: UDID,
    hasChanges: true,
    diff: [{ path: "spec.power", kind: "change", current: "shutdown", desired: "booted" }],
  });
  expect(all.reads).toEqual([]);
  await expect(
    all.call("simulator_diff", { profile: document({}), snapshot: saved, udid: "other" }),
  ).rejects.toMatchObject({ code: "BAD_REQUEST" });
});

test("a target that fits several simulators is refused, and one that the profile is not for too", async () => {
  const all = bench();
  const runtime = booted().device.runtimeIdentifier;
  await expect(all.call("simulator_plan", { profile: document({}, { target: { runtime } }) })).rejects.toMatchObject({
    code: "AMBIGUOUS",
  });
  const target = { name: "nobody" };
  await expect(all.call("simulator_plan", { profile: document({}, { target }), udid: UDID })).rejects.toMatchObject({
    code: "BAD_REQUEST",
  });
});

test("a plan is applied by its digest or whole, and only confirm: true carries it out", async () => {
  const all = bench();
  const plan = await all.call("simulator_plan", { profile: document({ power: "shutdown" }) });
  expect(plan["operations"]).toMatchObject([{ id: "001-shutdown", risk: "reversible" }]);
  expect(await all.call("simulator_apply", { plan })).toMatchObject({ status: "dryRun", receipts: [] });
  expect(await all.call("simulator_apply", { plan, confirm: false })).toMatchObject({ status: "dryRun" });
  expect(await all.call("simulator_apply", { planDigest: plan["digest"], confirm: true })).toMatchObject({
    status: "succeeded",
    plan,
  });
  expect(all.applied.map(({ confirm }) => confirm)).toEqual([false, false, true]);
  expect(all.applied[2]?.plan).toEqual(plan);
  expect(all.progress.slice(-2)).toEqual([
    { progress: 0, total: 1, message: "001-shutdown" },
    { progress: 1, total: 1, message: "001-shutdown: done" },
  ]);
});

test("a report of a failure is an error, whole as it is", async () => {
  const all = bench(booted(), "failed");
  const plan = await all.call("simulator_plan", { profile: document({ power: "shutdown" }) });
  const apply = tools.find((tool) => tool.name === "simulator_apply");
  const failed = async (confirm: boolean) =>
    apply?.failed?.(apply.output.parse(await all.call("simulator_apply", { plan, confirm })));
  expect([await failed(true), await failed(false)]).toEqual([true, false]);
});

test("exactly one of plan and digest says what is applied, and an unknown digest is none", async () => {
  const all = bench();
  const digest = `sha256:${"0".repeat(64)}`;
  for (const input of [{}, { plan: {}, planDigest: digest }, { planDigest: digest, confirm: true }]) {
    await expect(all.call("simulator_apply", input)).rejects.toMatchObject({ code: "BAD_REQUEST" });
  }
  expect(all.applied).toEqual([]);
});

test("secrets are shown nowhere, and are applied as they are", async () => {
  const all = bench();
  const secret = "hunter2";
  const wanted = {
    ...document({ preferences: [{ domain: "com.acme.demo", key: "token", value: secret, sensitive: true }] }),
    apiVersion: "simlock/v1",
  };
  const plan = await all.call("simulator_plan", { profile: wanted });
  const diff = await all.call("simulator_diff", { profile: wanted });
  expect(JSON.stringify([plan, diff])).not.toContain(secret);
  await all.call("simulator_apply", { plan, confirm: true });
  expect(JSON.stringify(all.applied[0]?.plan)).toContain(secret);
  // One that was changed is judged as it is, whatever digest it names.
  const changed = await all.call("simulator_plan", { profile: document({ power: "shutdown" }) });
  await all.call("simulator_apply", { plan: { ...changed, warnings: ["x"] } });
  expect(all.applied[1]?.plan).toMatchObject({ warnings: ["x"] });
  // Another process does not know what was masked.
  const other = bench();
  await expect(other.call("simulator_apply", { plan, confirm: true })).rejects.toMatchObject({ code: "BAD_REQUEST" });
  expect(other.applied).toEqual([]);
});

test("only so many plans are kept, the newest", async () => {
  const all = bench();
  const digests: unknown[] = [];
  for (let at = 0; at < 65; at += 1) {
    const plan = await all.call("simulator_plan", {
      profile: document({ power: "shutdown" }, { metadata: { name: `p${at}` } }),
    });
    digests.push(plan["digest"]);
  }
  await expect(all.call("simulator_apply", { planDigest: digests[0] })).rejects.toMatchObject({ code: "BAD_REQUEST" });
  expect(await all.call("simulator_apply", { planDigest: digests[1] })).toMatchObject({ status: "dryRun" });
});
