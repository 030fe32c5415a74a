import { isIP } from "node:net";
import { localhostAllowedHostnames, validateHostHeader, validateOriginHeader } from "@modelcontextprotocol/server";

export interface HostGuard {
  /** Why the request is refused, or undefined. */
  refusal(host: string | undefined, origin: string | undefined): string | undefined;
}

/**
 * Keeps web pages out that a browser was led to take for us: a name that was made to point at this machine is not one that clients use, and
 * a page of another site says so in Origin. An IP address in Host cannot have been rebound.
 */
export function hostGuard(
  resourceUrl: string,
  allowedHosts: readonly string[],
  allowedOrigins: readonly string[],
): HostGuard {
  const own = [...localhostAllowedHostnames(), new URL(resourceUrl).hostname];
  const hosts = [...own, ...allowedHosts];
  const origins = [...own, ...allowedOrigins];
  return {
    refusal(host, origin) {
      const hostFault = validateHostHeader(host, hosts);
      if (!hostFault.ok && !isAddress(hostFault.hostname)) {
        return "The name in Host is not one of this server's. Add it to MCP_ALLOWED_HOSTS, or set MCP_RESOURCE_URL.";
      }
      return validateOriginHeader(origin, origins).ok
        ? undefined
        : "Pages of this Origin may not call this server. Add its host name to MCP_ALLOWED_ORIGINS.";
    },
  };
}

const isAddress = (hostname: string | undefined): boolean =>
  hostname !== undefined && isIP(hostname.replace(/^\[(.*)\]$/, "$1")) !== 0;
