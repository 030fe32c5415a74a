import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Endpoint } from "../../cloud/index.ts";
import { HUGE_BYTES, spoiled, type Fault } from "./faults.ts";
import { Special } from "./handler.ts";
import type { Problem } from "./problem.ts";

const HTML = "<!doctype html><html><body><h1>502 Bad Gateway</h1></body></html>";

/** Sends a good answer, or what a fault makes of it. */
export async function respond(
  response: ServerResponse,
  endpoint: Endpoint,
  answer: unknown,
  fault: Fault | undefined,
): Promise<void> {
  if (fault?.body !== undefined && (await broken(response, fault.body))) return;
  if (answer instanceof Special) return special(response, answer);
  if (endpoint.declared.answer.kind !== "json") {
    response.writeHead(204).end();
    return;
  }
  const body = fault?.body === "nullItems" || fault?.body === "missingFields" ? spoiled(answer, fault.body) : answer;
  sendJson(response, 200, body ?? null);
}

/** One of the breakages that have nothing to do with the answer; false for the others. */
async function broken(response: ServerResponse, how: NonNullable<Fault["body"]>): Promise<boolean> {
  switch (how) {
    case "drop":
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      await new Promise<void>((resolve) => response.write('{"id":"', () => resolve()));
      response.destroy();
      return true;
    case "html":
      response.writeHead(200, { "content-type": "text/html" }).end(HTML);
      return true;
    case "malformed":
      response.writeHead(200, { "content-type": "application/json" }).end('{"id": "x",');
      return true;
    case "wrongType":
      response.writeHead(200, { "content-type": "text/plain" }).end("ok");
      return true;
    case "huge":
      response.writeHead(200, { "content-type": "application/json" });
      await pipeline(Readable.from(huge()), response).catch(() => undefined);
      return true;
    default:
      return false;
  }
}

function* huge(): Generator<string> {
  const chunk = "x".repeat(64 * 1024);
  yield '"';
  for (let sent = 0; sent < HUGE_BYTES; sent += chunk.length) yield chunk;
  yield '"';
}

async function special(response: ServerResponse, { status, type, body }: Special): Promise<void> {
  response.writeHead(status, type === undefined ? {} : { "content-type": type });
  if (body === undefined || body instanceof Uint8Array) {
    response.end(body);
    return;
  }
  response.flushHeaders();
  await pipeline(Readable.from(body), response).catch(() => undefined);
}

export function respondProblem(response: ServerResponse, problem: Problem, fault?: Fault): void {
  const headers = fault?.retryAfter === undefined ? {} : { "retry-after": fault.retryAfter };
  if (fault?.body === "html") {
    response.writeHead(problem.status, { "content-type": "text/html", ...headers }).end(HTML);
    return;
  }
  sendJson(response, problem.status, problem.body(), headers);
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}
