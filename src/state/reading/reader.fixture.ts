import type { RunSimctl, SimctlResult, SimctlRun } from "../types.ts";

export const UDID = "6B7E2A10-5C1F-4B7E-9E55-3F1C8E7A0001";
const RUNTIME = "com.apple.CoreSimulator.SimRuntime.iOS-26-1";

/** A listing of one device in today's form. */
export function listing(state = "Booted", device: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    devicetypes: [{ name: "iPhone 17", identifier: "com.apple.CoreSimulator.SimDeviceType.iPhone-17" }],
    runtimes: [{ identifier: RUNTIME, name: "iOS 26.1", version: "26.1", platform: "iOS", isAvailable: true }],
    devices: { [RUNTIME]: [{ udid: UDID, name: "iPhone 17", state, isAvailable: true, ...device }] },
  });
}

export const said = (stdout: string, exitCode = 0, stderr = ""): SimctlResult => ({ exitCode, stdout, stderr });

export const refused = (text: string, code = 405): SimctlResult =>
  said(
    "",
    code % 256,
    `An error was encountered processing the command (domain=com.apple.CoreSimulator.SimError, code=${code}):\n${text}\n`,
  );

export const NO_DEFAULTS = said(
  "",
  1,
  "2026-09-01 10:00:00.123 defaults[90:1] \nThe domain NSGlobalDomain does not exist\n",
);

/** What a booted device answers that nothing was changed on. */
function good(args: readonly string[]): SimctlResult {
  const [verb, ...rest] = args;
  switch (verb) {
    case "list":
      return said(listing());
    case "listapps":
      return said(
        '{"com.acme.demo":{"ApplicationType":"User","CFBundleIdentifier":"com.acme.demo","CFBundleVersion":"7"}}',
      );
    case "spawn":
      return rest[1] === "launchctl" ? said("PID\tStatus\tLabel\n41\t0\tcom.apple.SpringBoard\n") : NO_DEFAULTS;
    case "status_bar":
      return said("Current Status Bar Overrides:\n=============================\n");
    case "ui":
      return said({ appearance: "light\n", increase_contrast: "disabled\n" }[rest[1] ?? ""] ?? "large\n");
    default:
      return said("");
  }
}

type Answer = SimctlResult | Error | ((run: SimctlRun) => SimctlResult | Promise<SimctlResult>);

export interface RecordedSimctl {
  readonly run: RunSimctl;
  readonly calls: readonly (readonly string[])[];
  /** How many commands with this verb were run. */
  count(verb: string): number;
}

/** simctl with one booted device; `answers` by the first words of a command (`ui U appearance` is `ui appearance`) take the place of its own. */
export function recordedSimctl(answers: Readonly<Record<string, Answer | readonly Answer[]>> = {}): RecordedSimctl {
  const calls: (readonly string[])[] = [];
  const left = new Map(
    Object.entries(answers).map(([key, answer]) => [key, Array.isArray(answer) ? [...answer] : [answer]] as const),
  );
  const run: RunSimctl = async (command) => {
    command.signal?.throwIfAborted();
    calls.push(command.args);
    const words = command.args.filter((arg) => arg !== UDID).join(" ");
    const queue = [...left].find(([key]) => words === key || words.startsWith(`${key} `))?.[1];
    // The last answer stays.
    const answer: Answer | undefined = queue !== undefined && queue.length > 1 ? queue.shift() : queue?.[0];
    if (answer === undefined) return good(command.args);
    if (answer instanceof Error) throw answer;
    return typeof answer === "function" ? answer(command) : answer;
  };
  return { run, calls, count: (verb) => calls.filter((args) => args[0] === verb).length };
}
