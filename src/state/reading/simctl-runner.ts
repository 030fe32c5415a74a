import { tmpdir } from "node:os";
import { callTool, toolEnvironment } from "../../exec/index.ts";
import type { RunSimctl } from "../types.ts";

/** How `xcrun` is started: the real one, or Node with a stand-in's entry. `env` is what it needs beside the basic variables. */
export interface XcrunCommand {
  readonly file: string;
  readonly prefix: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface SimctlRunnerOptions {
  readonly xcrun: XcrunCommand;
  /** What the commands inherit from, by an allow-list. DEVELOPER_DIR goes with it: it says which Xcode's simulators are meant. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** An absolute path: `--set`. Without it, the user's default device set. */
  readonly deviceSet?: string;
  readonly call?: typeof callTool;
}

const MOST_BYTES = 32 * 1024 * 1024;

/** `xcrun simctl` as a process of its own for each command, each in its own process group, within its limits. */
export function simctlRunner(options: SimctlRunnerOptions): RunSimctl {
  const { xcrun, env, deviceSet, call = callTool } = options;
  const developerDirectory = env["DEVELOPER_DIR"];
  const chosen: Record<string, string> = developerDirectory === undefined ? {} : { DEVELOPER_DIR: developerDirectory };
  const set = deviceSet === undefined ? [] : ["--set", deviceSet];
  return (run) =>
    call({
      file: xcrun.file,
      args: [...xcrun.prefix, "simctl", ...set, ...run.args],
      env: toolEnvironment(env, { ...chosen, ...xcrun.env, ...run.environment }, { tmpdir: tmpdir() }),
      timeoutMs: run.timeoutMs,
      maxBytes: MOST_BYTES,
      signal: run.signal,
      stdin: run.stdin,
      onStarted: run.onStarted,
    });
}
