import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SimlockError } from "../../contract/index.ts";
import { planNewDevice, planState } from "../planning/plan.ts";
import { app, profile, RUNTIME, UDID } from "../planning/profile.fixture.ts";
import type { DesiredState, ExecutionReport, Plan } from "../types.ts";
import { applyPlan } from "./apply.ts";
import { modelMac } from "./device-model.fixture.ts";
import type { ModelMac } from "./device-model.fixture.ts";
import { resumeApply, rollbackApply } from "./resume.ts";

const GO = { confirm: true } as const;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "state-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const domains = (spec: Partial<DesiredState>) => [...new Set((spec.preferences ?? []).map(({ domain }) => domain))];
async function planned(mac: ModelMac, spec: Partial<DesiredState>): Promise<Plan> {
  return planState(profile(spec), await mac.reader.snapshot({ udid: UDID, domains: domains(spec) }));
}
const outcomes = (report: ExecutionReport) =>
  report.receipts.map(({ operationID, outcome }) => `${operationID} ${outcome}`);
const pref = (value: DesiredState["preferences"][number]["value"], key = "k") => ({ domain: "d", key, value });
const journalIn = (path: string): string =>
  join(path, readdirSync(path).find((name) => name.endsWith(".jsonl")) ?? "none");

const whole: Partial<DesiredState> = {
  applications: [
    app("com.acme.demo", { sourcePath: "/x/com.acme.demo.app", running: true, launchArguments: ["-a", "b"] }),
  ],
  preferences: [pref(["a", 1, true, 1.5], "list"), pref(0.1, "real"), pref("-x; rm", "text"), pref(null, "gone")],
  privacy: [{ service: "photos", bundleIdentifier: "com.acme.demo", access: "granted" }],
  localization: { languages: ["de-DE"], locale: "de_DE", use24HourClock: true },
  appearance: "dark",
  increaseContrast: true,
  contentSize: "extra-large",
  statusBar: { time: "09:41", cellularBars: 4 },
  pasteboard: "hello",
};

