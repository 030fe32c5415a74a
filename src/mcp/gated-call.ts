import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  inputResponse,
  ProtocolError,
  type CallToolResult,
  type InputRequiredResult,
  type ServerContext,
} from "@modelcontextprotocol/server";
import {
  callThroughPolicy,
  ToolFailure,
  type GateCall,
  type GateContext,
  type Question,
  type Tool,
} from "../tool/index.ts";
import { isObject } from "./params.ts";
import { progressOf } from "./tool-progress.ts";
import { renderOutcome, type FailureStyle } from "./tool-result.ts";

const ANSWER_KEY = "confirm";
/** A user needs a while to read, and a call that waits for one is bounded by its stream. */
const CONFIRM_TIMEOUT_MS = 10 * 60_000;
const INVALID_PARAMS = -32602;
const FORM = { type: "object", properties: {} } as const;

/** What a tool is called with, besides its name and arguments. */
export interface GatedCall {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly gate: GateContext;
  readonly requestId: string;
  readonly traceparent?: string;
  /** See `ToolCall`. */
  readonly answerWithinMs?: number;
  /** The client of the legacy era has said that its user can be asked. In the modern era each request says so itself. */
  readonly canElicit: boolean;
  readonly failures: FailureStyle;
  readonly onFault: ((tool: string, fault: unknown) => void) | undefined;
}

/** Calls a tool through the gate. A tool that the policy leaves out is answered as the SDK answers one that was never registered. */
export async function callGated(
  name: string,
  input: unknown,
  context: ServerContext,
  { tools, gate, requestId, traceparent, answerWithinMs, canElicit, failures, onFault }: GatedCall,
): Promise<CallToolResult | InputRequiredResult> {
  const asking = new Asking(context, canElicit);
  const progress = progressOf(context);
  const call: GateCall = {
    signal: context.mcpReq.signal,
    requestId,
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(answerWithinMs === undefined ? {} : { answerWithinMs }),
    ...(progress === undefined ? {} : { progress }),
    ...(asking.possible ? { confirm: (question) => asking.confirm(question) } : {}),
  };
  const outcome = await callThroughPolicy(tools, name, input, gate, call);
  if (asking.pending !== undefined) return asking.pending;
  if (outcome.kind === "denied" && outcome.failure.code === "not_found") {
    throw new ProtocolError(INVALID_PARAMS, `Tool ${name.slice(0, 128)} not found`);
  }
  if (outcome.kind !== "ok" && outcome.fault !== undefined) onFault?.(name, outcome.fault);
  const result = renderOutcome(outcome, failures);
  return outcome.kind === "ok" && tools.get(name)?.failed?.(outcome.structured) === true
    ? { ...result, isError: true }
    : result;
}

/**
 * Asks the user. From 2026-07-28 on a server asks nothing: the call is answered with the question, and made again with what the user said.
 * Before, the question goes out on the stream of the call's own response.
 */
class Asking {
  readonly #context: ServerContext;
  readonly #legacyCanElicit: boolean;
  /** The question, for an answer to this call. */
  pending: InputRequiredResult | undefined;

  constructor(context: ServerContext, legacyCanElicit: boolean) {
    this.#context = context;
    this.#legacyCanElicit = legacyCanElicit;
  }

  get possible(): boolean {
    const envelope: Readonly<Record<string, unknown>> | undefined = this.#context.mcpReq.envelope;
    if (envelope === undefined) return this.#legacyCanElicit;
    const declared = envelope[CLIENT_CAPABILITIES_META_KEY];
    const elicitation = isObject(declared) ? declared["elicitation"] : undefined;
    return isObject(elicitation) && ("form" in elicitation || Object.keys(elicitation).length === 0);
  }

  async confirm({ text }: Question): Promise<boolean> {
    const { mcpReq } = this.#context;
    const params = { mode: "form" as const, message: text, requestedSchema: { ...FORM } };
    if (mcpReq.envelope === undefined) {
      const result = await mcpReq.send(
        { method: "elicitation/create", params },
        { signal: mcpReq.signal, timeout: CONFIRM_TIMEOUT_MS },
      );
      return result.action === "accept";
    }
    const said = inputResponse(mcpReq.inputResponses, ANSWER_KEY);
    if (said.kind === "elicit") return said.action === "accept";
    this.pending = inputRequired({ inputRequests: { [ANSWER_KEY]: inputRequired.elicit(params) } });
    throw new ToolFailure("input_required", "The user is asked; the call is to be made again with the answer.");
  }
}
