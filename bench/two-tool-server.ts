import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

/** The floor of a start: the SDK's own stdio server with two small tools, bundled as ours is. */
serveStdio(() => {
  const server = new McpServer({ name: "floor", version: "1" });
  const text = z.strictObject({ text: z.string() });
  for (const name of ["echo", "shout"]) {
    server.registerTool(name, { description: name, inputSchema: text, outputSchema: text }, ({ text: said }) => ({
      content: [{ type: "text", text: said }],
      structuredContent: { text: said },
    }));
  }
  return server;
});
