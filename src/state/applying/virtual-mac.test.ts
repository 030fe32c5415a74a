import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeSampleApp, virtualXcrun } from "../../virtual/index.ts";
import { macForTest } from "../../virtual/mac/mac-for-test.ts";
import type { TestMac } from "../../virtual/mac/mac-for-test.ts";
import { readBundles } from "../planning/bundle-facts.ts";
import { planNewDevice, planState } from "../planning/plan.ts";
import { app, profile } from "../planning/profile.fixture.ts";
import { resolveTarget } from "../planning/target.ts";
import { createReader } from "../reading/reader.ts";
import { simctlRunner } from "../reading/simctl-runner.ts";
import type { DesiredState, Plan } from "../types.ts";
import { applyPlan } from "./apply.ts";
import type { ApplyPorts } from "./apply.ts";
import { resumeApply, rollbackApply } from "./resume.ts";
import { simctlHere } from "./simctl-here.fixture.ts";

// Plans against `simctl` as a process of its own.

let mac: TestMac;
let ports: ApplyPorts;
beforeAll(() => {
  mac = macForTest();
  const run = simctlRunner({ xcrun: virtualXcrun(mac.root), env: process.env });
  ports = { run, reader: createReader(simctlHere(mac.root)) };
});
afterAll(() => mac.dispose());

/** The same within this process, for what is not about processes. */
const inProcess = (): ApplyPorts => {
  const run = simctlHere(mac.root);
  return { run, reader: createReader(run) };
};

const demo = (version: string) =>
  makeSampleApp(join(mac.files, version), { bundleId: "com.acme.demo", name: "Demo", version });
const domains = ["com.acme.demo"];

function spec(sourcePath: string, more: Partial<DesiredState> = {}): Partial<DesiredState> {
  return {
    power: "booted",
    applications: [
      app("com.acme.demo", {
        sourcePath,
        running: true,
        launchArguments: ["-flag", "x y"],
        launchEnvironment: { MODE: "test" },
      }),
    ],
    preferences: [
      { domain: "com.acme.demo", key: "list", value: ["a", 1, true, 1.5, "<&>"] },
      { domain: "com.acme.demo", key: "empty", value: [] },
      { domain: "com.acme.demo", key: "real", value: 0.1 },
      { domain: "com.acme.demo", key: "large", value: 9_007_199_254_740_991 },
      { domain: "com.acme.demo", key: "text", value: '-x; $(rm) "q"' },
      { domain: "com.acme.demo", key: "gone", value: null },
    ],
    privacy: [{ service: "photos", bundleIdentifier: "com.acme.demo", access: "granted" }],
    localization: { languages: ["de-DE", "en"], locale: "de_DE", timeZone: "Europe/Berlin", use24HourClock: true },
    appearance: "dark",
    increaseContrast: true,
    contentSize: "accessibility-large",
    statusBar: { time: "09:41", wifiBars: 3, cellularBars: 4, batteryLevel: 100 },
    pasteboard: "grüße",
    ...more,
  };
}

async function plan(udid: string, desired: Partial<DesiredState>, own: ApplyPorts): Promise<Plan> {
  const wanted = profile(desired, { target: { udid } });
  const snapshot = await own.reader.snapshot({ udid, domains, pasteboard: true });
  return planState(wanted, snapshot, { bundles: await readBundles(wanted) });
}

test("a whole profile is applied, read back, found satisfied, updated, and taken back", async () => {
  const udid = await mac.say("create", "whole", "iPhone 17");
  const folder = join(mac.files, "whole");
  const report = await applyPlan(
    await plan(udid, spec(demo("1.0")), ports),
    { confirm: true, journalFolder: folder },
    ports,
  );
  expect(report.failure).toBeUndefined();
  expect(report.verification?.filter(({ verdict }) => verdict !== "satisfied")).toEqual([]);
  expect(await plan(udid, spec(demo("1.0")), ports)).toMatchObject({
    diff: [],
    operations: [],
    warnings: [expect.any(String)],
  });

  const own = inProcess();
  const update = await plan(udid, spec(demo("1.1")), own);
  expect(update.operations.map(({ action }) => action)).toEqual(["installApplication", "launchApplication"]);
  expect(await applyPlan(update, { confirm: true }, own)).toMatchObject({ status: "succeeded" });
  expect((await plan(udid, spec(demo("1.1")), own)).diff).toEqual([]);

  const back = await rollbackApply(report.journal ?? "", { confirm: true }, own);
  expect(back.failure).toBeUndefined();
  expect((await own.reader.inventory()).devices.find((each) => each.udid === udid)?.state).toBe("Shutdown");
});

