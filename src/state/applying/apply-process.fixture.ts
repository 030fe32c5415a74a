/** Applies the plan of a file to a virtual Mac, in a process that a test can kill: `node apply-process.fixture.ts ROOT JOURNALS PLAN`. */
import { readFileSync } from "node:fs";
import { virtualXcrun } from "../../virtual/index.ts";
import { createReader } from "../reading/reader.ts";
import { simctlRunner } from "../reading/simctl-runner.ts";
import { applyPlan } from "./apply.ts";
import { simctlHere } from "./simctl-here.fixture.ts";

const [root = "", journalFolder = "", planFile = ""] = process.argv.slice(2);
const run = simctlRunner({ xcrun: virtualXcrun(root), env: process.env });
const report = await applyPlan(
  JSON.parse(readFileSync(planFile, "utf8")),
  {
    confirm: true,
    journalFolder,
    verify: false,
    onProgress: ({ operationID, outcome }) => console.log(`${operationID} ${outcome ?? "begins"}`),
  },
  // What is read is not what the test is about, and a dozen processes a read take long.
  { run, reader: createReader(simctlHere(root)) },
);
console.log(report.status);