describe("without a confirmation", () => {
  test("nothing is run or read, and the receipts say what would be", async () => {
    const mac = modelMac();
    const plan = await planned(mac, { power: "booted" });
    mac.reader.inventory = () => Promise.reject(new Error("read"));
    mac.reader.snapshot = () => Promise.reject(new Error("read"));
    for (const confirm of [undefined, false]) {
      const report = await applyPlan(plan, { confirm, journalFolder: folder }, mac);
      expect(report).toMatchObject({ status: "dryRun", plan });
      expect(report.receipts).toMatchObject([
        {
          outcome: "planned",
          commands: [
            ["xcrun", "simctl", "boot", UDID],
            ["xcrun", "simctl", "bootstatus", UDID, "-b"],
          ],
        },
      ]);
    }
    expect(mac.log).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test.each(["true", 1, null, {}])("23: confirm %j is refused, not taken for false", async (confirm) => {
    const mac = modelMac();
    await expect(applyPlan(await planned(mac, {}), { confirm }, mac)).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });
});

test("a plan with nothing to do succeeds without a command", async () => {
  const mac = modelMac();
  expect(await applyPlan(await planned(mac, {}), GO, mac)).toMatchObject({ status: "succeeded", receipts: [] });
  expect(mac.log).toEqual([]);
});

test("what was applied is verified field by field, and a second plan finds nothing to do", async () => {
  const mac = modelMac({ power: "booted" });
  const report = await applyPlan(await planned(mac, whole), GO, mac);
  expect(report.failure).toBeUndefined();
  expect(report.verification?.filter(({ verdict }) => verdict !== "satisfied")).toEqual([]);
  expect(await planned(mac, whole)).toMatchObject({ diff: [], operations: [] });
  expect(mac.device.preferences.get("d")?.get("list")).toEqual(["a", 1, true, 1.5]);
  expect(mac.device.preferences.get("d")?.get("text")).toBe("-x; rm");
});

test("a device that was off is booted for it and put back, and what turns out to be so is not done again", async () => {
  const mac = modelMac();
  const spec = { preferences: [pref(1), pref(2, "other")], appearance: "light" as const };
  mac.device.preferences.set("d", new Map([["k", 1]]));
  const report = await applyPlan(await planned(mac, spec), GO, mac);
  expect(outcomes(report)).toEqual([
    "001-boot done",
    "002-setPreference satisfied",
    "003-setPreference done",
    "004-setAppearance satisfied",
    "005-shutdown done",
  ]);
  expect(mac.device.power).toBe("shutdown");
  expect(report.verification?.map(({ verdict }) => verdict)).toEqual(["satisfied", "satisfied", "satisfied"]);
});

describe("what is so already is a success with a note", () => {
  const hand = (...operations: Partial<Plan["operations"][number]>[]): Plan => ({
    profileName: "p",
    targetUDID: UDID,
    generatedAt: "2026-08-18T00:00:00Z",
    diff: [],
    warnings: [],
    operations: operations.map((each, index) => ({
      id: `00${index + 1}-${each.action}`,
      action: "boot",
      targetUDID: UDID,
      arguments: {},
      risk: "reversible",
      requiresConfirmation: true,
      reason: "",
      ...each,
    })),
  });
  test.each<[string, "booted" | "shutdown", Partial<Plan["operations"][number]>]>([
    ["boot of a booted device", "booted", { action: "boot" }],
    [
      "termination of an app that does not run",
      "booted",
      { action: "terminateApplication", arguments: { bundleIdentifier: "a.b" } },
    ],
    [
      "deletion of a key that is not set",
      "booted",
      { action: "setPreference", arguments: { domain: "d", key: "k", value: null } },
    ],
    ["shutdown of a device that is off", "shutdown", { action: "shutdown" }],
  ])("%s", async (_name, power, operation) => {
    const mac = modelMac({ power });
    // The reader tells nothing, so that the tool's own answer decides.
    const snapshot = mac.reader.snapshot;
    mac.reader.snapshot = async (request) => {
      const seen = await snapshot({ ...request, domains: [] });
      return {
        ...seen,
        capabilities: { ...seen.capabilities, applications: { support: "exact", readable: false, writable: true } },
        state: { ...seen.state, applications: [] },
      };
    };
    const report = await applyPlan(hand(operation), GO, mac);
    expect(report).toMatchObject({
      status: "succeeded",
      receipts: [{ outcome: "satisfied", note: expect.any(String) }],
    });
  });

  test("25: the second of three fails: the third is not run, and is listed as skipped", async () => {
    const mac = modelMac({ power: "booted" });
    const set = (key: string) => ({ action: "setPreference" as const, arguments: { domain: "d", key, value: 1 } });
    mac.before = ({ args }) => (args.includes("b") ? { exitCode: 7, stdout: "", stderr: "" } : undefined);
    const report = await applyPlan(hand(set("a"), set("b"), set("c")), { ...GO, verify: false }, mac);
    expect(report.status).toBe("failed");
    expect(report.failure).toBe("002-setPreference ended with exit code 7.");
    expect(outcomes(report)).toEqual([
      "001-setPreference done",
      "002-setPreference failed",
      "003-setPreference skipped",
    ]);
    expect(mac.log).toHaveLength(2);
  });

  test.each<[string, (plan: Plan) => unknown]>([
    ["24: the same id twice", (plan) => ({ ...plan, operations: [plan.operations[0], plan.operations[0]] })],
    [
      "24: another target in an operation",
      (plan) => ({ ...plan, operations: [{ ...plan.operations[0], targetUDID: UDID.replace("A001", "A002") }] }),
    ],
    ["24: no target", (plan) => ({ ...plan, targetUDID: "" })],
    ["the word all as target", (plan) => ({ ...plan, targetUDID: "all", operations: [] })],
    ["the word booted as target", (plan) => ({ ...plan, targetUDID: "booted", operations: [] })],
    ["an unknown field", (plan) => ({ ...plan, extra: 1 })],
    ["an unknown action", (plan) => ({ ...plan, operations: [{ ...plan.operations[0], action: "delete" }] })],
    [
      "an unknown argument",
      (plan) => ({ ...plan, operations: [{ ...plan.operations[0], arguments: { force: true } }] }),
    ],
    [
      "a lower risk than the operation has",
      (plan) => ({ ...plan, operations: [{ ...plan.operations[0], id: "001-erase", action: "erase" }] }),
    ],
    [
      "an operation that needs no confirmation",
      (plan) => ({ ...plan, operations: [{ ...plan.operations[0], requiresConfirmation: false }] }),
    ],
    ["an id that is not its place", (plan) => ({ ...plan, operations: [{ ...plan.operations[0], id: "002-boot" }] })],
    [
      "a status bar flag that there is none of",
      (plan) => ({
        ...plan,
        operations: [
          { ...plan.operations[0], id: "001-setStatusBar", action: "setStatusBar", arguments: { set: "x" } },
        ],
      }),
    ],
    [
      "an app on a device that was shut down",
      () => hand({ action: "shutdown" }, { action: "terminateApplication", arguments: { bundleIdentifier: "a.b" } }),
    ],
    ["a digest that does not fit", (plan) => ({ ...plan, digest: `sha256:${"0".repeat(64)}` })],
  ])("refused: %s", async (_name, change) => {
    const mac = modelMac();
    await expect(applyPlan(change(hand({ action: "boot" })), GO, mac)).rejects.toMatchObject({ code: "STATE_INVALID" });
    expect(mac.log).toEqual([]);
  });
});

describe("a device that has changed since", () => {
  test("is refused by the plan's facts, and taken where that is allowed", async () => {
    const mac = modelMac({ power: "booted" });
    mac.device.preferences.set("d", new Map([["k", 1]]));
    const plan = await planned(mac, { preferences: [pref(2)] });
    mac.device.preferences.set("d", new Map([["k", 3]]));
    await expect(applyPlan(plan, GO, mac)).rejects.toMatchObject({
      code: "PLAN_STALE",
      message: expect.stringContaining("spec.preferences[d.k]"),
    });
    expect(mac.log).toEqual([]);
    expect(await applyPlan(plan, { ...GO, allowStale: true }, mac)).toMatchObject({ status: "succeeded" });
  });
  test("in its power, too; and without a digest by each current value", async () => {
    const mac = modelMac();
    const plan = await planned(mac, { power: "booted" });
    mac.device.power = "booted";
    const { digest: _digest, factsDigest: _facts, ...bare } = plan;
    for (const each of [plan, bare])
      await expect(applyPlan(each, GO, mac)).rejects.toMatchObject({ code: "PLAN_STALE" });
  });
  test("what was unknown may be known by now", async () => {
    const mac = modelMac({ power: "booted" });
    const blind = await mac.reader.snapshot({ udid: UDID });
    const plan = planState(profile({ preferences: [pref(2)] }), blind);
    expect(plan.diff[0]).not.toHaveProperty("current");
    expect(await applyPlan(plan, GO, mac)).toMatchObject({ status: "succeeded" });
  });
});

describe("after a failure", () => {
  test("the temporary boot is undone and the rest is listed", async () => {
    const mac = modelMac();
    mac.before = ({ args }) => (args.includes("write") ? { exitCode: 1, stdout: "", stderr: "no" } : undefined);
    const report = await applyPlan(await planned(mac, { preferences: [pref(1), pref(2, "z")] }), GO, mac);
    expect(outcomes(report)).toEqual([
      "001-boot done",
      "002-setPreference failed",
      "003-setPreference skipped",
      "004-shutdown undone",
    ]);
    expect(report).toMatchObject({ status: "failed", failure: "no" });
    expect(mac.device.power).toBe("shutdown");
  });
  test("a boot that was asked for stays", async () => {
    const mac = modelMac();
    mac.before = ({ args }) => (args.includes("write") ? { exitCode: 1, stdout: "", stderr: "no" } : undefined);
    await applyPlan(await planned(mac, { power: "booted", preferences: [pref(1)] }), GO, mac);
    expect(mac.device.power).toBe("booted");
  });
  test("a boot whose wait hangs counts when the device is booted, and fails when it is not", async () => {
    const hangs = () => {
      throw new SimlockError("TOOL_FAILED", "bootstatus did not end within 600000 ms");
    };
    const mac = modelMac();
    mac.before = ({ args }) => (args[0] === "bootstatus" ? hangs() : undefined);
    expect(await applyPlan(await planned(mac, { power: "booted" }), GO, mac)).toMatchObject({ status: "succeeded" });
    const dead = modelMac();
    dead.before = ({ args }) =>
      args[0] === "boot" ? { exitCode: 0, stdout: "", stderr: "" } : args[0] === "bootstatus" ? hangs() : undefined;
    expect(await applyPlan(await planned(dead, { power: "booted" }), GO, dead)).toMatchObject({
      status: "failed",
      failure: expect.stringContaining("600000 ms"),
    });
  });
});

test("a cancelled run stops, lists the rest and puts the power back; progress tells each step", async () => {
  const mac = modelMac();
  const abort = new AbortController();
  const told: string[] = [];
  mac.after = ({ args }) => {
    if (args.includes("a")) abort.abort();
  };
  const report = await applyPlan(
    await planned(mac, { preferences: [pref(1, "a"), pref(1, "b")] }),
    {
      ...GO,
      signal: abort.signal,
      onProgress: (each) => told.push(`${each.position}/${each.total} ${each.outcome ?? "…"}`),
    },
    mac,
  );
  expect(outcomes(report)).toEqual([
    "001-boot done",
    "002-setPreference done",
    "003-setPreference failed",
    "004-shutdown undone",
  ]);
  expect(told).toEqual(["1/4 …", "1/4 done", "2/4 …", "2/4 done", "3/4 …", "3/4 failed"]);
});

test("one apply a device at a time: the second is told who holds it", async () => {
  const mac = modelMac();
  const plan = await planned(mac, { power: "booted" });
  const other = modelMac();
  const [first, second] = await Promise.allSettled([
    applyPlan(plan, { ...GO, journalFolder: folder }, mac),
    applyPlan(plan, { ...GO, journalFolder: folder }, other),
  ]);
  expect(first.status).toBe("fulfilled");
  expect(second).toMatchObject({ status: "rejected", reason: { code: "DEVICE_IN_USE" } });
});

test("secrets stand in no report, and in the plan they stay", async () => {
  const mac = modelMac({ power: "booted" });
  const secrets = ["hunter2-abc", "s3cr3t-env", "tok-1234567", "paste-me-not", "deep-link-secret"];
  const spec: Partial<DesiredState> = {
    applications: [
      app("com.acme.demo", {
        sourcePath: "/x/com.acme.demo.app",
        running: true,
        launchArguments: ["--token", "tok-1234567"],
        launchEnvironment: { API_KEY: "s3cr3t-env" },
      }),
    ],
    preferences: [
      { domain: "d", key: "k", value: "hunter2-abc", sensitive: true },
      pref("Bearer abcdefghijkl", "header"),
    ],
    pasteboard: "paste-me-not",
    openURL: "acme://x?q=deep-link-secret",
    sensitive: ["pasteboard", "openURL"],
  };
  mac.before = ({ args }) =>
    args[0] === "openurl" ? { exitCode: 1, stdout: "", stderr: `can't open ${args[2]} with s3cr3t-env` } : undefined;
  const plan = await planned(mac, spec);
  const report = await applyPlan(plan, { ...GO, journalFolder: folder }, mac);
  const dry = await applyPlan(plan, {}, mac);
  const shown = JSON.stringify([report, dry]);
  for (const secret of [...secrets, "abcdefghijkl"]) expect(shown).not.toContain(secret);
  expect(shown).toContain("[redacted]");
  expect(JSON.stringify(plan)).toContain("hunter2-abc");
  expect(mac.device.preferences.get("d")?.get("k")).toBe("hunter2-abc");
});

test("a tool that prints without end is cut in its receipt", async () => {
  const mac = modelMac();
  mac.before = ({ args }) =>
    args[0] === "boot" ? { exitCode: 0, stdout: "x".repeat(1_000_000), stderr: "" } : undefined;
  const report = await applyPlan(await planned(mac, { power: "booted" }), GO, mac);
  expect(report.receipts[0]?.standardOutput.length).toBeLessThan(17_000);
});

describe("a device that is not there yet", () => {
  const intent = { name: "new", deviceType: "com.apple.t.iPhone-17", runtime: RUNTIME };
  const made = () =>
    planNewDevice(profile({ power: "booted", preferences: [pref(1)] }, { target: { name: "new" } }), intent);
  test("is made, and everything after is for it", async () => {
    const mac = modelMac();
    const report = await applyPlan(made(), { ...GO, journalFolder: folder }, mac);
    expect(report).toMatchObject({ status: "succeeded", deviceUDID: expect.any(String) });
    const device = mac.model(report.deviceUDID ?? "");
    expect(device).toMatchObject({ name: "new", power: "booted" });
    expect(report.receipts.every(({ targetUDID }) => targetUDID === report.deviceUDID)).toBe(true);
    const back = await rollbackApply(report.journal ?? "", GO, mac);
    expect(back.status).toBe("succeeded");
    expect(mac.model(report.deviceUDID ?? "")).toBeUndefined();
  });
  test("is not made twice: one of that name makes the plan stale, and a killed run takes up the one it made", async () => {
    const mac = modelMac();
    const plan = made();
    mac.after = ({ args }) => {
      if (args[0] === "create") throw new Error("killed");
    };
    const first = await applyPlan(plan, { ...GO, journalFolder: folder }, mac);
    expect(first.status).toBe("failed");
    mac.after = () => {};
    await expect(applyPlan(plan, GO, mac)).rejects.toMatchObject({ code: "PLAN_STALE" });
    const again = await resumeApply(journalIn(folder), GO, mac);
    expect(again.status).toBe("succeeded");
    expect(mac.log.filter((line) => line.startsWith("create"))).toHaveLength(1);
    expect((await mac.reader.inventory()).devices).toHaveLength(2);
  });
});

describe("rollback", () => {
  test("brings back what was there, last first, and says what it can't", async () => {
    const mac = modelMac({ power: "booted" });
    mac.device.preferences.set("d", new Map([["list", "old"]]));
    mac.device.statusBar = { time: "1:00" };
    const { events: _events, ...before } = structuredClone({ ...mac.device });
    const report = await applyPlan(
      await planned(mac, { ...whole, openURL: "acme://x" }),
      { ...GO, journalFolder: folder },
      mac,
    );
    const dry = await rollbackApply(report.journal ?? "", {}, mac);
    expect(dry.status).toBe("dryRun");
    const back = await rollbackApply(report.journal ?? "", GO, mac);
    expect(back).toMatchObject({ status: "succeeded" });
    expect(back.receipts[0]).toMatchObject({ action: "openURL", outcome: "skipped" });
    const { events: _after, ...now } = structuredClone({ ...mac.device });
    const global = now.preferences.get("NSGlobalDomain");
    expect(global?.size).toBe(0);
    now.preferences.delete("NSGlobalDomain");
    expect(now).toEqual(before);
    await expect(rollbackApply(report.journal ?? "", GO, mac)).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });
  test("boots a device that is off for it, and shuts it down again", async () => {
    const mac = modelMac();
    const report = await applyPlan(
      await planned(mac, { preferences: [pref(1)] }),
      { ...GO, journalFolder: folder },
      mac,
    );
    await rollbackApply(report.journal ?? "", GO, mac);
    expect(mac.device).toMatchObject({ power: "shutdown" });
    expect(mac.device.preferences.get("d")?.size).toBe(0);
  });
});

describe("the journal", () => {
  test("passes over a line that a crash tore, and is nobody else's to read", async () => {
    const mac = modelMac({ power: "booted" });
    mac.before = ({ args }) => (args.includes("b") ? { exitCode: 1, stdout: "", stderr: "no" } : undefined);
    await applyPlan(
      await planned(mac, { preferences: [pref(1, "a"), pref(1, "b")] }),
      { ...GO, journalFolder: folder },
      mac,
    );
    const path = journalIn(folder);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.slice(0, text.lastIndexOf('{"at"') + 20));
    mac.before = () => undefined;
    const report = await resumeApply(path, GO, mac);
    expect(outcomes(report)).toEqual(["001-setPreference done", "002-setPreference done"]);
    await expect(resumeApply(path, GO, mac)).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });
  test("keeps the newest two hundred runs", async () => {
    for (let at = 0; at < 205; at += 1) writeFileSync(join(folder, `2020-${String(at).padStart(4, "0")}.jsonl`), "");
    const mac = modelMac();
    await applyPlan(await planned(mac, { power: "booted" }), { ...GO, journalFolder: folder }, mac);
    const left = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
    expect(left).toHaveLength(200);
    expect(left).not.toContain("2020-0005.jsonl");
  });
});
