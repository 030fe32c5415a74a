import type { InboundHttpRequest, JSONRPCRequest } from "@modelcontextprotocol/server";

/** Which parameter the header `Mcp-Name` repeats. */
const NAMED_BY: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
};

const SENTINEL = /^=\?base64\?(.*)\?=$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * What is wrong with the headers that each request of the revision of 2026-07-28 must carry beside its body, so that a proxy can route by
 * them. The SDK's handler demands the same, in this order, but exports no function for it. That a header disagrees with the version or the
 * method of the body has been looked at before.
 */
export function standardHeaderFault(seen: InboundHttpRequest, message: JSONRPCRequest): string | undefined {
  if (seen.protocolVersionHeader === undefined) return "the required MCP-Protocol-Version header is absent";
  if (seen.mcpMethodHeader === undefined) {
    return `the body names method ${message.method} but the required Mcp-Method header is absent`;
  }
  const field = Object.hasOwn(NAMED_BY, message.method) ? NAMED_BY[message.method] : undefined;
  if (field === undefined) return undefined;
  const named = message.params?.[field];
  if (typeof named !== "string") return undefined;
  if (seen.mcpNameHeader === undefined) {
    return `the body carries params.${field} but the required Mcp-Name header is absent`;
  }
  const header = decoded(seen.mcpNameHeader.trim());
  if (header === undefined) return "the Mcp-Name header carries an invalid Base64 sentinel value";
  return header === named ? undefined : `the Mcp-Name header names something else than params.${field} of the body`;
}

/** A value that is no plain ASCII travels as `=?base64?…?=`. Undefined when it says so and is not. */
function decoded(value: string): string | undefined {
  const payload = SENTINEL.exec(value)?.[1];
  if (payload === undefined) return value;
  if (!BASE64.test(payload)) return undefined;
  try {
    return utf8.decode(Buffer.from(payload, "base64"));
  } catch {
    return undefined;
  }
}
