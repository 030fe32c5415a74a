import { setTimeout as pause } from "node:timers/promises";
import type { CallToolResult, McpServer, ServerContext } from "@modelcontextprotocol/server";
import { z } from "zod";

/** A red dot, and a moment of silence. */
export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";
const STEP_MS = 50;

/** Tools that answer with each kind of content, report, and fail. */
export function registerContentTools(server: McpServer): void {
  type Handler = (input: object, context: ServerContext) => CallToolResult | Promise<CallToolResult>;
  const tool = (name: string, description: string, handler: Handler) =>
    server.registerTool(name, { description, inputSchema: z.object({}) }, handler);
  const text = (words: string) => ({ content: [{ type: "text" as const, text: words }] });

  tool("test_simple_text", "Answers with a text.", () => text("This is a simple text response for testing."));
  tool("test_image_content", "Answers with a picture.", () => ({
    content: [{ type: "image", data: PNG, mimeType: "image/png" }],
  }));
  tool("test_audio_content", "Answers with a sound.", () => ({
    content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }],
  }));
  tool("test_embedded_resource", "Answers with a resource.", () => ({
    content: [
      {
        type: "resource",
        resource: {
          uri: "test://embedded-resource",
          mimeType: "text/plain",
          text: "This is an embedded resource content.",
        },
      },
    ],
  }));
  tool("test_multiple_content_types", "Answers with a text, a picture and a resource.", () => ({
    content: [
      { type: "text", text: "Multiple content types test:" },
      { type: "image", data: PNG, mimeType: "image/png" },
      {
        type: "resource",
        resource: {
          uri: "test://mixed-content-resource",
          mimeType: "application/json",
          text: JSON.stringify({ test: "data", value: 123 }),
        },
      },
    ],
  }));
  tool("test_error_handling", "Fails.", () => {
    throw new Error("This tool intentionally returns an error for testing");
  });
  tool("test_tool_with_logging", "Logs thrice.", async (_input, context) => {
    await context.mcpReq.log("info", "Tool execution started");
    await pause(STEP_MS);
    await context.mcpReq.log("info", "Tool processing data");
    await pause(STEP_MS);
    await context.mcpReq.log("info", "Tool execution completed");
    return text("Logged.");
  });
  tool("test_logging_tool", "Logs where the request asks for it.", async (_input, context) => {
    await context.mcpReq.log("info", "Called");
    return text("Logged.");
  });
  tool("test_tool_with_progress", "Reports its progress.", async (_input, context) => {
    const progressToken = context.mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) {
        await context.mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken, progress, total: 100 },
        });
      }
      await pause(STEP_MS);
    }
    return text("Done.");
  });
}
