import { badRequest } from "../contract/index.ts";
import type { Attachment } from "./attachment.ts";
import { auditedAuth, tell, type ToolCallEvent, type ToolCallSink } from "./audit.ts";
import type { AuthContext } from "./auth.ts";
import type { BilledLimit } from "./billed-limit.ts";
import { ToolFailure, failureOf, type Failure } from "./failure.ts";
import { allowedOperations, allowsTool, factsOf, type Policy } from "./policy.ts";
import type { Confirmable } from "./profile-file.ts";
import type { Facts, Tool, ToolCall } from "./tool.ts";

/**
 * What the gate itself refuses with: `not_found` (no such tool for this credential), `forbidden` (an operation or a device that it may not
 * have, or a question that was not answered with yes), `invalid_input`, `rate_limited` (too many billed calls), `cancelled`.
 */
export type GateCode = "not_found" | "forbidden" | "invalid_input" | "rate_limited" | "cancelled";

export interface GateContext {
  readonly auth: AuthContext;
  readonly policy: Policy;
  readonly onToolCall?: ToolCallSink | undefined;
  /** The only devices that may be read or acted on. */
  readonly devices?: ReadonlySet<string> | undefined;
  readonly billed?: BilledLimit | undefined;
  /** What the user must agree to. A client that cannot ask is refused. */
  readonly mustConfirm?: ReadonlySet<Confirmable> | undefined;
  /** What the user is asked about where the client can ask. Elsewhere it runs unasked. */
  readonly askAbout?: ReadonlySet<Confirmable> | undefined;
  /** What the gate's own codes are called where a toolset has other names for them. */
  readonly codes?: Readonly<Partial<Record<GateCode | "internal", string>>> | undefined;
}

export interface Question {
  readonly toolName: string;
  readonly operation?: string;
  readonly causes: readonly Confirmable[];
  readonly text: string;
}

export interface GateCall extends Omit<ToolCall, "attach"> {
  readonly requestId?: string;
  /** Asks the user; a client that cannot be asked has none. */
  readonly confirm?: (question: Question) => Promise<boolean>;
}

export type ToolOutcome =
  | { readonly kind: "ok"; readonly structured: Record<string, unknown>; readonly attachments: readonly Attachment[] }
  | { readonly kind: "error" | "denied"; readonly failure: Failure; readonly fault?: unknown };

/**
 * The one way to a tool: policy, input, device, confirmation, limit, handler, output, and one audit event whatever came of it. Never throws.
 * A tool that is closed and one that does not exist are answered alike. What the policy leaves out stays in the tool's schema, so that an
 * operation that is not open is refused here, with its name and an audit event, and not as a mistake in the arguments.
 */
export async function callThroughPolicy(
  tools: ReadonlyMap<string, Tool>,
  name: string,
  rawInput: unknown,
  context: GateContext,
  call: GateCall,
): Promise<ToolOutcome> {
  const started = performance.now();
  const tool = tools.get(name);
  const operation = tool === undefined ? undefined : operationIn(tool, rawInput);
  const outcome = renamed(await outcomeOf(tool, name, operation, rawInput, context, call), context.codes);
  const event: ToolCallEvent = {
    toolName: tool?.name ?? "(unknown)",
    ...(operation === undefined ? {} : { operation }),
    outcome: outcome.kind,
    ...(outcome.kind === "ok" ? {} : { code: outcome.failure.code }),
    durationMs: Math.round((performance.now() - started) * 1000) / 1000,
    ...(call.requestId === undefined ? {} : { requestId: call.requestId }),
    auth: auditedAuth(context.auth),
  };
  tell(context.onToolCall, event);
  return outcome;
}

function renamed(outcome: ToolOutcome, codes: GateContext["codes"]): ToolOutcome {
  if (codes === undefined || outcome.kind === "ok") return outcome;
  const { failure } = outcome;
  return {
    ...outcome,
    failure: { ...failure, code: new Map(Object.entries(codes)).get(failure.code) ?? failure.code },
  };
}

const UNKNOWN = "(unknown)";

/** Only names that we know ourselves are repeated. */
function operationIn(tool: Tool, rawInput: unknown): string | undefined {
  if (tool.operations === undefined) return undefined;
  const { field, facts } = tool.operations;
  const value = typeof rawInput === "object" && rawInput !== null ? Reflect.get(rawInput, field) : undefined;
  return typeof value === "string" && Object.hasOwn(facts, value) ? value : UNKNOWN;
}

async function outcomeOf(
  tool: Tool | undefined,
  name: string,
  operation: string | undefined,
  rawInput: unknown,
  context: GateContext,
  call: GateCall,
): Promise<ToolOutcome> {
  try {
    if (tool === undefined || !allowsTool(context.policy, tool)) {
      return denied("not_found", `Tool ${shown(name)} not found.`, "See tools/list for the tools of this credential.");
    }
    const closed = closedOperation(tool, operation, context.policy);
    if (closed !== undefined) return closed;
    const parsed = tool.input.safeParse(rawInput ?? {});
    if (!parsed.success) {
      const message = `Invalid arguments for tool ${tool.name}: ${badRequest(parsed.error).message}`;
      return failed(new ToolFailure("invalid_input", message));
    }
    const facts = factsOf(tool, operation);
    if (facts === undefined) return denied("forbidden", `Nobody has classified what ${tool.name} does here.`);
    return (
      (await foreignDevice(tool, parsed.data, facts, context.devices, call)) ??
      (await refusedByUser(tool, operation, parsed.data, facts, context, call)) ??
      overLimit(facts, context) ??
      (await run(tool, parsed.data, call))
    );
  } catch (thrown) {
    return failed(thrown);
  }
}

