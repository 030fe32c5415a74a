import { McpServer, type CallToolResult, type ServerContext } from "@modelcontextprotocol/server";
import { toSimlockError } from "../contract/index.ts";
import { annotationsOf, type Tool, type ToolCall } from "../tool/index.ts";
import { listedOnce } from "./listed-schema.ts";
import { Messenger } from "./messenger.ts";
import type { Toolset } from "./toolset.ts";
import { progressOf } from "./tool-progress.ts";
import { LEGACY_VERSIONS, type Era } from "./versions.ts";

/** What a client may keep: tools and texts do not change while the process runs. */
const STABLE = { ttlMs: 3_600_000, cacheScope: "public" } as const;

export interface McpServerSettings {
  readonly version?: string;
  /** In the era from 2026-07-28 on, a message that nobody asked for travels only with a request that wants messages. */
  readonly era?: Era;
  /** Told of failures that are faults of ours, which the client learns of without their text. */
  readonly onFault?: (tool: string, fault: unknown) => void;
}

/** The MCP server of a toolset. One server serves one connection. */
export function createMcpServer(toolset: Toolset, settings: McpServerSettings = {}): McpServer {
  const hasResources = toolset.resources.length > 0;
  const server = new McpServer(
    { name: "simlock", title: toolset.title, version: settings.version ?? "0" },
    {
      instructions: toolset.instructions,
      capabilities: {
        tools: { listChanged: false },
        ...(hasResources ? { resources: { listChanged: false } } : {}),
        ...(toolset.onNotice === undefined ? {} : { logging: {} }),
      },
      supportedProtocolVersions: [...LEGACY_VERSIONS],
      cacheHints: {
        "tools/list": STABLE,
        "server/discover": STABLE,
        ...(hasResources ? { "resources/list": STABLE, "resources/read": STABLE } : {}),
      },
    },
  );
  const messenger = new Messenger(server, settings.era ?? "legacy");
  const unsubscribe = toolset.onNotice?.((notice) => messenger.tell(notice));
  server.server.onclose = () => unsubscribe?.();

  for (const tool of toolset.tools) {
    server.registerTool(
      tool.name,
      {
        title: tool.title,
        description: tool.description,
        inputSchema: listedOnce(tool.input),
        outputSchema: listedOnce(tool.output),
        annotations: annotationsOf(tool),
      },
      (input, context) => {
        const done = messenger.open(context);
        return callTool(tool, input, context, settings.onFault).finally(done);
      },
    );
  }
  for (const { name, uri, title, description, mimeType, text } of toolset.resources) {
    server.registerResource(name, uri, { title, description, mimeType }, () => ({
      contents: [{ uri, mimeType, text }],
    }));
  }
  return server;
}

/** Success: structured content and the same JSON as text. Failure: `isError`, and the error as JSON text. */
async function callTool(
  tool: Tool,
  input: Record<string, unknown>,
  context: ServerContext,
  onFault: McpServerSettings["onFault"],
): Promise<CallToolResult> {
  const { signal } = context.mcpReq;
  const progress = progressOf(context);
  const call: ToolCall = { signal, ...(progress === undefined ? {} : { progress }) };
  try {
    // Parsed, so that nothing leaves that the tool does not declare.
    const structuredContent = tool.output.parse(await tool.handle(input, call));
    const failed = tool.failed?.(structuredContent) === true ? { isError: true } : {};
    return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent, ...failed };
  } catch (thrown) {
    const error = toSimlockError(thrown);
    if (error.code === "INTERNAL" && error !== thrown) onFault?.(tool.name, thrown);
    return { content: [{ type: "text", text: JSON.stringify(error.toWire()) }], isError: true };
  }
}
