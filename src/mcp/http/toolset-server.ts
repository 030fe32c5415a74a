import { ProtocolError, Server, type ServerContext, type Tool as ListedTool } from "@modelcontextprotocol/server";
import { listedSchemas, listingOf, type GateContext, type Tool } from "../../tool/index.ts";
import { callGated } from "../gated-call.ts";
import { cacheHints, hasResources, serveResources } from "../resources.ts";
import type { FailureStyle } from "../tool-result.ts";
import type { Toolset } from "../toolset.ts";
import { LEGACY_VERSIONS, MODERN_VERSION, type Era } from "../versions.ts";
import type { BuiltServer, CallFacts } from "./endpoint.ts";

/** What one credential may do, and with what. */
export interface CallContext {
  readonly gate: GateContext;
  /** The toolset's tools, tied to what belongs to this credential. Those of the toolset without it. */
  readonly tools?: ReadonlyMap<string, Tool>;
}

export interface ToolsetServerSettings {
  readonly toolset: Toolset;
  readonly version: string;
  readonly failures: FailureStyle;
  readonly answerWithinMs: number;
  readonly onFault: (tool: string, fault: unknown) => void;
}

/** Makes the server of a toolset for an era; all that differs between credentials reaches it with each call. */
export function toolsetServer(settings: ToolsetServerSettings) {
  const { toolset, failures, answerWithinMs, onFault } = settings;
  const ownTools = new Map(toolset.tools.map((tool) => [tool.name, tool]));
  const schemas = new Map(toolset.tools.map((tool) => [tool.name, listedSchemas(tool)]));

  return (era: Era, factsOf: (id: string | number) => CallFacts<CallContext> | undefined): BuiltServer<CallContext> => {
    const server = new Server(
      { name: "simlock", title: toolset.title, version: settings.version },
      {
        instructions: toolset.instructions,
        capabilities: {
          tools: { listChanged: false },
          ...(hasResources(toolset) ? { resources: { listChanged: false } } : {}),
        },
        supportedProtocolVersions: era === "modern" ? [MODERN_VERSION] : [...LEGACY_VERSIONS],
        cacheHints: cacheHints(toolset, "private"),
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
          ...(schemas.get(tool.name) ?? listedSchemas(tool)),
          annotations,
        }),
      ),
    }));
    server.setRequestHandler("tools/call", (request, context) => {
      const { requestId, traceparent, canElicit, context: caller } = known(context);
      const { name, arguments: input } = request.params;
      const tools = caller.tools ?? ownTools;
      return callGated(name, input, context, {
        tools,
        gate: caller.gate,
        requestId,
        traceparent,
        answerWithinMs,
        canElicit,
        failures,
        onFault,
      });
    });
    if (hasResources(toolset)) {
      serveResources(server, toolset, (context) => known(context).context.gate.auth.subject);
    }
    return { server, keptFor: (facts) => facts.context.gate.policy };
  };
}
