import type { HttpEnvironment } from "./environment.ts";

const WELL_KNOWN = "/.well-known/oauth-protected-resource";
const SCOPES = ["openid", "profile", "email", "offline_access"];

/**
 * The metadata of RFC 9728 and the paths that it is served at: where the RFC puts it for our resource, and where clients also look. Nothing
 * while no authorization server is configured.
 */
export function discoveryOf(
  environment: Pick<HttpEnvironment, "MCP_RESOURCE_URL" | "MCP_AUTH_SERVER_URL">,
): ReadonlyMap<string, object> {
  const { MCP_RESOURCE_URL: resource, MCP_AUTH_SERVER_URL: server } = environment;
  if (server === undefined) return new Map();
  const document = {
    resource,
    authorization_servers: [server],
    bearer_methods_supported: ["header"],
    scopes_supported: SCOPES,
  };
  const path = new URL(resource).pathname.replace(/\/$/, "");
  return new Map([WELL_KNOWN, `${WELL_KNOWN}/mcp`, `${WELL_KNOWN}${path}`].map((place) => [place, document]));
}