async function run(tool: Tool, input: Record<string, unknown>, call: GateCall): Promise<ToolOutcome> {
  if (call.signal.aborted) return failed(new ToolFailure("cancelled", "The call was cancelled before it began."));
  const attachments: Attachment[] = [];
  const { requestId: _requestId, confirm: _confirm, ...given } = call;
  const handed: ToolCall = { ...given, attach: (attachment) => attachments.push(attachment) };
  // Parsed, so that nothing leaves that the tool does not declare.
  const structured = tool.output.parse(await tool.handle(input, handed));
  return { kind: "ok", structured, attachments };
}

/** An operation that is not the tool's is left to the schema, which lists those that are. */
function closedOperation(tool: Tool, operation: string | undefined, policy: Policy): ToolOutcome | undefined {
  const open = allowedOperations(policy, tool);
  if (open === undefined || operation === undefined || operation === UNKNOWN || open.includes(operation)) {
    return undefined;
  }
  return denied(
    "forbidden",
    `Operation "${operation}" of tool "${tool.name}" is not available for this credential.`,
    `Available for this credential: ${open.join(", ")}.`,
  );
}

async function foreignDevice(
  tool: Tool,
  input: Record<string, unknown>,
  facts: Facts,
  devices: ReadonlySet<string> | undefined,
  call: GateCall,
): Promise<ToolOutcome | undefined> {
  if (devices === undefined) return undefined;
  const { deviceId, deviceIds } = input;
  const named = [deviceId, ...(Array.isArray(deviceIds) ? deviceIds : [])].filter((id) => id !== undefined);
  const found = facts.anyDevice === true && named.length === 0 ? await tool.devicesOf?.(input, call) : named;
  if (found === undefined) {
    return denied(
      "forbidden",
      "This credential may use only some devices, and the call could reach others.",
      "Name one of the devices with deviceId, where the tool takes it.",
    );
  }
  const foreign = found.find((id) => typeof id !== "string" || !devices.has(id));
  if (foreign === undefined) return undefined;
  return denied("forbidden", `Device ${shown(String(foreign))} is not open to this credential.`);
}

async function refusedByUser(
  tool: Tool,
  operation: string | undefined,
  input: Record<string, unknown>,
  facts: Facts,
  { mustConfirm, askAbout }: GateContext,
  call: GateCall,
): Promise<ToolOutcome | undefined> {
  const asked = (cause: Confirmable) => call.confirm !== undefined && askAbout?.has(cause) === true;
  const causes = causesOf(facts).filter((cause) => mustConfirm?.has(cause) === true || asked(cause));
  if (causes.length === 0) return undefined;
  const what = operation === undefined ? tool.name : `${tool.name} (${operation})`;
  if (call.confirm === undefined) {
    return denied(
      "forbidden",
      `${what} is ${causes.join(" and ")} and must be confirmed by the user, whom this client cannot ask.`,
      "Use a client that supports elicitation, or a profile that does not ask.",
    );
  }
  const question: Question = {
    toolName: tool.name,
    ...(operation === undefined ? {} : { operation }),
    causes,
    text: `Allow ${what}${targetOf(input)}? It is ${causes.join(" and ")}.`,
  };
  return (await call.confirm(question)) ? undefined : denied("forbidden", `The user did not agree to ${what}.`);
}

/** What says which thing a call is about. A field that is not known for that is not shown: it may hold a secret. */
const SAYS_WHICH = /^(\w*Ids?|name|packageName|credentialName|country|path|task|message)$/;

/** ` (deviceId: "dev-1", task: "Buy milk")`: a user who is asked must see what for. */
function targetOf(input: Record<string, unknown>): string {
  const named = Object.entries(input)
    .filter(([field, value]) => SAYS_WHICH.test(field) && value !== undefined)
    .map(([field, value]) => `${field}: ${shown(JSON.stringify(value))}`);
  return named.length === 0 ? "" : ` (${named.join(", ")})`;
}

/** Buying and ending what is paid for is billed whether or not somebody marked it. */
function causesOf(facts: Facts): readonly Confirmable[] {
  return [
    ...(facts.effects.includes("destructive") ? (["destructive"] as const) : []),
    ...(isBilled(facts) ? (["billed"] as const) : []),
  ];
}

const isBilled = (facts: Facts): boolean => facts.billed === true || facts.effects.includes("commerce");

function overLimit(facts: Facts, { billed, auth }: GateContext): ToolOutcome | undefined {
  const over = isBilled(facts) ? billed?.take(auth.subject) : undefined;
  if (over === undefined) return undefined;
  const seconds = Math.ceil(over.retryAfterMs / 1000);
  const message = "This credential has made all the billed calls that it may make in an hour.";
  return denied("rate_limited", message, `The next is possible in ${seconds} s.`);
}

function denied(code: GateCode, message: string, hint?: string): ToolOutcome {
  return { kind: "denied", failure: { code, message, ...(hint === undefined ? {} : { hint }) } };
}

/** What nobody expected goes to the operator's log, not to the caller. */
function failed(thrown: unknown): ToolOutcome {
  const failure = failureOf(thrown);
  return { kind: "error", failure, ...(failure.code === "internal" ? { fault: thrown } : {}) };
}

/** What the caller wrote, short enough to repeat. */
const shown = (text: string): string => (text.length > 64 ? `${text.slice(0, 64)}…` : text);
