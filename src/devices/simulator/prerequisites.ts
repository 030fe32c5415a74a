import { SimlockError } from "../../contract/index.ts";
import type { Finding, HostTool } from "../../contract/index.ts";
import { firstLines, RESTART_CORE_SIMULATOR, toolchainFailure } from "../../exec/index.ts";
import type { DeviceSet } from "./device-set.ts";
import { LIMITS } from "./simctl.ts";
import type { Simctl, Xcrun } from "./simctl.ts";

type Missing = Extract<Finding, { kind: "prerequisite-missing" }>;

function missing(
  prerequisite: string,
  error: { message: string; hint?: string | undefined },
  tried?: readonly string[],
): Missing {
  return {
    kind: "prerequisite-missing",
    platform: "ios",
    prerequisite,
    message: error.message,
    remedy: error.hint ?? "Run `xcrun simctl list` yourself: it says what it lacks.",
    ...(tried === undefined ? {} : { tried: [...tried] }),
  };
}

function prerequisiteOf(error: SimlockError): string {
  if (error.code === "TOOL_MISSING") return "xcode";
  if (error.code === "LICENSE_NOT_ACCEPTED") return "xcode-license";
  if (error.code === "CONFIG_INVALID") return "ios-device-set";
  return error.details?.["reason"] === "first-launch" ? "xcode-first-launch" : "simctl";
}

/** What keeps this host from making simulators: Xcode, its licence, its first launch, the device set, a runtime. Bounded; what can't be told counts as missing. */
export async function prerequisites(
  simctl: Simctl,
  set: DeviceSet,
  xcrun: Xcrun,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const tried = [[xcrun.file, ...simctl.prefix].join(" "), ...placesOf(xcrun)];
  // A first listing may take minutes where work waits for it; here somebody waits to be told what is wrong.
  const patience = AbortSignal.timeout(LIMITS.prerequisites);
  try {
    const { runtimes } = await set.kinds(AbortSignal.any([signal, patience]));
    const findings: Finding[] = [];
    const firstLaunch = await firstLaunchOf(simctl, signal);
    if (firstLaunch !== undefined) findings.push(firstLaunch);
    if (!runtimes.some((runtime) => runtime.platform === "iOS" && runtime.unavailable === undefined)) {
      findings.push(
        missing("ios-runtime", {
          message: "No iOS simulator runtime is installed: iPhones and iPads have nothing to run.",
          hint: "Install one: `xcodebuild -downloadPlatform iOS`, or Xcode, Settings, Components.",
        }),
      );
    }
    return findings;
  } catch (error) {
    signal.throwIfAborted();
    if (patience.aborted) {
      const message = `simctl gave no answer within ${LIMITS.prerequisites / 1_000} s.`;
      return [missing("simctl", { message, hint: RESTART_CORE_SIMULATOR }, tried)];
    }
    if (error instanceof SimlockError) return [missing(prerequisiteOf(error), error, tried)];
    throw error;
  }
}

/** What decides which Xcode xcrun takes. */
function placesOf(xcrun: Xcrun): readonly string[] {
  const chosen = xcrun.env["DEVELOPER_DIR"];
  return [chosen === undefined ? "the Xcode that `xcode-select -p` prints" : `DEVELOPER_DIR=${chosen}`];
}

/** `xcodebuild -checkFirstLaunchStatus` answers by its exit code alone: 69 when components are still to be installed. */
async function firstLaunchOf(simctl: Simctl, signal: AbortSignal): Promise<Missing | undefined> {
  const answer = await simctl.sibling(["xcodebuild", "-checkFirstLaunchStatus"], {
    timeoutMs: LIMITS.version,
    signal,
  });
  if (answer.exitCode === 0) return undefined;
  const broken = toolchainFailure(answer);
  if (broken !== undefined) return missing(prerequisiteOf(broken), broken);
  return missing("xcode-first-launch", {
    message: `Xcode has not finished its installation (exit code ${answer.exitCode}: ${firstLines(answer)}).`,
    hint: "Let Xcode install its components: `sudo xcodebuild -runFirstLaunch`.",
  });
}

/** `Xcode 26.0` and `Build version 17A324`; empty when it says neither. Throws where xcodebuild can't be run. */
export async function xcodeVersion(simctl: Simctl, signal: AbortSignal): Promise<readonly HostTool[]> {
  const answer = await simctl.sibling(["xcodebuild", "-version"], { timeoutMs: LIMITS.version, signal });
  const version = /^Xcode (\S{1,128})/m.exec(answer.stdout)?.[1];
  if (answer.exitCode !== 0 || version === undefined) return [];
  const build = /^Build version (\S{1,128})/m.exec(answer.stdout)?.[1];
  return [{ platform: "ios", name: "xcode", version, ...(build === undefined ? {} : { build }) }];
}
