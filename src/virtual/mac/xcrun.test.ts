import { afterAll, beforeAll, expect, test } from "vitest";
import { setFaults } from "../index.ts";
import { macForTest } from "./mac-for-test.ts";
import type { TestMac } from "./mac-for-test.ts";

let mac: TestMac;
beforeAll(() => {
  mac = macForTest();
});
afterAll(() => mac.dispose());

test("xcrun answers for itself and for the tools beside simctl", async () => {
  expect(await mac.xcrun(["--version"])).toMatchObject({ exit: 0, stdout: "xcrun version 72.\n" });
  expect(await mac.here(["-f", "simctl"])).toMatchObject({
    exit: 0,
    stdout: "/Applications/Xcode.app/Contents/Developer/usr/bin/simctl\n",
  });
  expect(await mac.here(["xcodebuild", "-version"])).toMatchObject({
    exit: 0,
    stdout: "Xcode 26.1\nBuild version 17B55\n",
  });
  expect((await mac.here(["--sdk", "iphonesimulator", "simctl", "list", "pairs"])).stdout).toBe("== Device Pairs ==\n");
  expect(await mac.here(["devicectl", "list"])).toMatchObject({
    exit: 72,
    stderr: 'xcrun: error: unable to find utility "devicectl", not a developer tool or in PATH\n',
  });
});

test("without Xcode there is no simctl", async () => {
  setFaults(mac.root, { xcode: "command-line-tools" });
  expect(await mac.here(["simctl", "list"])).toMatchObject({
    exit: 72,
    stderr: 'xcrun: error: unable to find utility "simctl", not a developer tool or in PATH\n',
  });
  expect((await mac.here(["xcodebuild", "-version"])).stderr).toContain("requires Xcode");
  setFaults(mac.root, { pace: "none" });
});

test("no Mac is assumed where none is named", async () => {
  expect(await mac.here(["simctl", "list"], { env: { SIMLOCK_VIRTUAL_MAC: "" } })).toMatchObject({
    exit: 1,
    stdout: "",
  });
});

test("what is no verb, and an option that is none of simctl's, is refused", async () => {
  const answers = await Promise.all([
    mac.here(["simctl", "Install", "/a.app"]),
    mac.here(["simctl", "toString"]),
    mac.here(["simctl", "--noxpc", "list"]),
    mac.here(["simctl", "--set"]),
  ]);
  expect(answers.map((answer) => answer.exit)).toEqual([2, 2, 2, 2]);
  expect(answers[0]?.stderr).toContain("Unrecognized subcommand: Install");
});
