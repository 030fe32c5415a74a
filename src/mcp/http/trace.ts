import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

export interface Trace {
  /** Of this request, for logs and for the client: its own where it sent one. */
  readonly requestId: string;
  /** W3C trace context for what we call in turn: the caller's trace, and a span of ours. */
  readonly traceparent: string;
}

export function traceOf(headers: IncomingHttpHeaders): Trace {
  const sent = headers["x-request-id"];
  const requestId = typeof sent === "string" && REQUEST_ID.test(sent) ? sent : randomUUID();
  const span = randomHex().slice(16);
  const given = typeof headers["traceparent"] === "string" ? TRACEPARENT.exec(headers["traceparent"]) : null;
  const [, traceId = "", parent = "", flags = ""] = given ?? [];
  // All zeros are no id. A trace that nobody began is not recorded by anybody.
  if (given !== null && !/^0+$/.test(traceId) && !/^0+$/.test(parent)) {
    return { requestId, traceparent: `00-${traceId}-${span}-${flags}` };
  }
  return { requestId, traceparent: `00-${randomHex()}-${span}-00` };
}

/** 32 digits, of which neither half is zero. Node makes UUIDs from random bytes that it draws for many at once. */
const randomHex = (): string => randomUUID().replaceAll("-", "");
