import { parseArguments } from "../arguments.ts";
import type { Call } from "../call.ts";
import { RUNTIMES } from "../catalog/runtimes.ts";
import type { Runtime, RuntimePlatform } from "../catalog/runtimes.ts";
import { failure } from "../failure.ts";
import { appleJson } from "../formats/apple-json.ts";
import { mountOf, runtimeBundle } from "../runtime-files.ts";
import { isAvailable } from "../selection.ts";

const PLATFORM_IDS: Readonly<Record<RuntimePlatform, readonly [simulator: string, sdk: string]>> = {
  iOS: ["com.apple.platform.iphonesimulator", "iphoneos"],
  watchOS: ["com.apple.platform.watchsimulator", "watchos"],
  tvOS: ["com.apple.platform.appletvsimulator", "appletvos"],
  visionOS: ["com.apple.platform.xrsimulator", "xros"],
};

/** `runtime list` and `runtime match list`. What would change the host's runtimes is refused. */
export function runtime(call: Call, args: readonly string[]): void {
  const parsed = parseArguments("runtime", args, { flags: ["-j --json", "-v --verbose"] });
  const [action, second] = parsed.operands;
  const runtimes = RUNTIMES.filter((each) => isAvailable(call.control, each.identifier));
  if (action === "list") call.out(parsed.has("-j") ? imagesJson(call, runtimes) : imagesText(runtimes));
  else if (action === "match" && second === "list") call.out(matches(runtimes, parsed.has("-j")));
  else if (action === undefined) throw failure("usage", { why: "usage: simctl runtime list | match list [-j] [-v]" });
  else
    throw failure("refused", {
      what: `runtime ${action}`,
      why: "its runtimes are fixed; leave some out with missingRuntimes",
    });
}

function imagesJson(call: Call, runtimes: readonly Runtime[]): string {
  const images = runtimes.map((each) => [
    each.imageId,
    {
      build: each.build,
      deletable: true,
      identifier: each.imageId,
      kind: "Disk Image",
      mountPath: mountOf(call.root, each),
      path: `/Library/Developer/CoreSimulator/Images/${each.imageId}.dmg`,
      platformIdentifier: PLATFORM_IDS[each.platform][0],
      runtimeBundlePath: runtimeBundle(call.root, each),
      runtimeIdentifier: each.identifier,
      signatureState: "Verified",
      sizeBytes: each.sizeBytes,
      state: "Ready",
      supportedArchitectures: ["arm64"],
      version: each.version,
    },
  ]);
  return `${appleJson(Object.fromEntries(images))}\n`;
}

function imagesText(runtimes: readonly Runtime[]): string {
  const platforms = [...new Set(runtimes.map((each) => each.platform))];
  const lines = platforms.flatMap((platform) => [
    `-- ${platform} --`,
    ...runtimes
      .filter((each) => each.platform === platform)
      .map((each) => `${each.name} (${each.build}) - ${each.imageId} (Ready)`),
  ]);
  const total = runtimes.reduce((sum, each) => sum + each.sizeBytes, 0);
  return `== Disk Images ==\n${lines.join("\n")}\n\nTotal Disk Images: ${runtimes.length} (${(total / 2 ** 30).toFixed(1)}G)\n`;
}

/** Which runtime each SDK of this Xcode uses: the newest of its platform. */
function matches(runtimes: readonly Runtime[], json: boolean): string {
  const platforms = [...new Set(runtimes.map((each) => each.platform))];
  const rows = platforms.flatMap((platform) => {
    const newest = runtimes.findLast((each) => each.platform === platform);
    return newest === undefined ? [] : [{ key: `${PLATFORM_IDS[platform][1]}${newest.version}`, newest }];
  });
  if (!json) {
    const lines = rows.map(({ key, newest }) => `${key}: ${newest.name} (${newest.build}) [Default]\n`);
    return `== Matches between SDKs and Runtimes ==\n${lines.join("")}`;
  }
  const byKey = rows.map(({ key, newest }) => [
    key,
    {
      chosenRuntimeBuild: newest.build,
      defaultBuild: newest.build,
      platform: PLATFORM_IDS[newest.platform][1],
      sdkVersion: newest.version,
    },
  ]);
  return `${appleJson(Object.fromEntries(byKey))}\n`;
}
