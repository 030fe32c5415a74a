import { z } from "zod";

/**
 * The one table of errors: who is at fault, the HTTP status, the CLI's exit code, and the next safe step where the code
 * alone decides it. Frontends keep no second mapping. Codes, statuses and exit codes are the public contract.
 */
const table = {
  BAD_FRAME: row("protocol", 400, 2, "Send one JSON object a line, at most 8 MiB long."),
  HANDSHAKE_REQUIRED: row("protocol", 400, 1, "Send `hello` first."),
  BAD_REQUEST: row("protocol", 400, 2),
  UNKNOWN_REQUEST: row("protocol", 400, 2),
  PROTOCOL_VERSION_UNSUPPORTED: row(
    "protocol",
    400,
    1,
    "Run `simlock daemon restart`: the running daemon is of another version.",
  ),
  ADMIN_AUTHENTICATION_FAILED: row("protocol", 401, 1),
  FORBIDDEN: row("protocol", 403, 1),
  UNKNOWN_DAEMON_ERROR: row(
    "protocol",
    500,
    1,
    "Run `simlock daemon restart`: the running daemon is of another version.",
  ),
  DAEMON_STOPPING: row("transport", 503, 1, "Try again: the next command starts the daemon."),
  DAEMON_STARTUP_FAILED: row("transport", 503, 1, "Read `simlock daemon logs`."),
  DAEMON_CONNECTION_LOST: row(
    "transport",
    503,
    1,
    "Leases stand until their deadline. Try again, then `simlock status`.",
  ),
  DAEMON_UNREACHABLE: row("transport", 503, 1, "Run `simlock daemon start`."),
  DAEMON_ALREADY_RUNNING: row("transport", 409, 1, "Run `simlock daemon status`."),
  WORKER_UNREACHABLE: row("transport", 503, 1),
  HOME_MISMATCH: row("domain", 409, 2),
  HOME_UNUSABLE: row("domain", 500, 1),
  DATABASE_UNUSABLE: row("domain", 500, 1),
  CONFIG_INVALID: row("domain", 422, 2),
  STATE_INVALID: row(
    "domain",
    422,
    2,
    "Correct the document at the pointers that the message names; docs/state-reference.md lists every field.",
  ),
  PLAN_STALE: row(
    "domain",
    409,
    2,
    "Make a new plan and look at it again, or apply this one all the same with --allow-stale.",
  ),
  NO_CAPACITY: row("domain", 503, 11, "Wait for a device by leaving out noWait, or see `simlock status`."),
  QUEUE_TIMEOUT: row(
    "domain",
    500,
    10,
    "Ask again with a longer timeout, or see who holds the devices with `simlock status`.",
  ),
  REQUESTER_ALREADY_LEASED: row("domain", 409, 13),
  IDEMPOTENCY_CONFLICT: row("domain", 409, 2, "Use a new idempotency key for another device."),
  NO_DRIVER: row("domain", 422, 12, "Run `simlock doctor`."),
  RUNTIME_MISSING: row("domain", 422, 12, "See the installed runtimes with `simlock catalog`."),
  UNKNOWN_MODEL: row("domain", 422, 12, "See the models with `simlock catalog`."),
  INSUFFICIENT_DISK_SPACE: row("domain", 422, 12),
  LICENSE_NOT_ACCEPTED: row("domain", 422, 12),
  DOWNLOADS_DISABLED: row("domain", 403, 12),
  DOWNLOAD_TIMEOUT: row("domain", 504, 10),
  COMPONENT_NOT_OWNED: row("domain", 409, 12),
  COMPONENT_IN_USE: row("domain", 409, 12),
  COMPONENT_BUSY: row("domain", 409, 11),
  UNKNOWN_LEASE: row("domain", 404, 1, "See your leases with `simlock status`."),
  UNKNOWN_DEVICE: row("domain", 404, 12, "See the devices with `simlock device list`."),
  AMBIGUOUS: row("domain", 409, 2),
  DEVICE_NOT_LEASABLE: row("domain", 422, 12),
  DEVICE_IN_USE: row("domain", 409, 13),
  DEVICE_START_FAILED: row(
    "domain",
    500,
    1,
    "See what the platform's tools say with `simlock doctor` and `simlock daemon logs`.",
  ),
  DEVICE_UNAVAILABLE: row("domain", 503, 1),
  PASSTHROUGH_REFUSED: row("domain", 422, 2),
  UNKNOWN_PASSTHROUGH_TOOL: row("domain", 422, 2, "The tools are simctl, adb and devicectl."),
  EXEC_TIMEOUT: row("domain", 504, 10),
  EXEC_CANCELLED: row("domain", 499, 1),
  EXEC_BUSY: row("domain", 503, 11, "Wait for one of the running commands to end."),
  TOOL_MISSING: row("domain", 422, 12, "Run `simlock doctor`: it lists the paths tried and the remedy."),
  TOOL_FAILED: row("domain", 500, 1),
  DOCTOR_UNAVAILABLE: row("domain", 503, 1),
  NUKE_UNAVAILABLE: row("domain", 503, 1),
  UNSUPPORTED_IN_GATEWAY_MODE: row("domain", 501, 2),
  UNSUPPORTED_IN_WORKER_MODE: row("domain", 501, 2),
  WORKER_CONNECTED: row("domain", 409, 2),
  UNKNOWN_WORKER: row("domain", 404, 12),
  UNAUTHENTICATED: row("protocol", 401, 1),
  UNKNOWN_LEASE_REQUEST: row("domain", 404, 1),
  REQUEST_NOT_CANCELLABLE: row("domain", 409, 1),
  REQUEST_CANCELLED: row("domain", 500, 1),
  NO_LEASE: row("domain", 409, 1),
  SESSION_CLOSED: row("domain", 503, 1),
  CANCELLED: row("domain", 499, 1),
  USAGE: row("protocol", 400, 2),
  INTERNAL: row(
    "domain",
    500,
    1,
    "This is a fault of Simlock. The daemon's log has the details: `simlock daemon logs`.",
  ),
} as const;

