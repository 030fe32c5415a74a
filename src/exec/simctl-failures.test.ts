import { expect, test } from "vitest";
import { commandFailure, failureOf, firstLines, toolchainFailure, xcodeMismatch } from "./simctl-failures.ts";
import type { ToolAnswer } from "./call-tool.ts";

const said = (exitCode: number, stderr: string, stdout = ""): ToolAnswer => ({ exitCode, stdout, stderr });

/** A refusal in today's form: `405` ends as exit code 149. */
const refusal = (text: string, code = 405): ToolAnswer =>
  said(
    code % 256,
    `An error was encountered processing the command (domain=com.apple.CoreSimulator.SimError, code=${code}):\n${text}\n`,
  );

test.each([146, 163, 164, 165, 405])("a refusal with code %i is known by its text", (code) => {
  const booted = refusal("Unable to erase contents and settings in current state: Booted", code);
  expect(failureOf(booted)).toEqual({ kind: "state", state: "Booted" });
});

test("every state that a refusal names is kept, the two-word one too", () => {
  expect(failureOf(refusal("Unable to shutdown device in current state: Shutdown"))).toEqual({
    kind: "state",
    state: "Shutdown",
  });
  expect(failureOf(refusal("Unable to boot device in current state: Shutting Down"))).toEqual({
    kind: "state",
    state: "Shutting Down",
  });
  expect(failureOf(said(164, "Device already booted\n"))).toEqual({ kind: "state", state: "Booted" });
});

test("the same number with another text is another failure", () => {
  expect(failureOf(refusal("Unable to boot the Simulator: launchd failed to respond."))).toEqual({ kind: "other" });
  expect(failureOf(said(164, "Invalid device: 6B7E2A10\n"))).toEqual({ kind: "no-device" });
  expect(failureOf(said(164, "Invalid device or device pair: 6B7E2A10\n"))).toEqual({ kind: "no-device" });
  expect(failureOf(said(161, "Invalid device type: com.x\n"))).toEqual({ kind: "no-device-type" });
  expect(failureOf(said(162, "Invalid runtime: com.x\n"))).toEqual({ kind: "no-runtime" });
  expect(failureOf(refusal("Incompatible device", 403))).toEqual({ kind: "no-runtime" });
  expect(failureOf(said(28, "No space left on device\n"))).toEqual({ kind: "disk-full" });
});

test.each([
  [72, 'xcrun: error: unable to find utility "simctl", not a developer tool or in PATH'],
  [
    1,
    "xcrun: error: invalid active developer path (/Library/Developer/CommandLineTools), missing xcrun at: /Library/Developer/CommandLineTools/usr/bin/xcrun",
  ],
  [
    1,
    "xcode-select: error: tool 'xcodebuild' requires Xcode, but active developer directory '/Library/Developer/CommandLineTools' is a command line tools instance",
  ],
])("exit %i, %s: Xcode is missing, and the hint chooses it", (exit, text) => {
  const error = toolchainFailure(said(exit, text));
  expect(error?.code).toBe("TOOL_MISSING");
  expect(error?.hint).toContain("xcode-select");
});

test("a licence and a first launch that are missing are told apart", () => {
  const licence =
    "You have not agreed to the Xcode license agreements. Please run 'sudo xcodebuild -license' from within a Terminal window";
  expect(toolchainFailure(said(69, licence))).toMatchObject({ code: "LICENSE_NOT_ACCEPTED" });
  const plugin =
    "A required plugin failed to load. Please ensure system content is up-to-date — try running 'xcodebuild -runFirstLaunch'.";
  expect(toolchainFailure(said(1, plugin))).toMatchObject({ code: "TOOL_FAILED", details: { reason: "first-launch" } });
  expect(toolchainFailure(refusal("Unable to boot device in current state: Booted"))).toBeUndefined();
  expect(toolchainFailure(said(0, "requires Xcode"))).toBeUndefined();
});

test("a service of another Xcode is named with both versions", () => {
  const text =
    "2025-09-01 10:00:00.000 simctl[12:34] CoreSimulator detected Xcode.app relocation or CoreSimulatorService version change.  Framework path (/Applications/Xcode.app/A) and version (1010.10) does not match existing job path (/Applications/Xcode-beta.app/B) and version (1048.1).";
  const error = xcodeMismatch(said(0, text));
  expect(error?.message).toContain("1010.10 here, 1048.1 running");
  expect(xcodeMismatch(said(0, "something else"))).toBeUndefined();
});

test("an error repeats the tool's words on one line, without control characters, and cut", () => {
  expect(firstLines(said(1, "first\r\nsec\u001b[31mond\n\n"))).toBe("first sec [31mond");
  expect(firstLines(said(1, "", "only stdout"))).toBe("only stdout");
  expect(firstLines(said(1, " \n"))).toBe("it said nothing");
  expect(firstLines(said(1, "x".repeat(5_000)))).toHaveLength(400);
  expect(commandFailure(["erase", "U"], said(3, "no"))).toMatchObject({
    code: "TOOL_FAILED",
    message: "`simctl erase` failed with exit code 3: no",
  });
});
