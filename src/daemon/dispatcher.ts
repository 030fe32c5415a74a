import { badRequest, isOperation, OPERATIONS, SimlockError, toSimlockError } from "../contract/index.ts";
import type { OperationName, Role } from "../contract/index.ts";
import type { Call, DispatchedOperation, Handler, Handlers } from "./call.ts";
import type { Log } from "./log.ts";

/** What a starting daemon answers: who it is and that it is starting. */
const ANSWERED_WHILE_STARTING: ReadonlySet<OperationName> = new Set(["status.get"]);

export interface DispatcherPorts {
  readonly handlers: Handlers;
  /** Throws `FORBIDDEN` when the caller may not do this to what the input names. What is not there is let through: the handler says so. */
  readonly authorize: (operation: DispatchedOperation, input: unknown, call: Call) => void;
  /** Resolves when the daemon runs. Rejects with `DAEMON_STARTUP_FAILED` when it never will. */
  readonly ready: () => Promise<void> | undefined;
  readonly log: Log;
}

export type Dispatch = (type: string, payload: unknown, call: Call) => Promise<unknown>;

/**
 * The way of every call, whatever it came on: its input is parsed, role and ownership are checked, it waits until the daemon runs, the handler
 * answers, and the answer is stripped to what the contract declares. One line in the log tells of it, without arguments.
 */
export function createDispatcher(ports: DispatcherPorts): Dispatch {
  return async (type, payload, call) => {
    if (!isOperation(type) || !isDispatched(type)) {
      throw new SimlockError("UNKNOWN_REQUEST", `There is no operation "${type.slice(0, 100)}".`);
    }
    const startedAt = performance.now();
    let parsed: unknown;
    try {
      const output = await run(ports, type, payload, call, (input) => (parsed = input));
      logCall(ports.log, type, call, parsed, startedAt, undefined);
      return output;
    } catch (thrown) {
      logCall(ports.log, type, call, parsed, startedAt, thrown);
      throw toSimlockError(thrown);
    }
  };
}

async function run<N extends DispatchedOperation>(
  ports: DispatcherPorts,
  type: N,
  payload: unknown,
  call: Call,
  accepted: (input: unknown) => void,
): Promise<unknown> {
  const operation = OPERATIONS[type];
  const parsed = operation.input.safeParse(payload ?? {});
  if (!parsed.success) throw badRequest(parsed.error);
  accepted(parsed.data);
  requireRole(type, operation.role, call);
  ports.authorize(type, parsed.data, call);
  if (!ANSWERED_WHILE_STARTING.has(type)) await ports.ready();
  // The table of handlers is typed by operation, and the input was parsed by this operation's own schema: the compiler can't see the pair.
  const handler = ports.handlers[type] as unknown as (input: unknown, call: Call) => ReturnType<Handler<N>>;
  const answer: unknown = await handler(parsed.data, call);
  const output = operation.output.safeParse(answer);
  if (!output.success) throw new Error(`the answer of ${type} is not what the contract says`, { cause: output.error });
  return output.data;
}

function isDispatched(type: OperationName): type is DispatchedOperation {
  return type !== "hello" && type !== "daemon.stop";
}

function requireRole(type: string, role: Role, call: Call): void {
  if (role === "admin" && call.peer.role !== "admin") {
    throw new SimlockError("FORBIDDEN", `${type} is for an admin, and the caller ${call.peer.principal} is an agent.`, {
      hint: "Call it with the admin credential of this machine (the CLI finds it by itself), or ask the operator.",
    });
  }
}

function logCall(
  log: Log,
  operation: DispatchedOperation,
  call: Call,
  input: unknown,
  startedAt: number,
  thrown: unknown,
): void {
  const line = {
    operation,
    principal: call.peer.principal,
    role: call.peer.role,
    durationMs: Math.round((performance.now() - startedAt) * 10) / 10,
    ...textOf(input, "leaseId"),
    ...textOf(input, "requesterId"),
  };
  if (thrown === undefined) {
    if (OPERATIONS[operation].effect === "write") log.info(line, "operation");
    else log.debug(line, "operation");
    return;
  }
  const error = toSimlockError(thrown);
  if (error.code === "INTERNAL") log.error({ ...line, code: error.code, error: thrown }, "operation");
  else log.info({ ...line, code: error.code, ...reasonOf(operation, input, error) }, "operation");
}

/** Why it failed, where that names nothing of what the caller wrote: input that could not be read may be anything, and so may a command. */
function reasonOf(operation: DispatchedOperation, input: unknown, error: SimlockError): Record<string, unknown> {
  if (input === undefined) return {};
  if (operation !== "device.exec" && operation !== "driver.passthrough") return { reason: error.message };
  const refused = error.details?.["reason"];
  return refused === undefined ? {} : { reason: refused };
}

function textOf(input: unknown, key: "leaseId" | "requesterId"): Record<string, string> {
  if (typeof input !== "object" || input === null) return {};
  const value = Object.getOwnPropertyDescriptor(input, key)?.value;
  return typeof value === "string" ? { [key]: value } : {};
}
