import type { IncomingHttpHeaders } from "node:http";
import {
  classifyInboundRequest,
  isJsonContentType,
  type InboundHttpRequest,
  type InboundModernRoute,
} from "@modelcontextprotocol/server";
import type { Id, Notification, Request } from "../gate.ts";
import { faultOf, isObject } from "../params.ts";
import { LEGACY_VERSIONS, MODERN_VERSION, type Era } from "../versions.ts";
import { standardHeaderFault } from "./standard-headers.ts";

/** What a POST turns out to be. */
export type Inbound =
  | { readonly kind: "request"; readonly era: Era; readonly message: Request }
  | { readonly kind: "notification"; readonly era: Era; readonly message: Notification }
  /** A client's answer to something that the server asked. */
  | { readonly kind: "answer"; readonly message: { readonly id: unknown } }
  | { readonly kind: "refused"; readonly status: number; readonly body: string };

const TRANSPORT = -32000;
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const INVALID_PARAMS = -32602;
const HEADER_MISMATCH = -32020;
const UNSUPPORTED_VERSION = -32022;
/** The modern era knows them no more: whatever they bring, there is no such method. */
const LEGACY_METHODS = new Set(["initialize", "logging/setLevel"]);
const MAX_ID_CHARACTERS = 1000;
const MAX_ECHO_CHARACTERS = 100;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Reads one POST as the protocol's revisions demand, strictly: which era it belongs to, and what is refused before any server sees it. */
export function readInbound(headers: IncomingHttpHeaders, bytes: Uint8Array): Inbound {
  if (!isJsonContentType(headers["content-type"])) {
    return refused(415, TRANSPORT, "Unsupported Media Type: Content-Type must be application/json");
  }
  if (!accepts(headers.accept, "application/json") || !accepts(headers.accept, "text/event-stream")) {
    return refused(
      406,
      TRANSPORT,
      "Not Acceptable: Client must accept both application/json and text/event-stream in Accept",
    );
  }
  let body: unknown;
  try {
    body = JSON.parse(utf8.decode(bytes));
  } catch {
    return refused(400, PARSE_ERROR, "Parse error: the body must be one JSON object in UTF-8");
  }
  if (Array.isArray(body)) return refused(400, INVALID_REQUEST, "Invalid Request: batches are not supported");
  if (!isObject(body)) return refused(400, INVALID_REQUEST, "Invalid Request: not an object");
  if (typeof body["method"] === "string" && "id" in body && !isId(body["id"])) {
    return refused(
      400,
      INVALID_REQUEST,
      "Invalid Request: id must be a string of at most 1000 characters or an integer",
    );
  }
  return classified(headers, body);
}

function classified(headers: IncomingHttpHeaders, body: Readonly<Record<string, unknown>>): Inbound {
  const seen: InboundHttpRequest = {
    httpMethod: "POST",
    body,
    ...named("protocolVersionHeader", headers["mcp-protocol-version"]),
    ...named("mcpMethodHeader", headers["mcp-method"]),
    ...named("mcpNameHeader", headers["mcp-name"]),
  };
  const route = classifyInboundRequest(seen);
  const id = isId(body["id"]) && typeof body["method"] === "string" ? body["id"] : null;
  switch (route.kind) {
    case "reject":
      return refused(route.httpStatus, route.code, route.message, id, route.data);
    case "modern":
      return modern(route, seen, id);
    case "legacy": {
      const version = seen.protocolVersionHeader?.trim();
      if (version !== undefined && !LEGACY_VERSIONS.some((known) => known === version)) {
        const known = [MODERN_VERSION, ...LEGACY_VERSIONS].join(", ");
        return refused(400, TRANSPORT, `Bad Request: Unsupported protocol version (supported versions: ${known})`, id);
      }
      if (route.reason === "response") return { kind: "answer", message: { ...body, id: body["id"] } };
      return checked("legacy", body, id);
    }
  }
}

function modern(route: InboundModernRoute, seen: InboundHttpRequest, id: Id | null): Inbound {
  const claimed = route.classification.revision;
  if (claimed !== MODERN_VERSION) {
    const requested = (claimed ?? "unknown").slice(0, MAX_ECHO_CHARACTERS);
    const data = { supported: [MODERN_VERSION], requested, supportedVersions: [MODERN_VERSION, ...LEGACY_VERSIONS] };
    return refused(400, UNSUPPORTED_VERSION, `Unsupported protocol version: ${requested}`, id, data);
  }
  const fault = route.messageKind === "request" ? standardHeaderFault(seen, route.message) : undefined;
  if (fault !== undefined) {
    return refused(400, HEADER_MISMATCH, `Bad Request: the request headers and body disagree: ${fault}`, id);
  }
  return checked("modern", route.message, id);
}

/** The SDK answers some parameters of the wrong kind with an internal error and a dump of its schema. */
function checked(era: Era, body: object, id: Id | null): Inbound {
  // Looked at by the SDK's classifier, which lets nothing else through.
  const message = body as Request | Notification;
  const gone = era === "modern" && LEGACY_METHODS.has(message.method);
  const fault = gone ? undefined : faultOf(message.method, message.params ?? {});
  if (!("id" in message)) {
    return fault === undefined
      ? { kind: "notification", era, message }
      : refused(400, INVALID_PARAMS, `Invalid params: ${fault}`);
  }
  return fault === undefined
    ? { kind: "request", era, message }
    : refused(200, INVALID_PARAMS, `Invalid params: ${fault}`, id);
}

/** Whether an `Accept` header takes the type: by name, or by a wildcard. */
function accepts(header: string | undefined, type: string): boolean {
  if (header === undefined) return false;
  const wanted = new Set([type, `${type.split("/")[0] ?? ""}/*`, "*/*"]);
  return header.split(",").some((range) => {
    const [name, ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    return wanted.has(name ?? "") && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

function refused(status: number, code: number, message: string, id: Id | null = null, data?: unknown): Inbound {
  const error = data === undefined ? { code, message } : { code, message, data };
  return { kind: "refused", status, body: JSON.stringify({ jsonrpc: "2.0", id, error }) };
}

const isId = (id: unknown): id is Id =>
  (typeof id === "string" && id.length <= MAX_ID_CHARACTERS) || Number.isSafeInteger(id);

function named<K extends string>(key: K, value: string | string[] | undefined): { readonly [P in K]?: string } {
  const one = Array.isArray(value) ? value.join(", ") : value;
  return (one === undefined ? {} : { [key]: one }) as { readonly [P in K]?: string };
}
