import { SimlockError } from "../../src/contract/index.ts";
import type { Driver, OwnDevice } from "../../src/devices/index.ts";
import {
  confinedPaths,
  decideCommand,
  runCommand,
  toolEnvironment,
  type RunResult,
  type Verdict,
} from "../../src/exec/index.ts";

export interface HolderOptions {
  readonly driver: Driver;
  readonly device: OwnDevice;
  /** Its working directory, and the only place that it may write to. */
  readonly scratch: string;
  readonly reservedPorts?: ReadonlySet<number>;
}

export interface RunOptions {
  readonly stdin?: string;
  readonly timeoutMs?: number;
  readonly keepLast?: number;
  readonly signal?: AbortSignal;
  readonly onStarted?: () => void;
  readonly onOutput?: (stream: "stdout" | "stderr", chunk: string) => void | Promise<void>;
}

/** The holder of a lease, as the daemon serves one: each command is decided by the grammar and run on the device that is found at that moment. */
export function holderOf({ driver, device, scratch, reservedPorts = new Set() }: HolderOptions) {
  async function decide(args: readonly string[], stdin = false): Promise<Verdict> {
    return decideCommand(
      { tool: "adb", args },
      {
        device: await driver.target(device),
        terminal: false,
        stdin,
        paths: confinedPaths({ scratch, protectedRoots: [] }),
        forwards: (await driver.forwards?.()) ?? new Map<string, string>(),
        reservedPorts,
        hostCode: "allow",
      },
    );
  }

  async function perform(verdict: Extract<Verdict, { kind: "run" }>, options: RunOptions = {}): Promise<RunResult> {
    const command = driver.command("adb");
    return runCommand({
      file: command.file,
      args: [...command.prefix, ...verdict.args],
      env: toolEnvironment(process.env, command.env, { tmpdir: scratch }),
      cwd: scratch,
      stdin: options.stdin,
      timeoutMs: options.timeoutMs ?? 60_000,
      interruptFirst: verdict.flags.includes("I"),
      keepLast: options.keepLast ?? (options.onOutput === undefined ? 32_768 : undefined),
      onOutput: options.onOutput,
      onStarted: options.onStarted,
      signal: options.signal,
    });
  }

  async function run(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
    const verdict = await decide(args, options.stdin !== undefined);
    if (verdict.kind === "run") return perform(verdict, options);
    throw new SimlockError("PASSTHROUGH_REFUSED", verdict.kind === "refuse" ? verdict.message : verdict.tool);
  }

  return { decide, perform, run };
}

export type Holder = ReturnType<typeof holderOf>;
