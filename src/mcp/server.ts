import { McpServer, ProtocolError, type ServerContext } from "@modelcontextprotocol/server";
import { listingOf } from "../tool/index.ts";
import { callGated, type GatedCall } from "./gated-call.ts";
import { shownSchemas } from "./listed-schema.ts";
import { Messenger } from "./messenger.ts";
import { cacheHints, hasResources, serveResources } from "./resources.ts";
import type { GatedToolset } from "./toolset.ts";
import { LEGACY_VERSIONS, type Era } from "./versions.ts";

export interface McpServerSettings {
  readonly name?: string;
  readonly version?: string;
  /** In the era from 2026-07-28 on, a message that nobody asked for travels only with a request that wants messages. */
  readonly era?: Era;
  /** Told of failures that are faults of ours, which the client learns of without their text. */
  readonly onFault?: (tool: string, fault: unknown) => void;
  /** Told of each call that begins: it is over, and audited, when this resolves. */
  readonly onCall?: (call: Promise<unknown>) => void;
  /** Called before any tool is registered: it may replace the server's `registerTool`, to see or wrap what is registered through it. */
  readonly wrapRegisterTool?: (server: McpServer) => void;
}

/**
 * The MCP server of a toolset. One server serves one connection. It has the tools that the policy opens, and each call of any other is refused and audited
 * like those.
 */
export function createMcpServer(toolset: GatedToolset, settings: McpServerSettings = {}): McpServer {
  const server = new McpServer(
    { name: settings.name ?? "simlock", title: toolset.title, version: settings.version ?? "0" },
    {
      instructions: toolset.instructions,
      capabilities: {
        tools: { listChanged: false },
        ...(hasResources(toolset) ? { resources: { listChanged: false } } : {}),
        ...(toolset.onNotice === undefined ? {} : { logging: {} }),
      },
      supportedProtocolVersions: [...LEGACY_VERSIONS],
      cacheHints: cacheHints(toolset, "private"),
    },
  );
  settings.wrapRegisterTool?.(server);
  registerTools(server, toolset, settings);
  if (hasResources(toolset)) serveResources(server.server, toolset, () => toolset.gate.auth.subject);
  return server;
}

type Handler = (input: unknown, context: ServerContext) => ReturnType<typeof callGated>;

/** Arguments are judged by the gate alone, so that a call with wrong ones is audited too: the SDK is shown the schemas and checks nothing. */
function registerTools(server: McpServer, toolset: GatedToolset, { era, onFault, onCall }: McpServerSettings): void {
  const { tools, gate, failures } = toolset;
  const messenger = new Messenger(server, era ?? "legacy");
  const unsubscribe = toolset.onNotice?.((notice) => messenger.tell(notice));
  server.server.onclose = () => unsubscribe?.();
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const call = (name: string, input: unknown, context: ServerContext, among: GatedCall["tools"]) => {
    const done = messenger.open(context);
    const called = callGated(name, input, context, {
      tools: among,
      gate,
      requestId: String(context.mcpReq.id),
      canElicit: server.server.getClientCapabilities()?.elicitation !== undefined,
      failures: failures ?? "json",
      onFault,
    }).finally(done);
    onCall?.(called);
    return called;
  };
  const registered = new Map(
    listingOf(tools, gate.policy).map(({ tool, description, annotations }) => [
      tool.name,
      server.registerTool(
        tool.name,
        { title: tool.title, description, ...shownSchemas(tool), annotations },
        (given: unknown, context) => call(tool.name, given, context, byName),
      ),
    ]),
  );
  if (registered.size === 0) server.server.setRequestHandler("tools/list", () => ({ tools: [] }));
  server.server.setRequestHandler("tools/call", async (request, context) => {
    const { name, arguments: input = {} } = request.params;
    const tool = registered.get(name);
    if (tool === undefined) return call(name, input, context, byName);
    // The host took it away.
    if (!tool.enabled) return call(name, input, context, new Map());
    try {
      return await (tool.handler as Handler)(input, context);
    } catch (thrown) {
      if (thrown instanceof ProtocolError) throw thrown;
      // What the gate calls does not throw: it was what a host put around it.
      onFault?.(name, thrown);
      return { content: [{ type: "text" as const, text: `Tool ${name} failed.` }], isError: true };
    }
  });
}