test("what has no readback reaches the device too", async () => {
  const udid = await mac.booted("effects");
  const own = inProcess();
  const picture = join(mac.files, "p.png");
  writeFileSync(picture, Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0]));
  const certificate = join(mac.files, "ca.pem");
  writeFileSync(certificate, rootCertificates[0] ?? "");
  const desired: Partial<DesiredState> = {
    applications: [app("com.acme.demo", { sourcePath: demo("1.0"), running: true })],
    location: {
      route: {
        points: [
          { latitude: -33.8, longitude: -70.1 },
          { latitude: 1e-7, longitude: 2 },
        ],
        speedMetersPerSecond: 5,
      },
    },
    media: [picture],
    rootCertificates: [certificate],
    push: [{ bundleIdentifier: "com.acme.demo", payload: { aps: { alert: "hi" } } }],
    openURL: "https://example.com/x",
  };
  const report = await applyPlan(await plan(udid, desired, own), { confirm: true }, own);
  expect(report.failure).toBeUndefined();
  expect(report.verification?.find(({ path }) => path === "spec.push[0]")?.verdict).toBe("unknown");
});

test("a device that is not there is made as the target says, and found by it afterwards", async () => {
  const own = inProcess();
  const target = { name: "made here", deviceType: "iPhone 17", runtime: "latest", create: true };
  const resolved = resolveTarget(target, await own.reader.inventory());
  if (resolved.kind !== "create") throw new Error("there is one already");
  const wanted = profile({ power: "booted", appearance: "dark" }, { target });
  const report = await applyPlan(planNewDevice(wanted, resolved.intent), { confirm: true }, own);
  expect(report.status).toBe("succeeded");
  const inventory = await own.reader.inventory();
  const again = resolveTarget(target, inventory);
  expect(again).toMatchObject({ kind: "device", device: { udid: report.deviceUDID } });
  const snapshot = await own.reader.snapshot({ udid: report.deviceUDID ?? "" });
  expect(planState(wanted, snapshot, { inventory }).diff).toEqual([]);
});

test("a process that is killed at any operation leaves a run that ends as it would have", async () => {
  const own = inProcess();
  const desired: Partial<DesiredState> = {
    power: "unchanged",
    applications: [app("com.acme.demo", { sourcePath: demo("1.0") })],
    preferences: [{ domain: "com.acme.demo", key: "k", value: 1 }],
    appearance: "dark",
  };
  const first = await mac.say("create", "killed", "iPhone 17");
  const { operations } = await plan(first, desired, own);
  expect(operations.map(({ action }) => action)).toEqual([
    "boot",
    "installApplication",
    "setPreference",
    "setAppearance",
    "shutdown",
  ]);
  await Promise.all(
    operations.map(async ({ id }, at) => {
      const udid = at === 0 ? first : await mac.say("create", `killed ${at}`, "iPhone 17");
      const folder = join(mac.files, `killed-${at}`);
      mkdirSync(folder);
      const made = await plan(udid, desired, own);
      writeFileSync(join(folder, "plan.json"), JSON.stringify(made));
      await killedAt(`${id} begins`, folder);
      const name = readdirSync(folder).find((each) => each.endsWith(".jsonl")) ?? "none";
      // The lock went with its holder.
      const report = await resumeApply(
        join(folder, name),
        { confirm: true, journalFolder: folder, verify: false },
        own,
      );
      expect(report.failure).toBeUndefined();
      expect(report.receipts.map(({ outcome }) => outcome)).not.toContain("skipped");
      await mac.say("boot", udid);
      expect((await plan(udid, desired, own)).diff).toEqual([]);
    }),
  );
}, 60_000);

function killedAt(line: string, folder: string): Promise<void> {
  const fixture = fileURLToPath(new URL("./apply-process.fixture.ts", import.meta.url));
  const { env } = virtualXcrun(mac.root);
  const child = spawn(process.execPath, [fixture, mac.root, folder, join(folder, "plan.json")], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return new Promise((done, fail) => {
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString("utf8");
      if (said.includes(line)) child.kill("SIGKILL");
    });
    child.once("close", (_code, signal) => (signal === "SIGKILL" ? done() : fail(new Error(`it ended: ${said}`))));
  });
}
