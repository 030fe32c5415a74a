import type { Control } from "./control.ts";
import { failure } from "./failure.ts";
import type { Outside } from "./outside.ts";

export const XCODE = { version: "26.1", build: "17B55" } as const;
const DEVELOPER = "/Applications/Xcode.app/Contents/Developer";
const SDKS = `${DEVELOPER}/Platforms/iPhoneSimulator.platform/Developer/SDKs`;

/**
 * `xcrun` itself, and the utilities beside simctl that a caller asks for its facts. Anything else is not in this Mac's Xcode. Ends with an
 * exit code, or with the arguments of the simctl that was named behind xcrun's own options.
 */
export function tool(
  argv: readonly string[],
  control: Control,
  outside: Outside,
): number | { readonly simctl: readonly string[] } {
  const words = [...argv];
  const say = (line: string) => {
    outside.out(`${line}\n`);
    return 0;
  };
  let find = false;
  while (words[0]?.startsWith("-") === true) {
    const option = words.shift()?.replace(/^--/, "-") ?? "";
    if (option === "-version") return say("xcrun version 72.");
    if (option === "-help" || option === "-h") return say("Usage: xcrun [options] <tool name> ... arguments ...");
    if (option === "-f" || option === "-find") find = true;
    else if (option === "-sdk" || option === "-toolchain") words.shift();
    else if (option === "-show-sdk-path") return say(`${SDKS}/iPhoneSimulator.sdk`);
    else if (option === "-show-sdk-version") return say(XCODE.version);
    else if (option === "-show-sdk-build-version") return say(XCODE.build);
    else if (!["-r", "-run", "-l", "-log", "-v", "-verbose", "-n", "-no-cache", "-k", "-kill-cache"].includes(option)) {
      throw failure("usage", { why: `xcrun: error: unrecognized option '${option}'` });
    }
  }
  const [name, ...args] = words;
  if (name === undefined) throw failure("usage", { why: "xcrun: error: no tool name given" });
  const xcode = control.xcode ?? "installed";
  const known = name === "simctl" ? xcode === "installed" : name === "xcodebuild" && xcode !== "absent";
  if (!known) throw failure("utilityMissing", { tool: name });
  if (find) return say(`${DEVELOPER}/usr/bin/${name}`);
  return name === "simctl" ? { simctl: args } : xcodebuild(args, xcode, say);
}

function xcodebuild(
  args: readonly string[],
  xcode: NonNullable<Control["xcode"]>,
  say: (line: string) => number,
): number {
  if (xcode === "command-line-tools") {
    // The text that a Mac with nothing but the Command Line Tools answers; callers look for "requires Xcode".
    throw failure("refused", {
      what: "xcode-select: error: tool 'xcodebuild'",
      why: "it requires Xcode, but active developer directory '/Library/Developer/CommandLineTools' is a command line tools instance",
    });
  }
  if (args[0] === "-version") return say(`Xcode ${XCODE.version}\nBuild version ${XCODE.build}`);
  if (args[0] === "-checkFirstLaunchStatus" || args[0] === "-license") return 0;
  throw failure("refused", {
    what: `xcodebuild ${args[0] ?? ""}`.trim(),
    why: "it builds nothing and downloads nothing",
  });
}
