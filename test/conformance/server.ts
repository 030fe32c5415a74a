import { randomBytes } from "node:crypto";
import { createRequestStateCodec, McpServer } from "@modelcontextprotocol/server";
import { readHttpEnvironment } from "../../src/mcp/http/environment.ts";
import { serveHttp, type HttpService } from "../../src/mcp/http/serve.ts";
import { LEGACY_VERSIONS, MODERN_VERSION, type Era } from "../../src/mcp/versions.ts";
import { registerAskingTools } from "./asking-tools.ts";
import { registerContentTools } from "./content-tools.ts";
import { registerRounds } from "./rounds.ts";
import { registerTexts } from "./texts.ts";

const codec = createRequestStateCodec({ key: randomBytes(32) });

function build(era: Era): McpServer {
  const stable = { ttlMs: 60_000, cacheScope: "public" } as const;
  const server = new McpServer(
    { name: "simlock-conformance", version: "1.0.0" },
    {
      capabilities: {
        tools: { listChanged: false },
        prompts: { listChanged: false },
        resources: { listChanged: false, ...(era === "legacy" ? { subscribe: true } : {}) },
        completions: {},
        logging: {},
      },
      supportedProtocolVersions: era === "modern" ? [MODERN_VERSION] : [...LEGACY_VERSIONS],
      requestState: { verify: codec.verify },
      cacheHints: {
        "tools/list": stable,
        "prompts/list": stable,
        "resources/list": stable,
        "resources/templates/list": stable,
        "resources/read": stable,
        "server/discover": stable,
      },
    },
  );
  registerContentTools(server);
  registerTexts(server);
  if (era === "legacy") {
    registerAskingTools(server);
    server.server.setRequestHandler("resources/subscribe", () => ({}));
    server.server.setRequestHandler("resources/unsubscribe", () => ({}));
  } else registerRounds(server, codec);
  return server;
}

/**
 * The server that the official conformance suite asks: the product's own HTTP stack, and behind it tools, prompts and resources with the names
 * that the suite wants.
 */
export function serveConformance(): Promise<HttpService> {
  return serveHttp<object>({
    environment: readHttpEnvironment({ PORT: "0", MCP_RATE_LIMIT_PER_IP_PER_MIN: "100000", MCP_DRAIN_MS: "100" }),
    build: (era) => ({ server: build(era) }),
    contextOf: () => ({}),
    log: () => {},
  });
}
