import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { LeaseGrant } from "../../src/contract/index.ts";
import type { ExecutionReport, Inventory, Plan, StateDiff } from "../../src/state/index.ts";
import { createVirtualMac, makeSampleApp, setFaults } from "../../src/virtual/index.ts";
import { until } from "../support/until.ts";
import { type Ran, SIMLOCK, TestHome } from "../support/virtual-home.ts";

/** Simulator state from the command line: on a simulator of one's own, through the drop-in, and on a leased one. */

const home = new TestHome();
afterAll(() => home.close());
const mac = createVirtualMac(join(home.path, "virtual-mac"));

const write = (name: string, text: string): void => {
  const path = join(home.work, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};
const profileText = (target: string, spec: readonly string[]): string =>
  ["apiVersion: simlock/v1", "kind: SimulatorState", "metadata: { name: mine }", target, "spec:", ...spec, ""].join(
    "\n",
  );
const state = (...args: string[]): Promise<Ran> => home.run(["state", ...args]);
const dropIn = (...args: string[]): Promise<Ran> => home.run(args, { command: "ios-sim-state" });
/** What a command that did what it was asked for printed. */
async function read<T>(...args: string[]): Promise<T> {
  return (await home.json(["state", ...args])) as unknown as T;
}
const errorOf = ({ stderr }: Ran) =>
  (JSON.parse(stderr.trim().split("\n").at(-1) ?? "") as { error: { code: string; message: string } }).error;
const actions = ({ operations }: Plan) => operations.map(({ action }) => action);

/**
 * Applies a plan whose `simctl status_bar` does not end, and kills who runs that: the command itself, or `whom` it asked. Answers the journal that is left,
 * and the process group that nobody ends now.
 */
async function killedInTheMiddle(plan: string, env: Readonly<Record<string, string>> = {}, whom?: number) {
  const journals = join(home.path, "state-journals");
  const known = new Set(existsSync(journals) ? readdirSync(journals) : []);
  const { targetUDID } = JSON.parse(readFileSync(join(home.work, plan), "utf8")) as Plan;
  const running = join(journals, "locks", `${targetUDID}.running`);
  setFaults(mac.root, { faults: [{ verb: "status_bar override", hang: true }] });
  const child = spawn(process.execPath, [SIMLOCK, "state", "apply", "--plan", plan, "--confirm"], {
    env: { ...home.env, ...env },
    cwd: home.work,
    stdio: "ignore",
  });
  const gone = once(child, "exit");
  const path = () => readdirSync(journals).find((name) => name.endsWith(".jsonl") && !known.has(name)) ?? "";
  /** The command that is noted as running, once it is the one that does not end. */
  const hanging = (): number | undefined =>
    readdirSync(running)
      .map((name) => Number(/"pid":(\d+)/.exec(textOf(join(running, name)))?.[1]))
      .find((pid) => /status_bar \S+ override/.test(argumentsOf(pid)));
  let group: number | undefined;
  try {
    await until(() => existsSync(running) && (group = hanging()) !== undefined);
  } finally {
    process.kill(whom ?? child.pid ?? 0, "SIGKILL");
    await gone;
    setFaults(mac.root, {});
  }
  return { journal: path(), group: group ?? 0 };
}

/** What a file holds, or nothing where it is gone. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** The command line of a process, or nothing where there is none. */
function argumentsOf(pid: number): string {
  return spawnSync("ps", ["-o", "args=", "-p", String(pid)], { encoding: "utf8" }).stdout;
}

describe("on a simulator of one's own", () => {
  test("from an empty profile to a verified apply, and nothing is left to do", { timeout: 120_000 }, async () => {
    const target = "target: { name: iPhone 17 Pro }";
    write("first.yaml", profileText(target, ["  {}"]));
    expect(await read<Plan>("plan", "--profile", "first.yaml")).toMatchObject({ operations: [], diff: [] });

    const spec = [
      "  power: booted",
      "  appearance: dark",
      "  location: { point: { latitude: 48.1, longitude: 11.5 } }",
      "  preferences: [{ domain: com.acme.demo, key: seen, value: true }]",
    ];
    write("first.yaml", profileText(target, spec));
    const plan = await read<Plan>("plan", "--profile", "first.yaml");
    expect(actions(plan)).toEqual(["boot", "setPreference", "setAppearance", "setLocation"]);
    write("plan.json", JSON.stringify(plan));

    const dry = await read<ExecutionReport>("apply", "--plan", "plan.json");
    expect([dry.status, dry.receipts.map(({ outcome }) => outcome)]).toEqual(["dryRun", Array(4).fill("planned")]);
    const text = await state("explain", "--plan", "plan.json", "--format", "markdown");
    expect(text.stdout).toMatch(/^### mine: 4 operations on [0-9A-F-]{36}[^]*\n\| `001-boot` \| reversible \| /);
    const inventory = await read<Inventory>("inventory");
    expect(inventory.devices.find(({ udid }) => udid === plan.targetUDID)?.state).toBe("Shutdown");

    const report = await read<ExecutionReport>("apply", "--plan", "plan.json", "--confirm", "--journal", "report.json");
    expect(report.status).toBe("succeeded");
    expect(JSON.parse(readFileSync(join(home.work, "report.json"), "utf8"))).toEqual(report);
    expect(report.verification).toMatchObject([
      { path: "spec.appearance", verdict: "satisfied" },
      { path: "spec.location", verdict: "unknown" },
      { path: "spec.power", verdict: "satisfied" },
      { path: "spec.preferences[com.acme.demo.seen]", verdict: "satisfied" },
    ]);
    // The location is never told: it is in the list, and the check passes.
    const verified = await state("verify", "--profile", "first.yaml", "--exit-code");
    expect([verified.code, verified.stdout.match(/"verdict": "\w+"/g)?.toSorted()]).toEqual([
      0,
      ['"verdict": "satisfied"', '"verdict": "satisfied"', '"verdict": "satisfied"', '"verdict": "unknown"'],
    ]);
    const again = await state("diff", "--profile", "first.yaml", "--exit-code");
    expect([again.code, (JSON.parse(again.stdout) as StateDiff).diff.map(({ path }) => path)]).toEqual([
      0,
      ["spec.location"],
    ]);

    const exported = await state("export", "--device", plan.targetUDID, "--domain", "com.acme.demo");
    expect(exported.stdout).toMatch(/appearance: dark\n[^]*key: seen\n\s+value: true/);
  });

  test("one profile for several simulators, judged, laid over, explained, and compared without a device", async () => {
    const targets = "targets: [{ name: iPhone 15 }, { name: iPhone 16 Pro }]";
    write("several.yaml", profileText(targets, ["  power: booted"]));
    const { plans } = await read<{ plans: Plan[] }>("plan", "--profile", "several.yaml", "--preset", "shutdown");
    expect(plans.map(actions)).toEqual([[], []]);
    expect(new Set(plans.map(({ targetUDID }) => targetUDID)).size).toBe(2);
    const { plans: boots } = await read<{ plans: Plan[] }>("plan", "--profile", "several.yaml");
    const reports = await home.json(["state", "apply", "--plan", "-"], { input: JSON.stringify({ plans: boots }) });
    expect(reports).toMatchObject({ reports: [{ status: "dryRun" }, { status: "dryRun" }] });

    write(
      "layer.yaml",
      "apiVersion: simlock/v1\nkind: SimulatorStateLayer\nmetadata: { name: on }\nspec: { power: booted }\n",
    );
    const target = "target: { name: iPhone 15 }";
    write("one.yaml", profileText(target, ['  statusBar: { time: "9:41" }']));
    const overlays = ["--preset", "shutdown", "--layer", "layer.yaml"];
    expect(await read<object>("compose", "--profile", "one.yaml", ...overlays)).toMatchObject({
      spec: { power: "booted" },
    });
    const sources = await state("explain", "--profile", "one.yaml", ...overlays);
    expect(JSON.parse(sources.stdout)).toContainEqual({
      path: "spec.power",
      pointer: "/spec/power",
      source: { kind: "layer", name: "on", file: join(home.work, "layer.yaml") },
    });
    expect((await state("lint", "--profile", "one.yaml", "--exit-code")).code).toBe(0);
    const doubtful = await state("lint", "--profile", "one.yaml", "--preset", "shutdown", "--exit-code");
    expect([doubtful.code, doubtful.stdout]).toEqual([3, expect.stringContaining("/spec/statusBar")]);

    const snapshot = await state("snapshot", "--device", plans[0]?.targetUDID ?? "");
    write("snapshot.json", snapshot.stdout);
    const offline = { env: { SIMLOCK_HOME: join(home.work, "nowhere") } };
    const compared = await home.run(
      ["state", "diff", "--profile", "one.yaml", "--snapshot", "snapshot.json", "--exit-code"],
      offline,
    );
    expect([compared.code, compared.stdout]).toEqual([3, expect.stringContaining("spec.statusBar")]);
  });

  test("what is not understood is refused with the place", async () => {
    const wrong = await state("apply", "--plan", "plan.json", "--confrim");
    expect([wrong.code, errorOf(wrong)]).toMatchObject([
      2,
      { code: "USAGE", message: expect.stringContaining("--confrim") },
    ]);
    write("bad.yaml", profileText("target: { name: iPhone 17 }", ["  powr: booted"]));
    const bad = await state("plan", "--profile", "bad.yaml");
    expect([bad.code, errorOf(bad)]).toMatchObject([
      2,
      { code: "STATE_INVALID", message: expect.stringContaining("powr") },
    ]);
    const none = await state("plan", "--profile", "none.yaml");
    expect(errorOf(none).message).toMatch(/none\.yaml: ENOENT/);
    const stdin = { input: profileText("target: { name: iPhone 17 }", ["  power: booted"]) };
    const both = await home.run(["state", "plan", "--profile", "-", "--layer", "-"], stdin);
    expect(errorOf(both)).toMatchObject({ code: "USAGE", message: expect.stringContaining("standard input") });
    const two = await state("apply", "--plan", "a", "--resume", "b");
    expect(errorOf(two).code).toBe("USAGE");
  });

  test("an apply that was killed in the middle goes on where it was", { timeout: 120_000 }, async () => {
    const target = "target: { name: iPhone 17 Pro Max }";
    const preference = "  preferences: [{ domain: com.acme.demo, key: seen, value: true }]";
    write("killed.yaml", profileText(target, ["  power: booted", preference, '  statusBar: { time: "9:41" }']));
    write("killed.json", JSON.stringify(await read<Plan>("plan", "--profile", "killed.yaml")));
    const { journal, group } = await killedInTheMiddle("killed.json");
    const left = await read<ExecutionReport>("apply", "--resume", journal);
    expect(left.receipts.map(({ outcome }) => outcome)).toEqual(["done", "done", "planned"]);
    expect(argumentsOf(group)).not.toContain("status_bar");
    const resumed = await read<ExecutionReport>("apply", "--resume", journal, "--confirm");
    expect(resumed.status).toBe("succeeded");
    expect(resumed.verification?.map(({ verdict }) => verdict)).toEqual(["satisfied", "satisfied", "satisfied"]);
    expect(errorOf(await state("apply", "--resume", journal, "--confirm")).code).toBe("BAD_REQUEST");

    const back = await read<ExecutionReport>("apply", "--rollback", journal, "--confirm");
    expect([back.status, back.receipts.map(({ action, outcome }) => `${action} ${outcome}`)]).toEqual([
      "succeeded",
      ["setStatusBar undone", "setPreference undone", "shutdown undone"],
    ]);
    const refused = await state("apply", "--rollback", journal, "--confirm");
    expect([refused.code, errorOf(refused).code]).toEqual([2, "BAD_REQUEST"]);
  });
});

describe("as ios-sim-state", () => {
  const v1alpha1 = (spec: object) =>
    JSON.stringify({
      apiVersion: "awesome-ios-sim/v1alpha1",
      kind: "SimulatorState",
      metadata: { name: "old" },
      target: { name: "iPhone Air" },
      spec,
    });

  test("the same commands and flags, JSON on standard output", async () => {
    write("old.json", v1alpha1({ power: "booted" }));
    expect(JSON.parse((await dropIn("presets", "--compact")).stdout)).toHaveLength(3);
    const version = await dropIn("version");
    expect([version.code, version.stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
    const help = await dropIn();
    expect([help.code, help.stdout]).toEqual([0, expect.stringContaining("inventory")]);
    const composed = await dropIn("compose", "--profile", "old.json", "--preset", "clean-status-bar");
    expect(JSON.parse(composed.stdout)).toMatchObject({
      apiVersion: "awesome-ios-sim/v1alpha1",
      spec: { power: "booted" },
    });
    const plan = await dropIn("plan", "--profile", "old.json");
    expect([plan.code, actions(JSON.parse(plan.stdout) as Plan)]).toEqual([0, ["boot"]]);
    // A difference is no failure.
    expect((await dropIn("diff", "--profile", "old.json")).code).toBe(0);
    write("old-plan.json", plan.stdout);
    const dry = await dropIn("apply", "--plan", "old-plan.json");
    expect([dry.code, JSON.parse(dry.stdout)]).toMatchObject([0, { status: "dryRun" }]);

    setFaults(mac.root, { faults: [{ verb: "boot", fail: { exit: 60, stderr: "Operation timed out\n" } }] });
    try {
      const failed = await dropIn("apply", "--plan", "old-plan.json", "--confirm", "--journal", "failed.json");
      expect(failed.code).toBe(2);
      const report = JSON.parse(failed.stdout) as ExecutionReport;
      expect([report.status, report.failure]).toEqual(["failed", expect.stringContaining("Operation timed out")]);
      expect(JSON.parse(readFileSync(join(home.work, "failed.json"), "utf8"))).toEqual(report);
      expect((await state("apply", "--plan", "old-plan.json", "--confirm")).code).toBe(1);
    } finally {
      setFaults(mac.root, {});
    }
  });

  test.each([
    ["an unknown command", ["frob"], "frob"],
    ["an unknown flag, which the original passes over", ["inventory", "--frob"], "--frob"],
    ["a file that is not there", ["plan", "--profile", "none.json"], "none.json: ENOENT"],
    ["an unknown preset", ["compose", "--profile", "old.json", "--preset", "none"], "none"],
    ["a device that is not there", ["snapshot", "--device", "00000000-0000-4000-8000-000000000000"], "00000000"],
  ])("%s is exit 1 and one line of text", async (_what, args, said) => {
    const { code, stdout, stderr } = await dropIn(...args);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^error: [^\n]+\n$/);
    expect(stderr).toContain(said);
  });
});

describe("on a leased simulator", () => {
  const anna = { env: { SIMLOCK_AGENT_ID: "anna" } };
  const ben = { env: { SIMLOCK_AGENT_ID: "ben" } };

  test(
    "a profile without a target is for it; it stays Simlock's through an erase, and is cleaned for the next",
    { timeout: 120_000 },
    async () => {
      const lease = ["lease", "--platform", "ios", "--device", "iPhone 17", "--detach"];
      const grant = (await home.json(lease, anna)) as unknown as LeaseGrant;
      const udid = grant.device.driverDeviceId;
      makeSampleApp(home.work, { bundleId: "com.acme.demo", name: "Demo" });
      const spec = [
        "  power: booted",
        "  eraseBeforeApply: true",
        "  appearance: dark",
        "  applications: [{ bundleIdentifier: com.acme.demo, sourcePath: Demo.app, running: true }]",
        '  preferences: [{ domain: com.acme.demo, key: token, value: "${env:ACME_TOKEN}", sensitive: true }]',
      ];
      write(
        "leased.yaml",
        `apiVersion: simlock/v1\nkind: SimulatorState\nmetadata: { name: leased }\nspec:\n${spec.join("\n")}\n`,
      );
      const secret = { env: { ...anna.env, ACME_TOKEN: "s3cret-of-acme" } };
      const planned = await home.run(["state", "plan", "--profile", "leased.yaml"], secret);
      const plan = JSON.parse(planned.stdout) as Plan;
      expect(plan.targetUDID).toBe(udid);
      write("leased.json", planned.stdout);

      // The same plan in another agent's hands.
      for (const args of [
        ["apply", "--plan", "leased.json", "--confirm"],
        ["snapshot", "--device", udid],
      ]) {
        const refused = await home.run(["state", ...args], ben);
        expect([refused.stdout, errorOf(refused).code]).toEqual(["", "NO_LEASE"]);
      }
      const applied = await home.run(["state", "apply", "--plan", "leased.json", "--confirm"], anna);
      const report = JSON.parse(applied.stdout) as ExecutionReport;
      expect([applied.code, report.status, report.failure]).toEqual([0, "succeeded", undefined]);
      expect(applied.stdout + applied.stderr).not.toContain("s3cret-of-acme");
      expect(report.receipts.map(({ action }) => action)).toEqual(
        expect.arrayContaining(["shutdown", "erase", "boot"]),
      );
      const verified = await home.run(["state", "verify", "--profile", "leased.yaml", "--exit-code"], secret);
      expect([verified.code, verified.stdout]).toEqual([0, expect.not.stringContaining("s3cret-of-acme")]);

      // The lease stands, the device is known as ours, and answers commands.
      expect((await home.run(["simctl", "ui", "appearance"], anna)).stdout).toBe("dark\n");
      const doctor = await home.run(["doctor", "--json"]);
      expect([doctor.code, doctor.stdout]).toEqual([0, expect.not.stringContaining("lost")]);

      await home.json(["release"], anna);
      const next = (await home.json(lease, ben)) as unknown as LeaseGrant;
      expect(next.device.driverDeviceId).toBe(udid);
      const cleaned = await home.run(["simctl", "ui", "appearance"], ben);
      expect(cleaned.stdout).toBe("light\n");
      expect((await home.run(["simctl", "listapps"], ben)).stdout).not.toContain("com.acme.demo");
      // What was Anna's is not hers any more.
      expect(errorOf(await home.run(["state", "apply", "--plan", "leased.json", "--confirm"], anna)).code).toBe(
        "NO_LEASE",
      );
    },
  );

  test(
    "the daemon that carries a plan out is killed: the lease stands, and the run goes on",
    { timeout: 120_000 },
    async () => {
      const carl = { env: { SIMLOCK_AGENT_ID: "carl" } };
      await home.json(["lease", "--platform", "ios", "--device", "iPhone 17", "--detach"], carl);
      const spec = ["  appearance: dark", '  statusBar: { time: "9:41" }'];
      write("cut.yaml", profileText("", spec));
      const planned = await home.run(["state", "plan", "--profile", "cut.yaml"], carl);
      write("cut.json", planned.stdout);
      const { journal, group } = await killedInTheMiddle("cut.json", carl.env, await home.daemonPid());
      const resumed = await home.json(["state", "apply", "--resume", journal, "--confirm"], carl);
      expect(resumed).toMatchObject({ status: "succeeded", receipts: [{ outcome: "done" }, { outcome: "done" }] });
      expect(argumentsOf(group)).not.toContain("status_bar");
    },
  );
});
