import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ended, heard, macForTest } from "../mac-for-test.ts";
import type { TestMac } from "../mac-for-test.ts";

let mac: TestMac;
let udid: string;
beforeAll(async () => {
  mac = macForTest();
  udid = await mac.booted();
});
afterAll(() => mac.dispose());

const spawn = (...words: readonly string[]) => mac.xcrun(["simctl", "spawn", ...words]);
const sh = (script: string) => spawn(udid, "/bin/sh", "-c", script);

test("a program of the host runs in the device's environment, with its streams and its exit code", async () => {
  const answer = await mac.xcrun(["simctl", "spawn", udid, "/bin/sh", "-c", 'cat; echo "$HOME" "$MODE" >&2; exit 7'], {
    stdin: "through",
    env: { SIMCTL_CHILD_MODE: "m" },
  });
  expect(answer).toMatchObject({ exit: 7, stdout: "through", stderr: `${join(mac.deviceSet, udid, "data")} m\n` });
});

test("a name is searched in the device's PATH, a relative path from where the caller is", async () => {
  const script = join(mac.files, "tool.sh");
  writeFileSync(script, '#!/bin/sh\n[ "$DYLD_ROOT_PATH" = "$SIMULATOR_ROOT" ] && echo relative\n');
  chmodSync(script, 0o755);
  expect(await spawn(udid, "echo", "--set", "x")).toMatchObject({ exit: 0, stdout: "--set x\n" });
  expect(await spawn(udid, "./tool.sh")).toMatchObject({ exit: 0, stdout: "relative\n" });
  expect(await spawn(udid, "no-such-program")).toMatchObject({ exit: 2 });
});

test("a signal ends the program, and how it ended is told", async () => {
  const killed = await sh("kill -9 $$");
  expect(killed).toMatchObject({ exit: 137, stderr: "Child process terminated with signal 9: SIGKILL\n" });
  const child = mac.start([
    "simctl",
    "spawn",
    udid,
    "/bin/sh",
    "-c",
    "trap 'echo ending; exit 3' TERM; echo ready; while :; do sleep 0.05; done",
  ]);
  const end = ended(child);
  await heard(child, "ready");
  child.kill("SIGTERM");
  expect(await end).toMatchObject({ exit: 3, stdout: "ready\nending\n" });
});

test("-s runs on a device that is shut down, nothing else does", async () => {
  const off = await mac.say("create", "off", "iPhone 17");
  expect((await mac.simctl("spawn", off, "echo", "x")).exit).toBe(149);
  expect(await spawn("-s", off, "echo", "x")).toMatchObject({ exit: 0, stdout: "x\n" });
});

test("launchctl lists jobs, and a script has to set DYLD_ROOT_PATH before it calls it", async () => {
  const list = await mac.say("spawn", udid, "launchctl", "list");
  expect(list).toMatch(/^PID\tStatus\tLabel\n(\d+|-)\t0\t/);
  const without = await sh("launchctl disable system/com.apple.news.newsd; echo outer done");
  expect(without).toMatchObject({ exit: 0, stdout: "outer done\n" });
  expect(without.stderr).toContain("dyld[");
  const withIt = await sh(
    'export DYLD_ROOT_PATH="$SIMULATOR_ROOT"; launchctl disable system/com.apple.news.newsd && launchctl print-disabled system',
  );
  expect(withIt.stdout).toContain('"com.apple.news.newsd" => disabled');
});

test("disabling takes effect at the next boot, also for a label that no job has, until an erase", async () => {
  const own = await mac.booted("slim");
  expect((await mac.simctl("spawn", own, "launchctl", "disable", "system/no.such.label")).exit).toBe(0);
  await mac.say("spawn", own, "launchctl", "disable", "system/com.apple.healthd");
  expect(await mac.say("spawn", own, "launchctl", "list")).toContain("com.apple.healthd");
  await mac.say("shutdown", own);
  await mac.say("boot", own);
  expect(await mac.say("spawn", own, "launchctl", "list")).not.toContain("com.apple.healthd");
  await mac.say("shutdown", own);
  await mac.say("erase", own);
  await mac.say("boot", own);
  expect(await mac.say("spawn", own, "launchctl", "list")).toContain("com.apple.healthd");
});

test("log stream tells of an app that starts, until it is interrupted", async () => {
  const child = mac.start(["simctl", "spawn", udid, "log", "stream", "--predicate", 'process == "reminders"']);
  const end = ended(child);
  await heard(child, "Timestamp");
  await mac.say("launch", udid, "com.apple.Maps");
  await mac.say("launch", udid, "com.apple.reminders");
  await heard(child, "[com.apple.reminders] started");
  child.kill("SIGINT");
  const { exit, stdout } = await end;
  expect(exit).toBe(0);
  expect(stdout).not.toContain("com.apple.Maps");
  expect(await mac.say("spawn", udid, "log", "show")).toContain("[com.apple.Maps] started");
});
