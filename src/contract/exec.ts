import { z } from "zod";
import { LeaseId } from "./ids.ts";
import { RequesterId } from "./lease.ts";

/** The device tools. The input takes any text, so that a wrong one is answered with `UNKNOWN_PASSTHROUGH_TOOL`. */
export const DEVICE_TOOLS = ["simctl", "adb", "devicectl"] as const;
export type DeviceTool = (typeof DEVICE_TOOLS)[number];

/** How a document-1 caller speaks of a command: the part of the input that MCP takes as it is. */
export const execCommandShape = {
  tool: z.string().min(1).max(64).describe("simctl, adb or devicectl."),
  args: z.array(z.string()).max(20_000).describe("The arguments, one element each, without the device."),
  stdin: z.string().optional().describe("Text for the command's standard input, which is empty and closed without it."),
};

export const ExecInput = z.strictObject({
  leaseId: LeaseId,
  ...execCommandShape,
  requesterId: RequesterId.optional(),
  /**
   * Keep only the last N characters (JavaScript string length) of each stream in the daemon and answer them with the result:
   * no `output` push is sent, only `activity`.
   */
  keepLast: z.int().min(0).max(1_048_576).optional(),
  /** The working directory of a local caller; the lease's scratch folder when left out. Refused from a remote caller. */
  cwd: z.string().min(1).max(4096).optional(),
});
export type ExecInput = z.infer<typeof ExecInput>;

/**
 * `exitCode` is the command's own, 128+n when signal n ended it. `stdout`, `stderr` and `truncated` are there when `keepLast` was asked for.
 * `notes` are facts worth telling: output that was not UTF-8, a command that was ended by the limit of a drain, …
 */
export const ExecResult = z.object({
  exitCode: z.int(),
  stdout: z.string().optional(),
  stderr: z.string().optional(),
  truncated: z.boolean().optional(),
  notes: z.array(z.string()).optional(),
});
export type ExecResult = z.infer<typeof ExecResult>;

export const OutputStream = z.enum(["stdout", "stderr"]);
export type OutputStream = z.infer<typeof OutputStream>;

export const PassthroughInput = z.strictObject({
  leaseId: LeaseId,
  tool: z.string().min(1).max(64),
  args: z.array(z.string()).max(20_000),
  requesterId: RequesterId.optional(),
  /** Whether the caller will give the command a terminal: a bare `adb shell` needs one. */
  hasTerminal: z.boolean().optional(),
  cwd: z.string().min(1).max(4096).optional(),
  /** Only decide: nothing is reserved and nothing may be run with the answer. */
  dryRun: z.boolean().optional(),
});
export type PassthroughInput = z.infer<typeof PassthroughInput>;

export const HostPathUse = z.object({ access: z.enum(["read", "write"]), path: z.string() });

/** What to run, decided. `runId` (absent in a dry run) is open until `run.end` or the end of the connection: the lease's end waits for it. */
export const PassthroughResult = z.object({
  runId: z.string().optional(),
  command: z.string(),
  args: z.array(z.string()),
  env: z.record(z.string(), z.string()),
  cwd: z.string().optional(),
  flags: z.array(z.enum(["L", "I", "X", "Y", "S"])),
  hostPaths: z.array(HostPathUse),
});
export type PassthroughResult = z.infer<typeof PassthroughResult>;