function row(kind: ErrorKind, httpStatus: number, exitCode: number, hint?: string): ErrorRow {
  return hint === undefined ? { kind, httpStatus, exitCode } : { kind, httpStatus, exitCode, hint };
}

export type ErrorKind = "protocol" | "transport" | "domain";
export interface ErrorRow {
  readonly kind: ErrorKind;
  readonly httpStatus: number;
  readonly exitCode: number;
  readonly hint?: string;
}
export type ErrorCode = keyof typeof table;
export const ERRORS: Readonly<Record<ErrorCode, ErrorRow>> = table;
export const ERROR_CODES = Object.keys(table) as readonly ErrorCode[];

/** A lease that ended under a live holder: the CLI's own exit code, with no error behind it. */
export const EXIT_LEASE_LOST = 14;

/** An error on the wire. An unknown code is kept as text: a newer daemon may know more than we do. */
export const WireError = z.object({
  code: z.string(),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
  hint: z.string().optional(),
});
export type WireError = z.infer<typeof WireError>;

/**
 * The only error that crosses a room's door on purpose. The message says what was refused and why, the hint what to do next.
 * Anything else that is thrown is a fault of ours and becomes `INTERNAL` at the edge, without its text.
 */
export class SimlockError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly hint: string | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    more: { details?: Readonly<Record<string, unknown>>; hint?: string; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = "SimlockError";
    this.code = code;
    this.details = more.details;
    this.hint = more.hint ?? ERRORS[code].hint;
  }

  toWire(): WireError {
    return {
      code: this.code,
      message: this.message,
      ...(this.details === undefined ? {} : { details: { ...this.details } }),
      ...(this.hint === undefined ? {} : { hint: this.hint }),
    };
  }
}

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(table, code);
}

/** What the edge says of anything that was thrown. The text of an unexpected error stays in the log. */
export function toSimlockError(thrown: unknown): SimlockError {
  if (thrown instanceof SimlockError) return thrown;
  return new SimlockError("INTERNAL", "Simlock failed in a way it did not expect.", { cause: thrown });
}

/** The error behind a failure reply. A code this version does not know becomes `UNKNOWN_DAEMON_ERROR` and keeps its text. */
export function fromWireError(wire: WireError): SimlockError {
  const more = {
    ...(wire.details === undefined ? {} : { details: wire.details }),
    ...(wire.hint === undefined ? {} : { hint: wire.hint }),
  };
  if (isErrorCode(wire.code)) return new SimlockError(wire.code, wire.message, more);
  return new SimlockError("UNKNOWN_DAEMON_ERROR", `${wire.code}: ${wire.message}`, {
    ...more,
    details: { ...wire.details, code: wire.code },
  });
}

/** "path: message; path: message", the form in which every refused input is reported. */
export function badRequest(error: z.ZodError): SimlockError {
  const issues = error.issues.slice(0, 20).map((issue) => {
    const path = issue.path.map(String).join(".");
    return path === "" ? issue.message : `${path}: ${issue.message}`;
  });
  return new SimlockError("BAD_REQUEST", issues.join("; "));
}
