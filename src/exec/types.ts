import type { DeviceTool, HostPathUse } from "../contract/index.ts";
import type { z } from "zod";

/** The device of the lease, as its tool names it. */
export type LeasedDevice =
  | { readonly kind: "simulator"; readonly udid: string }
  | { readonly kind: "emulator"; readonly serial: string }
  | { readonly kind: "android"; readonly serial: string }
  | { readonly kind: "iphone"; readonly udid: string };

export interface Command {
  readonly tool: string;
  readonly args: readonly string[];
}

export type Flag = "L" | "I" | "X" | "Y" | "S";
export type HostPath = z.infer<typeof HostPathUse>;

/** Why a host path is closed to this caller, or undefined where it is open. */
export type PathPolicy = (use: HostPath) => { readonly why: string; readonly hint: string } | undefined;

/** Everything about the world that a decision depends on: the decision itself reads nothing. */
export interface Setting {
  readonly device: LeasedDevice;
  readonly terminal: boolean;
  readonly stdin: boolean;
  readonly paths: PathPolicy;
  /** The adb server's forwards, LOCAL to serial. */
  readonly forwards: ReadonlyMap<string, string>;
  /** Host ports that no forward or reverse may name, beside the fixed ones: adb servers' and the daemon's own. */
  readonly reservedPorts: ReadonlySet<number>;
  readonly hostCode: "allow" | "deny";
}

export type RefusalReason =
  | "wrong-tool"
  | "other-device"
  | "device-selector"
  | "device-set"
  | "server"
  | "lifecycle"
  | "host-wide"
  | "host-exec"
  | "host-path"
  | "host-network"
  | "no-terminal"
  | "never-ends"
  | "unknown-verb"
  | "unknown-option"
  | "malformed";

/** `args` is what follows the tool's prefix: written anew from the parsed parts, never the caller's array patched. */
export type Verdict =
  | {
      readonly kind: "run";
      readonly tool: DeviceTool;
      readonly args: readonly string[];
      readonly flags: readonly Flag[];
      readonly hostPaths: readonly HostPath[];
      readonly hints: readonly string[];
    }
  | {
      readonly kind: "refuse";
      readonly reason: RefusalReason;
      readonly token: string;
      readonly message: string;
      readonly hint: string;
    }
  | { readonly kind: "unknown-tool"; readonly tool: string };

/** One command on its way: started, bounded, drained. */
export interface RunRequest {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Written and closed; closed at once when absent. */
  readonly stdin?: string | undefined;
  readonly timeoutMs: number;
  /** End with SIGINT and give it 5 s first (flag I), else SIGTERM; SIGKILL follows. The whole group each time. */
  readonly interruptFirst: boolean;
  /** Keep the last N characters of each stream instead of handing output on. */
  readonly keepLast?: number | undefined;
  /** Each decoded chunk. A promise that is pending holds the command's pipe back. */
  readonly onOutput?: ((stream: "stdout" | "stderr", chunk: string) => void | Promise<void>) | undefined;
  /** How many characters each stream has brought so far: at most once a second, while output arrives. */
  readonly onActivity?: ((lengths: { readonly stdout: number; readonly stderr: number }) => void) | undefined;
  readonly onStarted?: ((pid: number) => void) | undefined;
  /** Cancels the command: SIGINT, SIGTERM, SIGKILL. The reason decides what the run is answered with. */
  readonly signal?: AbortSignal | undefined;
}

export interface RunResult {
  /** The command's own, or 128+n when signal n ended it. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
  /** Characters each stream brought in all. */
  readonly stdoutLength: number;
  readonly stderrLength: number;
  readonly notes: readonly string[];
}
