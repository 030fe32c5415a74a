/**
 * One of two HTTP servers with the same 34 tools, on the port given: `floor` is the SDK's own handler, which builds a server for each request;
 * `whole` is ours with all its checks: credential, limits, policy, audit, metrics, ids.
 */
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { readMcpHttpEnvironment, serveMcpOverHttp } from "../src/mcp/index.ts";
import { annotationsOf, createAuthContext, defineTool, fullAccessPolicy, type Tool } from "../src/tool/index.ts";

const TOOLS = 34;
const [which, port = "0"] = process.argv.slice(2);

const output = z.object({
  deviceId: z.string(),
  state: z.enum(["ready", "busy", "off"]),
  apps: z.array(z.object({ name: z.string(), version: z.string() })),
});
const tools: readonly Tool[] = Array.from({ length: TOOLS }, (_, at) =>
  defineTool({
    name: `tool_${at}`,
    title: `Tool ${at}`,
    description: `Says what device ${at} is and what runs on it. A description of the length that descriptions have.`,
    effects: ["read"],
    input: z.strictObject({
      deviceId: z.string().min(1).describe("Which device."),
      page: z.int().min(1).optional().describe("Which page of it."),
      order: z.enum(["name", "version"]).optional().describe("In which order."),
    }),
    output,
    handle: async ({ deviceId }) => ({ deviceId, state: "ready" as const, apps: [{ name: "Sample", version: "1.0" }] }),
  }),
);

if (which === "floor") {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "floor", version: "1" });
    for (const tool of tools) {
      const { name, title, description, input, output: outputSchema } = tool;
      server.registerTool(
        name,
        { title, description, inputSchema: input, outputSchema, annotations: annotationsOf(tool) },
        async (given, { mcpReq }) => {
          const structuredContent = await tool.handle(given, { signal: mcpReq.signal });
          return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
        },
      );
    }
    return server;
  });
  createServer(getRequestListener((request) => handler.fetch(request))).listen(Number(port), "127.0.0.1", () =>
    console.log("ready"),
  );
} else {
  let audited = 0;
  const policy = fullAccessPolicy(tools);
  await serveMcpOverHttp({
    environment: await readMcpHttpEnvironment({
      PORT: port,
      MCP_RATE_LIMIT_PER_IP_PER_MIN: "100000000",
      MCP_RATE_LIMIT_PER_KEY_PER_MIN: "100000000",
    }),
    toolset: { title: "Bench", instructions: "", tools, resources: [], close: async () => {} },
    version: "1",
    credentials: "cloud",
    contextOf: () => ({
      gate: {
        auth: createAuthContext({ kind: "api_key", subject: "bench" }),
        policy,
        onToolCall: () => {
          audited += 1;
        },
      },
    }),
    log: () => {},
  });
  console.log("ready", audited);
}
