import { expect, test } from "vitest";
import { SimlockError } from "../../contract/index.ts";
import { KINDS, RecordedMac, said, timedOut } from "./recorded-mac.ts";

test("nothing is missing where Xcode works and has a runtime", async () => {
  using mac = new RecordedMac();
  expect(await mac.driver().prerequisites()).toEqual([]);
});

test.each([
  ["xcode", new SimlockError("TOOL_MISSING", "xcrun is not there.", { hint: "Install Xcode." })],
  ["xcode", said(72, 'xcrun: error: unable to find utility "simctl", not a developer tool or in PATH')],
  ["xcode-license", said(69, "You have not agreed to the Xcode license agreements.")],
  ["xcode-first-launch", said(1, "A required plugin failed to load. Try running 'xcodebuild -runFirstLaunch'.")],
  ["simctl", timedOut("list")],
  ["simctl", said(1, "something that nobody has seen")],
])("%s is named with what was tried and a remedy", async (prerequisite, reply) => {
  using mac = new RecordedMac();
  mac.next("list kinds", reply);
  const findings = await mac.driver().prerequisites();
  expect(findings).toMatchObject([
    {
      kind: "prerequisite-missing",
      platform: "ios",
      prerequisite,
      tried: [expect.stringContaining("xcrun"), expect.any(String)],
    },
  ]);
  expect(findings[0]).toHaveProperty("remedy", expect.stringMatching(/\S/));
});

test("a fresh Xcode without runtimes, or with only broken ones, lacks its runtime", async () => {
  using mac = new RecordedMac();
  const driver = mac.driver();
  mac.next("list kinds", said(0, "", KINDS.replace('"isAvailable":true', '"isAvailable":false')));
  expect(await driver.prerequisites()).toMatchObject([
    { prerequisite: "ios-runtime", remedy: expect.stringContaining("-downloadPlatform iOS") },
  ]);
});

test("a watchOS runtime alone runs no iPhone", async () => {
  using mac = new RecordedMac();
  mac.next("list kinds", said(0, "", KINDS.replace('"platform":"iOS"', '"platform":"watchOS"')));
  expect(await mac.driver().prerequisites()).toMatchObject([{ prerequisite: "ios-runtime" }]);
});

test("a first launch that was never made is found by xcodebuild's exit code alone", async () => {
  using mac = new RecordedMac();
  mac.next("xcodebuild", said(69, ""));
  expect(await mac.driver().prerequisites()).toMatchObject([{ prerequisite: "xcode-first-launch" }]);
});

test("a device set that may not be ours is named with the reason", async () => {
  using mac = new RecordedMac();
  const findings = await mac.driver({ deviceSet: "relative/set" }).prerequisites();
  expect(findings).toMatchObject([
    { prerequisite: "ios-device-set", message: expect.stringContaining("not an absolute path") },
  ]);
  expect(mac.calls.some((args) => args.includes("relative/set"))).toBe(false);
});
