import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  inputResponse,
  ProtocolError,
  ResourceNotFoundError,
  Server,
  type CallToolResult,
  type InputRequiredResult,
  type ServerContext,
  type Tool as ListedTool,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import {
  callThroughPolicy,
  listingOf,
  ToolFailure,
  type GateCall,
  type GateContext,
  type Question,
  type Tool,
  type ToolOutcome,
} from "../../tool/index.ts";
import { isObject } from "../params.ts";
import { progressOf } from "../tool-progress.ts";
import { renderOutcome, type FailureStyle } from "../tool-result.ts";
import type { Toolset } from "../toolset.ts";
import { LEGACY_VERSIONS, MODERN_VERSION, type Era } from "../versions.ts";
import type { BuiltServer, CallFacts } from "./endpoint.ts";

/** What one credential may do, and with what. */
export interface CallContext {
  readonly gate: GateContext;
  /** The toolset's tools, tied to what belongs to this credential. Those of the toolset without it. */
  readonly tools?: ReadonlyMap<string, Tool>;
}

/** What a client may keep: tools and texts do not change while the process runs, but they depend on who asks. */
const STABLE = { ttlMs: 3_600_000, cacheScope: "private" } as const;
const ANSWER_KEY = "confirm";
/** A user needs a while to read, and a call that waits for one is bounded by its stream. */
const CONFIRM_TIMEOUT_MS = 10 * 60_000;
const INVALID_PARAMS = -32602;
const FORM = { type: "object", properties: {} } as const;

export interface ToolsetServerSettings {
  readonly toolset: Toolset;
  readonly version: string;
  readonly failures: FailureStyle;
  readonly onFault: (tool: string, fault: unknown) => void;
}

/** Makes the server of a toolset for an era; all that differs between credentials reaches it with each call. */
export function toolsetServer(settings: ToolsetServerSettings) {
  const { toolset } = settings;
  const ownTools = new Map(toolset.tools.map((tool) => [tool.name, tool]));
  const schemas = new Map(toolset.tools.map((tool) => [tool.name, schemasOf(tool)]));
  const texts = new Map(toolset.resources.map((resource) => [resource.uri, resource]));
  const hasResources = texts.size > 0 || toolset.originals !== undefined;

  return (era: Era, factsOf: (id: string | number) => CallFacts<CallContext> | undefined): BuiltServer<CallContext> => {
    const server = new Server(
      { name: "simlock", title: toolset.title, version: settings.version },
      {
        instructions: toolset.instructions,
        capabilities: {
          tools: { listChanged: false },
          ...(hasResources ? { resources: { listChanged: false } } : {}),
        },
        supportedProtocolVersions: era === "modern" ? [MODERN_VERSION] : [...LEGACY_VERSIONS],
        cacheHints: {
          "tools/list": STABLE,
          "server/discover": STABLE,
          ...(hasResources ? { "resources/list": STABLE, "resources/read": STABLE } : {}),
        },
      },
    );
    const known = (context: ServerContext): CallFacts<CallContext> => {
      const facts = factsOf(context.mcpReq.id);
      if (facts === undefined) throw new ProtocolError(-32603, "The request is not under way.");
      return facts;
    };

    server.setRequestHandler("tools/list", (_request, context) => ({
      tools: listingOf(toolset.tools, known(context).context.gate.policy).map(
        ({ tool, description, annotations }): ListedTool => ({
          name: tool.name,
          title: tool.title,
          description,
          ...(schemas.get(tool.name) ?? schemasOf(tool)),
          annotations,
        }),
      ),
    }));
    server.setRequestHandler("tools/call", (request, context) => {
      const facts = known(context);
      const tools = facts.context.tools ?? ownTools;
      return callTool(settings, tools, request.params.name, request.params.arguments, context, facts);
    });
    if (hasResources) {
      server.setRequestHandler("resources/list", () => ({
        resources: [...texts.values()].map(({ text: _text, ...listed }) => listed),
      }));
      server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [] }));
      server.setRequestHandler("resources/read", ({ params: { uri } }, context) => {
        const original = toolset.originals?.read(known(context).context.gate.auth.subject, uri);
        if (original !== undefined) {
          const { bytes, mimeType } = original;
          return { contents: [{ uri, mimeType, blob: Buffer.from(bytes).toString("base64") }] };
        }
        const resource = texts.get(uri);
        if (resource === undefined) throw new ResourceNotFoundError(uri);
        return { contents: [{ uri, mimeType: resource.mimeType, text: resource.text }] };
      });
    }
    return { server, keptFor: (facts) => facts.context.gate.policy };
  };
}

