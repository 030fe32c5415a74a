import { z } from "zod";
import { Config } from "./config.ts";
import { DeviceId, LeaseId } from "./ids.ts";
import { DeviceSpec, Platform, PlatformCatalog } from "./device.ts";
import type { ErrorCode } from "./errors.ts";
import { EventEnvelope } from "./events.ts";
import { ExecInput, ExecResult, PassthroughInput, PassthroughResult } from "./exec.ts";
import { DurationMs, LeaseGrant, LeaseRecord, LeaseRequestInput, RequesterId, StatusLease } from "./lease.ts";
import {
  StateApplyInput,
  StateRecoverInput,
  StateReportOutput,
  StateSnapshotInput,
  StateSnapshotOutput,
} from "./state.ts";
import { AttachedDevice, Finding, ListOutput, Mend, Status } from "./status.ts";

/** `agent` may do what its own lease allows; `admin` runs the machine. */
export type Role = "agent" | "admin";
export type OperationEffect = "read" | "write";

export interface Operation<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> {
  /** One line for help texts and docs. */
  readonly summary: string;
  readonly role: Role;
  readonly effect: OperationEffect;
  readonly input: I;
  readonly output: O;
  /** The codes that this operation answers beyond those that every operation can: see `COMMON_ERRORS`. */
  readonly errors: readonly ErrorCode[];
}

function operation<I extends z.ZodType, O extends z.ZodType>(declared: Operation<I, O>): Operation<I, O> {
  return declared;
}

/** What any operation can answer. */
export const COMMON_ERRORS = [
  "BAD_FRAME",
  "BAD_REQUEST",
  "UNKNOWN_REQUEST",
  "HANDSHAKE_REQUIRED",
  "PROTOCOL_VERSION_UNSUPPORTED",
  "FORBIDDEN",
  "DAEMON_STOPPING",
  "DAEMON_STARTUP_FAILED",
  "DAEMON_CONNECTION_LOST",
  "INTERNAL",
] as const satisfies readonly ErrorCode[];

const none = z.strictObject({});
const resolution = ["NO_DRIVER", "RUNTIME_MISSING", "UNKNOWN_MODEL"] as const;
const execution = [
  "UNKNOWN_LEASE",
  "UNKNOWN_PASSTHROUGH_TOOL",
  "PASSTHROUGH_REFUSED",
  "DEVICE_UNAVAILABLE",
  "TOOL_MISSING",
] as const;

const state = [
  "UNKNOWN_LEASE",
  "DEVICE_UNAVAILABLE",
  "UNKNOWN_DEVICE",
  "TOOL_MISSING",
  "TOOL_FAILED",
  "PASSTHROUGH_REFUSED",
  "CANCELLED",
] as const;

