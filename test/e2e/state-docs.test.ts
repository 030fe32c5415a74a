import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { ExecutionReport, Plan } from "../../src/state/index.ts";
import { makeSampleApp } from "../../src/virtual/index.ts";
import { SIMLOCK, TestHome } from "../support/virtual-home.ts";
import { runTour } from "../support/tour.ts";

/** What docs/state.md and examples/state show, run as it stands there. */

const home = new TestHome();
afterAll(() => home.close());

const examples = join(home.work, "examples", "state");
cpSync(join(import.meta.dirname, "..", "..", "examples", "state"), examples, { recursive: true });
mkdirSync(join(home.work, "build"));
makeSampleApp(join(home.work, "build"), { bundleId: "com.acme.demo", name: "Demo", urlSchemes: ["acme-demo"] });

const planOf = async (name: string, ...more: string[]) =>
  (await home.json(["state", "plan", "--profile", join(examples, name), ...more])) as unknown as Plan & {
    readonly plans?: readonly Plan[];
  };
async function applied(plan: Plan): Promise<ExecutionReport> {
  const answer = await home.json(["state", "apply", "--plan", "-", "--confirm"], { input: JSON.stringify(plan) });
  return answer as unknown as ExecutionReport;
}

test("every block of docs/state.md does what it says", { timeout: 180_000 }, () => {
  const { blocks, status, stdout, stderr } = runTour("docs/state.md");
  expect(blocks).toBeGreaterThan(6);
  expect(stderr).not.toContain("exited with");
  if (status !== 0) throw new Error(`the tour ended with ${status}: ${stderr}`);
  expect(stdout).toMatch(/"current": "dark",\s+"desired": "light"/);
  expect(stderr).toContain("PLAN_STALE");
});

test("the screenshots begin on a device that is made for them", { timeout: 120_000 }, async () => {
  const report = await applied(await planOf("screenshots.yaml"));
  expect([report.status, report.failure]).toEqual(["succeeded", undefined]);
  expect(report.receipts[0]).toMatchObject({ action: "createDevice", outcome: "done" });
  expect(report.verification?.filter(({ verdict }) => verdict === "different")).toEqual([]);
  expect(JSON.stringify(report.verification)).toContain("spec.localization");
});

test(
  "accessibility is applied, and the drift check then passes until somebody changes a setting",
  { timeout: 120_000 },
  async () => {
    const report = await applied(await planOf("accessibility.yaml"));
    expect([report.status, report.failure]).toEqual(["succeeded", undefined]);

    const bin = join(home.work, "on-path");
    mkdirSync(bin);
    writeFileSync(join(bin, "simlock"), `#!/bin/sh\nexec '${process.execPath}' '${SIMLOCK}' "$@"\n`);
    chmodSync(join(bin, "simlock"), 0o755);
    const check = (...profiles: string[]) =>
      spawnSync("sh", [join(examples, "drift-check.sh"), ...profiles.map((name) => join(examples, name))], {
        cwd: home.work,
        env: { ...home.env, PATH: `${bin}:${dirname(process.execPath)}:${home.env["PATH"] ?? ""}` },
        encoding: "utf8",
      });
    const same = check("accessibility.yaml");
    expect([same.status, same.stdout]).toEqual([0, expect.stringContaining("accessibility.yaml: as it should be\n")]);
    const other = check("onboarding.json", "none.yaml");
    expect([other.status, other.stderr]).toEqual([2, expect.stringContaining("none.yaml: could not be compared")]);
    // Light in the one, dark in the other.
    writeFileSync(
      join(examples, "light.yaml"),
      "apiVersion: simlock/v1\nkind: SimulatorState\nmetadata: { name: light }\nextends: accessibility.yaml\nspec: { appearance: light }\n",
    );
    const moved = check("light.yaml");
    expect([moved.status, moved.stderr]).toEqual([1, expect.stringContaining("light.yaml: differs")]);
  },
);

test("the others are planned", async () => {
  const matrix = await planOf("localisation/matrix.yaml", "--layer", join(examples, "localisation", "german.yaml"));
  expect(matrix.plans?.map(({ operations }) => operations[0]?.action)).toContain("createDevice");
  expect(matrix.plans).toHaveLength(3);
  expect((await planOf("onboarding.json")).profileName).toBeTruthy();
  expect((await planOf("team/base.yaml")).profileName).toBe("team-base");
});
