/**
 * `npm test`: builds, then runs every suite that this machine can run, and says loudly which it left out. It installs nothing. With CI=true a suite
 * that is left out is a failure. Names of suites as arguments run only those. The last line counts the tests: `N passed, N failed`.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { SUITES, type Suite } from "./suites.ts";

interface Outcome {
  readonly suite: Suite;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** The failed tests, each with its file and the first line of why. */
  readonly failures: readonly string[];
  readonly seconds: number;
  readonly leftOut: string | undefined;
}

const root = join(import.meta.dirname, "..");
const inCi = process.env["CI"] === "true";
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !SUITES.some((suite) => suite.name === name));
if (unknown.length > 0) {
  console.error(
    `There is no suite ${unknown.join(", ")}. The suites are ${SUITES.map((suite) => suite.name).join(", ")}.`,
  );
  process.exit(2);
}

run("build", ["npm", "run", "--silent", "build"]);
const scratch = mkdtempSync(join(tmpdir(), "simlock-test-"));
const outcomes = SUITES.filter((suite) => wanted.length === 0 || wanted.includes(suite.name)).map(runSuite);
rmSync(scratch, { recursive: true, force: true });

console.log("\nsuite    passed  failed  skipped      time  budget");
for (const { suite, passed, failed, skipped, seconds, leftOut } of outcomes) {
  const over = seconds > suite.budgetSeconds ? "  OVER BUDGET" : "";
  const counts = [passed, failed, skipped].map((count, at) => String(count).padStart([6, 8, 9][at] ?? 6)).join("");
  const time = `${seconds.toFixed(1)} s`.padStart(10);
  console.log(
    `${suite.name.padEnd(9)}${counts}${time}${`${suite.budgetSeconds} s`.padStart(8)}${leftOut === undefined ? over : "  LEFT OUT"}`,
  );
}
const leftOut = outcomes.filter((outcome) => outcome.leftOut !== undefined);
for (const { suite, leftOut: why } of leftOut) {
  console.log(
    `\n*** LEFT OUT: ${suite.name} (${suite.what}) ***\n    ${why}${inCi ? "\n    With CI=true this is a failure." : ""}`,
  );
}
for (const { suite, failures } of outcomes) {
  for (const failure of failures) console.log(`\n*** FAILED: ${suite.name}: ${failure}`);
}
const passed = sum((outcome) => outcome.passed);
const failed = sum((outcome) => outcome.failed) + (inCi ? leftOut.length : 0);
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

function sum(of: (outcome: Outcome) => number): number {
  return outcomes.reduce((total, outcome) => total + of(outcome), 0);
}

function runSuite(suite: Suite): Outcome {
  const why = suite.missing();
  if (why !== undefined) return { suite, passed: 0, failed: 0, skipped: 0, failures: [], seconds: 0, leftOut: why };
  console.log(`\n=== ${suite.name}: ${suite.what} ===`);
  const report = join(scratch, `${suite.name}.json`);
  const [file = "", ...args] = suite.command;
  const started = performance.now();
  const { status } = spawnSync(
    file,
    [...args, "--reporter=default", "--reporter=json", `--outputFile.json=${report}`],
    {
      cwd: root,
      stdio: "inherit",
      env: { ...process.env, SIMLOCK_TEST_REPORT: report },
    },
  );
  const seconds = (performance.now() - started) / 1000;
  const counts = readReport(report);
  // A runner that failed without a failed test, or that ran none, has failed all the same.
  const broken = (status !== 0 && counts.failed === 0) || counts.passed + counts.failed === 0;
  return { suite, ...counts, failed: counts.failed + (broken ? 1 : 0), seconds, leftOut: undefined };
}

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

function readReport(path: string): Pick<Outcome, "passed" | "failed" | "skipped" | "failures"> {
  let report: Report;
  try {
    report = JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return { passed: 0, failed: 0, skipped: 0, failures: [] };
  }
  const failures = report.testResults.flatMap((file) => {
    const at = relative(root, file.name);
    const failed = file.assertionResults.filter((test) => test.status === "failed");
    // A file that could not be loaded has no tests to blame.
    if (failed.length === 0 && file.status === "failed") return [`${at}: ${firstLines(file.message)}`];
    return failed.map((test) => `${at}: ${test.fullName}\n    ${firstLines(test.failureMessages[0] ?? "")}`);
  });
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    skipped: report.numPendingTests,
    failures,
  };
}

function firstLines(text: string): string {
  return text.split("\n").slice(0, 6).join("\n    ");
}

function run(name: string, command: readonly string[]): void {
  const [file = "", ...args] = command;
  const { status } = spawnSync(file, args, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  if (status === 0) return;
  console.error(`${name} failed.\n0 passed, 1 failed`);
  process.exit(1);
}
