import { SimlockError } from "../contract/index.ts";
import type { ToolAnswer } from "./call-tool.ts";

/**
 * What a failed simctl command means. Decided by its text: exit codes for one and the same refusal differ between Xcode versions (146, 163,
 * 164, 165, 405), while the text has stayed.
 */
export type Failure =
  /** It refused because of the device's state, which the text names: Booted, Shutdown, Booting, … */
  | { readonly kind: "state"; readonly state: string }
  | { readonly kind: "no-device" }
  | { readonly kind: "no-runtime" }
  | { readonly kind: "no-device-type" }
  | { readonly kind: "disk-full" }
  | { readonly kind: "other" };

export function failureOf(answer: ToolAnswer): Failure {
  const text = `${answer.stderr}\n${answer.stdout}`;
  const state = /current state: *([A-Za-z]+(?: Down)?)/.exec(text)?.[1];
  if (state !== undefined) return { kind: "state", state };
  if (/already booted/i.test(text)) return { kind: "state", state: "Booted" };
  if (/invalid device type/i.test(text)) return { kind: "no-device-type" };
  if (/invalid runtime|incompatible device|runtime .*not (?:found|available)/i.test(text))
    return { kind: "no-runtime" };
  if (/invalid device/i.test(text)) return { kind: "no-device" };
  if (/no space left on device/i.test(text)) return { kind: "disk-full" };
  return { kind: "other" };
}

export const RESTART_CORE_SIMULATOR =
  "Restart CoreSimulator: `sudo killall -9 com.apple.CoreSimulator.CoreSimulatorService`, then run `simlock doctor`.";

const INSTALL_XCODE =
  "Install Xcode, then choose it: `sudo xcode-select --switch /Applications/Xcode.app`. The Command Line Tools alone have no simctl.";

/** The failures that lie before simctl itself: no Xcode, a licence that nobody agreed to, a first launch that never was. */
export function toolchainFailure(answer: ToolAnswer): SimlockError | undefined {
  if (answer.exitCode === 0) return undefined;
  const text = answer.stderr;
  if (/unable to find utility|invalid active developer path|requires Xcode|no developer tools were found/i.test(text)) {
    return new SimlockError("TOOL_MISSING", `xcrun can't start simctl: ${firstLines(answer)}`, { hint: INSTALL_XCODE });
  }
  if (/agree(?:d)? to the Xcode(?: and Apple SDKs)? licen[sc]e|Xcode licen[sc]e/i.test(text)) {
    return new SimlockError("LICENSE_NOT_ACCEPTED", `Xcode refuses to start: ${firstLines(answer)}`, {
      hint: "Agree to Xcode's licence: `sudo xcodebuild -license accept`.",
    });
  }
  if (/runFirstLaunch|required plug-?in failed to load/i.test(text)) {
    return new SimlockError("TOOL_FAILED", `Xcode has not finished its installation: ${firstLines(answer)}`, {
      hint: "Let Xcode install its components: `sudo xcodebuild -runFirstLaunch`.",
      details: { reason: "first-launch" },
    });
  }
  return undefined;
}

/** CoreSimulator's service was started by another Xcode. The first command after the switch can print nothing; the next one works. */
export function xcodeMismatch(answer: ToolAnswer): SimlockError | undefined {
  if (!/Xcode\.app relocation or CoreSimulatorService version change/i.test(answer.stderr)) return undefined;
  const versions = [...answer.stderr.matchAll(/version \(([^()]+)\)/g)].map((match) => match[1]);
  const between = versions.length >= 2 ? ` (${versions[0]} here, ${versions[1]} running)` : "";
  return new SimlockError(
    "TOOL_FAILED",
    `simctl and the running CoreSimulator service belong to different Xcode versions${between}.`,
    {
      hint: "Quit Simulator and every other Xcode, then try again; `xcode-select -p` shows which Xcode is chosen.",
      details: { reason: "xcode-mismatch", versions: versions.slice(0, 2) },
    },
  );
}

/** Any other failure of a command, in the tool's own words. */
export function commandFailure(args: readonly string[], answer: ToolAnswer): SimlockError {
  const verb = args.find((arg) => !arg.startsWith("-")) ?? "";
  return new SimlockError(
    "TOOL_FAILED",
    `\`simctl ${verb}\` failed with exit code ${answer.exitCode}: ${firstLines(answer)}`,
    {
      hint: "Run `simlock doctor`; `simlock daemon logs` has the command.",
      details: { exitCode: answer.exitCode },
    },
  );
}

/** The first words of what a tool said, on one line and without control characters. */
export function firstLines(answer: ToolAnswer): string {
  const text = (answer.stderr.trim() === "" ? answer.stdout : answer.stderr)
    .split(/\r?\n/)
    .map((line) => line.replaceAll(/\p{Cc}/gu, " ").trim())
    .filter((line) => line !== "")
    .slice(0, 4)
    .join(" ");
  return text === "" ? "it said nothing" : text.slice(0, 400);
}
