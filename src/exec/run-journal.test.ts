import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { groupRuns, signalGroup } from "./end-group.ts";
import { isAlive, processIdentity } from "./process-identity.ts";
import { endLeftovers, RunJournal } from "./run-journal.ts";

let folder: string;
const groups: number[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "runs-"));
});

afterEach(() => {
  for (const group of groups.splice(0)) signalGroup(group, "SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

function sleeper(): { readonly pid: number; readonly exited: Promise<unknown> } {
  const child = spawn("sh", ["-c", "sleep 30 & wait"], { detached: true, stdio: "ignore" });
  if (child.pid === undefined) throw new Error("sh did not start");
  groups.push(child.pid);
  return { pid: child.pid, exited: new Promise((resolve) => child.once("exit", resolve)) };
}

test("a process is told from a later one by its start", async () => {
  const { pid, exited } = sleeper();
  const identity = await processIdentity(pid);
  if (identity === undefined) throw new Error("no identity");
  expect(await isAlive(pid, identity)).toBe(true);
  expect(await isAlive(pid, `${identity}0`)).toBe(false);
  process.kill(-pid, "SIGKILL");
  await exited;
  expect(await isAlive(pid, identity)).toBe(false);
});

test.skipIf(process.platform !== "linux")(
  "a process of which only the exit status is left counts as ended",
  async () => {
    // The shell becomes a program that never asks for its child's status.
    const child = spawn("/bin/sh", ["-c", "sleep 0 & echo $!; exec sleep 60"], { stdio: ["ignore", "pipe", "ignore"] });
    try {
      const [said] = (await once(child.stdout, "data")) as [Buffer];
      const pid = Number(said.toString());
      while (!readFileSync(`/proc/${pid}/stat`, "latin1").includes(") Z ")) await new Promise(setImmediate);
      expect(await processIdentity(pid)).toBeUndefined();
    } finally {
      child.kill("SIGKILL");
    }
  },
);

test("what a dead daemon left is ended, with its whole group", async () => {
  const { pid } = sleeper();
  new RunJournal(folder).begin("run_1", pid);
  await waitForIdentity("run_1");
  expect(await endLeftovers(new RunJournal(folder))).toEqual(["run_1"]);
  expect(groupRuns(pid)).toBe(false);
  expect(readdirSync(folder)).toEqual([]);
});

test("a command whose end was noted is no leftover", async () => {
  const { pid } = sleeper();
  const journal = new RunJournal(folder);
  journal.begin("run_1", pid);
  journal.end("run_1");
  expect(await endLeftovers(new RunJournal(folder))).toEqual([]);
  expect(groupRuns(pid)).toBe(true);
});

test("a process that only has the same pid is left alone, and so is what can't be read", async () => {
  const { pid } = sleeper();
  writeFileSync(join(folder, "run_1.json"), JSON.stringify({ pid, identity: "another boot/1" }));
  writeFileSync(join(folder, "run_2.json"), JSON.stringify({ pid }));
  writeFileSync(join(folder, "run_3.json"), `{"pid":${pid}`);
  writeFileSync(join(folder, "run_4.json"), JSON.stringify({ pid: 1, identity: await processIdentity(1) }));
  expect(await endLeftovers(new RunJournal(folder))).toEqual([]);
  expect(groupRuns(pid)).toBe(true);
  expect(readdirSync(folder)).toEqual([]);
});

/** Where `ps` must be asked, the identity follows a little later. */
async function waitForIdentity(runId: string): Promise<void> {
  const journal = new RunJournal(folder);
  const known = () => journal.entries().some((entry) => entry.runId === runId && entry.identity !== undefined);
  while (!known()) await new Promise((resolve) => setImmediate(resolve));
}
