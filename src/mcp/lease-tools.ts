import { z } from "zod";
import {
  LeaseGrant,
  LeaseId,
  LeaseRecord,
  MODEL_XOR_CLASS,
  Platform,
  PlatformCatalog,
  SimlockError,
  execCommandShape,
  leaseRequestShape,
  type ExecResult,
} from "../contract/index.ts";
import { defineTool, type Tool } from "../tool/index.ts";
import type { Clock } from "./clock.ts";
import { leaseProgress } from "./lease-progress.ts";
import { runProgress } from "./run-progress.ts";
import { KEPT_CHARACTERS, type McpSession } from "./session.ts";
import { lastCharacters } from "./last-characters.ts";

/**
 * The toolset `leases`: one agent's way to a device. Inputs and outputs are made of the contract's own schemas; the table of operations itself
 * is not loaded, since an agent waits for this process to start.
 */
export function leaseTools(session: McpSession, clock: Clock): readonly Tool[] {
  return [
    listDevices(session),
    leaseSimulator(session, clock),
    releaseSimulator(session),
    leaseStatus(session),
    runOnDevice(session, clock),
  ];
}

function listDevices(session: McpSession) {
  return defineTool({
    name: "list_devices",
    title: "List leasable devices",
    description:
      "List the device models that can be leased and the OS versions installed for them. Call it before lease_simulator instead of guessing a model or version. It leases and downloads nothing.",
    input: z.strictObject({ platform: Platform.optional().describe("Only this platform: ios or android.") }),
    output: z.object({ platforms: z.array(PlatformCatalog) }),
    effects: ["read"],
    handle: (input, call) => session.listDevices(input, call),
  });
}

function leaseSimulator(session: McpSession, clock: Clock) {
  return defineTool({
    name: "lease_simulator",
    title: "Lease a device",
    description:
      "Lease one simulator, emulator or phone for this session; nobody else can use it until you release it or the session ends. Renewed for you. Waits in a queue, and while a device is made and booted, unless noWait is true. Nothing is downloaded unless allowDownload is true. One lease at a time: release it before you ask for another.",
    input: z.strictObject(leaseRequestShape),
    output: LeaseGrant,
    effects: ["write"],
    async handle(input, call) {
      // The contract's own refinement has no shape that tools/list could show.
      if (input.model !== undefined && input.class !== undefined) {
        throw new SimlockError("BAD_REQUEST", `class: ${MODEL_XOR_CLASS}`);
      }
      const progress = call.progress && leaseProgress(clock, call.progress);
      try {
        return await session.serially(call, () =>
          session.lease(input, { signal: call.signal, onProgress: progress?.report }),
        );
      } finally {
        progress?.stop();
      }
    },
  });
}

function releaseSimulator(session: McpSession) {
  return defineTool({
    name: "release_simulator",
    title: "Release a device",
    description:
      "Give a leased device back as soon as you are done with it. It is erased before anybody else gets it: save what you need first.",
    input: z.strictObject({
      leaseId: LeaseId.describe("lease.id of lease_simulator's answer, or id of lease_status."),
    }),
    output: z.object({ leaseId: LeaseId, released: z.literal(true) }),
    effects: ["write"],
    async handle({ leaseId }, call) {
      const released = await session.serially(call, () => session.release(leaseId, call));
      return { ...released, released: true as const };
    },
  });
}

function leaseStatus(session: McpSession) {
  return defineTool({
    name: "lease_status",
    title: "Show this session's lease",
    description:
      "Whether this session holds a lease now, read fresh: its id, its deadline and its device. Call it when you are not sure, for example after your context was compacted or a call timed out.",
    input: z.strictObject({}),
    output: z.object({
      held: z.boolean(),
      ...LeaseRecord.partial().shape,
      device: LeaseGrant.shape.device.optional(),
      environment: LeaseGrant.shape.environment.optional(),
      lost: z
        .object({ leaseId: LeaseId, reason: z.string() })
        .optional()
        .describe("The last lease, when it ended without being released."),
    }),
    effects: ["read"],
    async handle(_input, call) {
      const { lease, grant, lost } = await session.status(call);
      return {
        held: lease !== undefined,
        ...lease,
        ...(grant === undefined ? {} : { device: grant.device, environment: grant.environment }),
        ...(lost === undefined ? {} : { lost }),
      };
    },
  });
}

function runOnDevice(session: McpSession, clock: Clock) {
  return defineTool({
    name: "run_on_device",
    title: "Run a command on the leased device",
    description:
      "Run one simctl, adb or devicectl command on this session's leased device, on the machine that holds it. Leave the device out: Simlock fills in the lease's UDID or serial, and refuses a command that names another device. File paths are on that machine. Output is text: stdout and stderr each keep their last 32768 characters, and truncated says when any was cut. A non-zero exitCode is the command's own answer, not a tool error. There is no terminal: a bare adb shell is refused, and an interactive command hangs until the time limit (10 minutes by default) stops it.",
    input: z.strictObject(execCommandShape),
    output: z.object({ exitCode: z.int(), stdout: z.string(), stderr: z.string(), truncated: z.boolean() }),
    effects: ["write", "destructive"],
    async handle(input, call) {
      const message = ["Running", input.tool, ...input.args.slice(0, 1)].join(" ");
      const progress = call.progress && runProgress(clock, call.progress, message);
      try {
        return resultOf(await session.run(input, { signal: call.signal, onActivity: progress?.output }));
      } finally {
        progress?.stop();
      }
    },
  });
}

/** The cap is this tool's own promise: it holds whatever a daemon sends. */
function resultOf(result: ExecResult) {
  const notes = (result.notes ?? []).map((note) => `simlock: ${note}\n`).join("");
  const stdout = result.stdout ?? "";
  const stderr = onLinesOfTheirOwn(result.stderr ?? "", notes);
  return {
    exitCode: result.exitCode,
    stdout: lastCharacters(stdout, KEPT_CHARACTERS),
    stderr: lastCharacters(stderr, KEPT_CHARACTERS),
    truncated: result.truncated === true || stdout.length > KEPT_CHARACTERS || stderr.length > KEPT_CHARACTERS,
  };
}

/** What the runner has to say of the output stands after what the command said. */
function onLinesOfTheirOwn(stderr: string, notes: string): string {
  return notes === "" || stderr === "" || stderr.endsWith("\n") ? stderr + notes : `${stderr}\n${notes}`;
}
