import fc from "fast-check";
import { MODERN_META } from "../peer.fixture.ts";
import { HEADERS, legacy } from "./server.fixture.ts";

const word = fc.constantFrom(
  "jsonrpc",
  "id",
  "method",
  "params",
  "_meta",
  "name",
  "operation",
  "deviceId",
  "arguments",
  "text",
  "progressToken",
  "__proto__",
  "result",
  "error",
);
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    "2.0",
    "tools/call",
    "tools/list",
    "initialize",
    "notifications/cancelled",
    "tap",
    "list",
    MODERN_META,
  ),
);
/** What may stand in a body: calls of these tools, other messages, other JSON, and what is none. */
export const anyBody = (tools: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof(
    fc.jsonValue().map((any) => JSON.stringify(any)),
    fc.dictionary(word, value).map((any) => JSON.stringify({ jsonrpc: "2.0", ...any })),
    fc
      .tuple(fc.constantFrom(...tools), fc.dictionary(word, value), fc.dictionary(word, value))
      .map(([name, args, meta]) => JSON.stringify(legacy("tools/call", { name, arguments: args, _meta: meta }))),
    fc.string({ maxLength: 200, unit: "binary" }),
    fc.integer({ min: 1, max: 20_000 }).map((depth) => "[".repeat(depth)),
  );
const header = fc.string({ unit: fc.constantFrom(..."aZ09 ,;=/?*.-_\"'()[]{}<>@:é".split("")), maxLength: 60 });
/** The headers that anything is read from, in any form that a client can send. */
export const anyHeaders = fc.record(
  {
    accept: fc.oneof(header, fc.constant(HEADERS.accept)),
    "content-type": fc.oneof(header, fc.constant("application/json")),
    authorization: fc.oneof(header, fc.constant(HEADERS.authorization)),
    "x-mobilerun-cloud-api-key": header,
    "mcp-protocol-version": fc.oneof(header, fc.constantFrom("2026-07-28", "2025-11-25")),
    "mcp-method": fc.oneof(header, fc.constant("tools/call")),
    "mcp-name": fc.oneof(header, fc.constant("=?base64?ZWNobw==?=")),
    "mcp-session-id": header,
    "x-forwarded-for": header,
    "x-request-id": header,
    traceparent: header,
    origin: fc.oneof(header, fc.constant("http://localhost")),
  },
  { requiredKeys: [] },
);
