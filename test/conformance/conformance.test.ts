import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { CONFORMANCE, CONFORMANCE_REQUIREMENTS, conformanceMissing } from "../../scripts/conformance.ts";
import { serveConformance } from "./server.ts";

const missing = conformanceMissing();
if (missing !== undefined) {
  if (process.env["CI"] === "true") throw new Error(missing);
  console.warn(missing);
}

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

const results = mkdtempSync(join(tmpdir(), "simlock-conformance-"));
afterAll(() => rmSync(results, { recursive: true, force: true }));

/** The scenarios that count for a revision. */
function scenariosOf(revision: string): readonly string[] {
  if (missing !== undefined) return [];
  const file = readFileSync(join(CONFORMANCE_REQUIREMENTS, `${revision}.yaml`), "utf8");
  return (parse(file) as { server: string[] }).server;
}

/** Runs all scenarios of a revision against a server of ours. Returns the exit code: 0 where all that count pass. */
async function run(revision: string): Promise<number | null> {
  const service = await serveConformance();
  const child = spawn(
    process.execPath,
    [CONFORMANCE, "server", "--url", service.url, "--requirements", revision, "--output-dir", join(results, revision)],
    { stdio: "ignore", cwd: results },
  );
  const code = await new Promise<number | null>((resolve, reject) => child.once("error", reject).once("exit", resolve));
  await service.close();
  return code;
}

describe.skipIf(missing !== undefined).each(["2026-07-28", "2025-11-25"])("MCP %s", (revision) => {
  let exitCode: number | null = null;
  beforeAll(async () => {
    exitCode = await run(revision);
  });

  test("the suite is content with all that it counts", () => expect(exitCode).toBe(0));

  test.each(scenariosOf(revision))("%s", (scenario) => {
    const folder = readdirSync(join(results, revision)).find((name) =>
      new RegExp(`^server-${scenario}-\\d{4}-\\d\\d-\\d\\dT`).test(name),
    );
    const checks = JSON.parse(
      readFileSync(join(results, revision, folder ?? "none", "checks.json"), "utf8"),
    ) as readonly Check[];
    expect(checks.some(({ status }) => status === "SUCCESS")).toBe(true);
    expect(checks.filter(({ status }) => status === "FAILURE")).toEqual([]);
  });
});