/** Every operation of a daemon, declared once: CLI help, MCP schemas, client types and docs derive from here. */
export const OPERATIONS = {
  hello: operation({
    summary: "Open a connection: agree on the protocol, say who calls.",
    role: "agent",
    effect: "read",
    input: z
      .object({
        clientVersion: z.string().max(100),
        protocolVersion: z.int().optional(),
        protocolRange: z.object({ min: z.int(), max: z.int() }).optional(),
        principal: RequesterId.optional(),
        credential: z.string().max(1000).optional(),
        /** The caller's home must be of this kind, so that a command never runs on the wrong one. */
        virtual: z.boolean().optional(),
      })
      .refine((hello) => hello.protocolVersion !== undefined || hello.protocolRange !== undefined, {
        error: "name protocolVersion or protocolRange",
      }),
    output: z.object({
      protocolVersion: z.int(),
      daemonProtocolRange: z.object({ min: z.int(), max: z.int() }),
      version: z.string(),
      role: z.enum(["agent", "admin"]),
      principal: z.string(),
      instanceId: z.string(),
      virtual: z.boolean(),
    }),
    errors: ["ADMIN_AUTHENTICATION_FAILED", "HOME_MISMATCH"],
  }),
  "status.get": operation({
    summary: "The daemon, the host, devices, leases, capacity and the queue.",
    role: "agent",
    effect: "read",
    input: none,
    output: Status,
    errors: [],
  }),
  "catalog.get": operation({
    summary: "The models and OS versions that can be leased.",
    role: "agent",
    effect: "read",
    input: z.strictObject({
      platform: Platform.optional().describe("Only this platform: ios or android."),
      refresh: z.boolean().optional().describe("Read it anew from the platform's tools."),
    }),
    output: z.object({ platforms: z.array(PlatformCatalog) }),
    errors: ["NO_DRIVER", "TOOL_MISSING", "TOOL_FAILED"],
  }),
  "lease.request": operation({
    summary: "Lease a device: wait for it in the queue, have it made or booted where needed.",
    role: "agent",
    effect: "write",
    input: LeaseRequestInput,
    output: LeaseGrant,
    errors: [
      ...resolution,
      "NO_CAPACITY",
      "QUEUE_TIMEOUT",
      "REQUESTER_ALREADY_LEASED",
      "IDEMPOTENCY_CONFLICT",
      "DEVICE_START_FAILED",
      "REQUEST_CANCELLED",
      "TOOL_MISSING",
      "TOOL_FAILED",
    ],
  }),
  "lease.cancel": operation({
    summary: "Take a waiting request back.",
    role: "agent",
    effect: "write",
    input: z.strictObject({ requesterId: RequesterId.optional() }),
    output: z.object({ result: z.enum(["cancelled", "not-found", "not-cancellable"]) }),
    errors: [],
  }),
  "lease.renew": operation({
    summary: "Extend a lease from now on, by its own width or a new one.",
    role: "agent",
    effect: "write",
    input: z.strictObject({ leaseId: LeaseId, ttlMs: DurationMs.optional() }),
    output: LeaseRecord,
    errors: ["UNKNOWN_LEASE"],
  }),
  "lease.release": operation({
    summary: "Give a lease back. The device is cleaned before anybody else gets it.",
    role: "agent",
    effect: "write",
    input: z.strictObject({
      leaseId: LeaseId,
      /** Admin only: end a lease of somebody else. */
      force: z.boolean().optional(),
    }),
    output: z.object({ leaseId: LeaseId }),
    errors: ["UNKNOWN_LEASE"],
  }),
  "lease.release-all": operation({
    summary: "End every lease on this machine.",
    role: "admin",
    effect: "write",
    input: none,
    output: z.object({ leaseIds: z.array(LeaseId) }),
    errors: [],
  }),
  "lease.list": operation({
    summary: "The caller's leases; every lease for an admin.",
    role: "agent",
    effect: "read",
    input: none,
    output: z.object({ leases: z.array(StatusLease) }),
    errors: [],
  }),
  "lease.adopt": operation({
    summary: "The caller's running lease as a grant, for a holder that was restarted.",
    role: "agent",
    effect: "read",
    input: z.strictObject({ requesterId: RequesterId.optional(), leaseId: LeaseId.optional() }),
    output: z.object({ grant: LeaseGrant.optional() }),
    errors: [],
  }),
  "device.exec": operation({
    summary: "Run one simctl, adb or devicectl command on a leased device.",
    role: "agent",
    effect: "write",
    input: ExecInput,
    output: ExecResult,
    errors: [...execution, "EXEC_TIMEOUT", "EXEC_CANCELLED", "EXEC_BUSY"],
  }),
  "call.cancel": operation({
    summary: "End a command of this connection that still runs, by the id of its frame.",
    role: "agent",
    effect: "write",
    input: z.strictObject({ callId: z.union([z.string(), z.number()]) }),
    output: z.object({ found: z.boolean() }),
    errors: [],
  }),
  "driver.passthrough": operation({
    summary: "Decide a command without running it: what the caller's own terminal may run, or why not.",
    role: "agent",
    effect: "read",
    input: PassthroughInput,
    output: PassthroughResult,
    errors: [...execution],
  }),
  "run.start": operation({
    summary: "Tell the process that runs a passed-through command, so that the lease's end can wait for it.",
    role: "agent",
    effect: "write",
    input: z.strictObject({ runId: z.string().max(100), pid: z.int().min(2) }),
    output: z.object({ runId: z.string() }),
    errors: ["UNKNOWN_LEASE"],
  }),
  "run.end": operation({
    summary: "A passed-through command has ended.",
    role: "agent",
    effect: "write",
    input: z.strictObject({ runId: z.string().max(100) }),
    output: z.object({ runId: z.string() }),
    errors: [],
  }),
  "state.snapshot": operation({
    summary: "Read the state of a leased simulator: apps, preferences, status bar, and what else it tells.",
    role: "agent",
    effect: "read",
    input: StateSnapshotInput,
    output: StateSnapshotOutput,
    errors: [...state],
  }),
  "state.apply": operation({
    summary: "Carry out a confirmed plan on a leased simulator; without confirm, say what would be done.",
    role: "agent",
    effect: "write",
    input: StateApplyInput,
    output: StateReportOutput,
    errors: [...state, "STATE_INVALID", "PLAN_STALE", "EXEC_BUSY", "DEVICE_IN_USE"],
  }),
  "state.recover": operation({
    summary: "Go on with an apply that was cut off, or take it back.",
    role: "agent",
    effect: "write",
    input: StateRecoverInput,
    output: StateReportOutput,
    errors: [...state, "STATE_INVALID", "EXEC_BUSY", "DEVICE_IN_USE"],
  }),
  "device.add": operation({
    summary: "Enrol an attached device, so that it can be leased.",
    role: "admin",
    effect: "write",
    input: z.strictObject({
      serial: z.string().min(1).max(256).describe("What adb calls it now."),
      shared: z.boolean().optional().describe("Serve any request of its platform, not only those that ask for it."),
    }),
    output: z.object({
      deviceId: DeviceId,
      serial: z.string(),
      spec: DeviceSpec,
      shared: z.boolean(),
      already: z.boolean(),
    }),
    errors: ["UNKNOWN_DEVICE", "DEVICE_NOT_LEASABLE", "AMBIGUOUS", "NO_DRIVER", "TOOL_MISSING", "TOOL_FAILED"],
  }),
  "device.list": operation({
    summary: "Attached devices: enrolled or not, and why one can't be leased.",
    role: "agent",
    effect: "read",
    input: none,
    output: z.object({ devices: z.array(AttachedDevice) }),
    errors: ["TOOL_MISSING", "TOOL_FAILED"],
  }),
  "device.remove": operation({
    summary: "Forget an enrolled device.",
    role: "admin",
    effect: "write",
    input: z.strictObject({ device: z.string().min(1).max(256).describe("Its device id or serial.") }),
    output: z.object({ deviceId: DeviceId }),
    errors: ["UNKNOWN_DEVICE", "DEVICE_IN_USE", "AMBIGUOUS"],
  }),
  "doctor.run": operation({
    summary:
      "Prerequisites, drift between what we hold and what is there, leaks. With fix or purgeOrphans it mends (admin).",
    role: "agent",
    effect: "write",
    input: z.strictObject({ fix: z.boolean().optional(), purgeOrphans: z.boolean().optional() }),
    output: z.object({ findings: z.array(Finding), mends: z.array(Mend) }),
    errors: ["DOCTOR_UNAVAILABLE"],
  }),
  "list.get": operation({
    summary: "Full device, lease and request records.",
    role: "admin",
    effect: "read",
    input: z.strictObject({ kind: z.enum(["devices", "leases", "requests"]).optional() }),
    output: ListOutput,
    errors: [],
  }),
  "config.get": operation({
    summary: "The configuration in effect.",
    role: "admin",
    effect: "read",
    input: none,
    output: Config,
    errors: [],
  }),
  "daemon.stop": operation({
    summary: "Stop the daemon. Leases stand.",
    role: "admin",
    effect: "write",
    input: z.object({}),
    output: z.object({ stopping: z.literal(true) }),
    errors: [],
  }),
  "events.replay": operation({
    summary: "Past events, oldest first.",
    role: "admin",
    effect: "read",
    input: z.strictObject({
      sinceTs: z.number().optional(),
      afterSeq: z.int().optional(),
      limit: z.int().min(1).max(10_000).optional(),
    }),
    output: z.object({ events: z.array(EventEnvelope), more: z.boolean() }),
    errors: [],
  }),
  "events.subscribe": operation({
    summary: "Get every event from now on.",
    role: "admin",
    effect: "read",
    input: none,
    output: z.object({ subscribed: z.literal(true), subscriptionId: z.string(), seq: z.int() }),
    errors: [],
  }),
  "events.unsubscribe": operation({
    summary: "Get no more events.",
    role: "admin",
    effect: "read",
    input: none,
    output: z.object({ subscribed: z.literal(false) }),
    errors: [],
  }),
} as const;

export type OperationName = keyof typeof OPERATIONS;
/** What a caller writes: defaults and optional fields may be left out. */
export type OperationInput<N extends OperationName> = z.input<(typeof OPERATIONS)[N]["input"]>;
/** What a handler reads, after parsing. */
export type ParsedInput<N extends OperationName> = z.output<(typeof OPERATIONS)[N]["input"]>;
export type OperationOutput<N extends OperationName> = z.output<(typeof OPERATIONS)[N]["output"]>;

export function isOperation(name: string): name is OperationName {
  return Object.hasOwn(OPERATIONS, name);
}