async function callTool(
  settings: ToolsetServerSettings,
  tools: ReadonlyMap<string, Tool>,
  name: string,
  input: unknown,
  context: ServerContext,
  facts: CallFacts<CallContext>,
): Promise<CallToolResult | InputRequiredResult> {
  const asking = new Asking(context, facts);
  const progress = progressOf(context);
  const call: GateCall = {
    signal: context.mcpReq.signal,
    requestId: facts.requestId,
    ...(progress === undefined ? {} : { progress }),
    ...(asking.possible ? { confirm: (question) => asking.confirm(question) } : {}),
  };
  const outcome: ToolOutcome = await callThroughPolicy(tools, name, input, facts.context.gate, call);
  if (asking.pending !== undefined) return asking.pending;
  if (outcome.kind === "denied" && outcome.failure.code === "not_found") {
    // What a server of the SDK says of a tool that was never registered.
    throw new ProtocolError(INVALID_PARAMS, `Tool ${name.slice(0, 128)} not found`);
  }
  if (outcome.kind !== "ok" && outcome.fault !== undefined) settings.onFault(name, outcome.fault);
  const result = renderOutcome(outcome, settings.failures);
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
  readonly #facts: CallFacts<CallContext>;
  /** The question, for an answer to this call. */
  pending: InputRequiredResult | undefined;

  constructor(context: ServerContext, facts: CallFacts<CallContext>) {
    this.#context = context;
    this.#facts = facts;
  }

  get possible(): boolean {
    if (this.#facts.era === "legacy") return this.#facts.canElicit;
    const envelope: Readonly<Record<string, unknown>> = this.#context.mcpReq.envelope ?? {};
    const declared = envelope[CLIENT_CAPABILITIES_META_KEY];
    const elicitation = isObject(declared) ? declared["elicitation"] : undefined;
    return isObject(elicitation) && ("form" in elicitation || Object.keys(elicitation).length === 0);
  }

  async confirm({ text }: Question): Promise<boolean> {
    const params = { mode: "form" as const, message: text, requestedSchema: { ...FORM } };
    if (this.#facts.era === "legacy") {
      const { signal } = this.#context.mcpReq;
      const result = await this.#context.mcpReq.send(
        { method: "elicitation/create", params },
        { signal, timeout: CONFIRM_TIMEOUT_MS },
      );
      return result.action === "accept";
    }
    const said = inputResponse(this.#context.mcpReq.inputResponses, ANSWER_KEY);
    if (said.kind === "elicit") return said.action === "accept";
    this.pending = inputRequired({ inputRequests: { [ANSWER_KEY]: inputRequired.elicit(params) } });
    throw new ToolFailure("input_required", "The user is asked; the call is to be made again with the answer.");
  }
}

type Schemas = Pick<ListedTool, "inputSchema" | "outputSchema">;

function schemasOf(tool: Pick<Tool, "input" | "output">): Schemas {
  const inputSchema = z.toJSONSchema(tool.input, { io: "input" });
  const outputSchema = z.toJSONSchema(tool.output, { io: "output" });
  // Both are made of objects.
  return { inputSchema, outputSchema } as Schemas;
}
