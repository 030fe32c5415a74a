import type { ServerResponse } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context } from "hono";
import { systemClock, within, type Clock } from "../clock.ts";
import { clientAddress } from "./client-address.ts";
import { readCredential, type Credential, type CredentialRules } from "./credential.ts";
import { Endpoint, type BuildServer } from "./endpoint.ts";
import type { HttpEnvironment } from "./environment.ts";
import type { Reply } from "./exchange.ts";
import { hostGuard } from "./host-guard.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { declaredTooLarge, readBody } from "./request-body.ts";
import { failure, HEADERS, json } from "./responses.ts";
import { TokenBuckets } from "./token-buckets.ts";
import { traceOf, type Trace } from "./trace.ts";

export type Log = (
  level: "debug" | "info" | "warn" | "error",
  event: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

export interface HttpSettings<C> {
  readonly environment: HttpEnvironment;
  readonly build: BuildServer<C>;
  /** Which headers carry the credential. Without it nobody needs one. */
  readonly credentials?: Omit<CredentialRules, "acceptsTokens">;
  /** What handlers need of who calls. Nothing for a credential that is not valid: the request is answered with 401. */
  readonly contextOf: (credential: Credential | undefined, trace: Trace) => C | undefined | Promise<C | undefined>;
  /** Whether calls can be served now. The process is alive either way. */
  readonly ready?: () => boolean | Promise<boolean>;
  readonly pingVersion?: string;
  readonly log: Log;
  readonly clock?: Clock;
  readonly metrics?: Metrics;
}

const KEEP_ALIVE_MS = 15_000;
const TIME_UP = "time-up";

export type Env = { Bindings: HttpBindings };

/** The checks before MCP, in their order, and what is under way. */
export class Front<C> {
  readonly #settings: HttpSettings<C>;
  readonly #clock: Clock;
  readonly #endpoint: Endpoint<C>;
  readonly #guard;
  readonly #byAddress: TokenBuckets;
  readonly #byCredential: TokenBuckets;
  readonly #metrics: Metrics;
  readonly #flying = new Set<AbortController>();
  #draining = false;
  #landed: () => void = () => {};

  constructor(settings: HttpSettings<C>) {
    const { environment } = settings;
    this.#settings = settings;
    this.#clock = settings.clock ?? systemClock;
    this.#metrics = settings.metrics ?? createMetrics();
    this.#guard = hostGuard(
      environment.MCP_RESOURCE_URL,
      environment.MCP_ALLOWED_HOSTS,
      environment.MCP_ALLOWED_ORIGINS,
    );
    const now = () => this.#clock.now();
    this.#byAddress = new TokenBuckets(environment.MCP_RATE_LIMIT_PER_IP_PER_MIN, now);
    this.#byCredential = new TokenBuckets(environment.MCP_RATE_LIMIT_PER_KEY_PER_MIN, now);
    this.#endpoint = new Endpoint({
      build: settings.build,
      clock: this.#clock,
      keepAliveMs: KEEP_ALIVE_MS,
      streamTimeoutMs: environment.MCP_STREAM_TIMEOUT_MS,
      silenceMs: Math.min(KEEP_ALIVE_MS, environment.MCP_REQUEST_TIMEOUT_MS / 2),
      ...(settings.pingVersion === undefined ? {} : { pingVersion: settings.pingVersion }),
    });
  }

  /** Whether a page of this origin may call. */
  admits(c: Context<Env>, origin: string): boolean {
    return this.#guard.refusal(c.env.incoming.headers.host, origin) === undefined;
  }

  async ready(): Promise<boolean> {
    if (this.#draining) return false;
    try {
      return (await this.#settings.ready?.()) ?? true;
    } catch {
      return false;
    }
  }

  async metricsText(c: Context<Env>): Promise<Response> {
    const { host, origin } = c.env.incoming.headers;
    const refusal = this.#guard.refusal(host, origin);
    if (refusal !== undefined) return failure(403, refusal);
    const { contentType, body } = await this.#metrics.text();
    return new Response(body, { headers: { ...HEADERS, "content-type": contentType } });
  }

  async post(c: Context<Env>): Promise<Response> {
    const started = this.#clock.now();
    const trace = traceOf(c.env.incoming.headers);
    c.env.outgoing.setHeader("x-request-id", trace.requestId);
    let response: Response;
    try {
      response = await this.#admitted(c, trace);
    } catch (error) {
      this.#settings.log("error", "mcp_handle_failed", {
        requestId: trace.requestId,
        name: error instanceof Error ? error.name : typeof error,
      });
      response = json(500, { message: "MCP request failed" });
    }
    this.#metrics.answered(response.status, (this.#clock.now() - started) / 1000);
    return response;
  }

  /** Waits for what is under way, within its bound, then calls off the rest. */
  async drain(): Promise<void> {
    this.#draining = true;
    if (this.#flying.size > 0) {
      const landed = new Promise<void>((resolve) => (this.#landed = resolve));
      await within(this.#clock, this.#settings.environment.MCP_DRAIN_MS, landed);
    }
    for (const call of this.#flying) call.abort("the server is closing");
    await this.#endpoint.close();
  }

  #refuse(why: string, response: Response): Response {
    this.#metrics.refused(why);
    return response;
  }

  async #admitted(c: Context<Env>, trace: Trace): Promise<Response> {
    const { incoming, outgoing } = c.env;
    const { environment } = this.#settings;
    const refusal = this.#guard.refusal(incoming.headers.host, incoming.headers.origin);
    if (refusal !== undefined) return this.#refuse("host", failure(403, refusal));
    if (this.#draining)
      return this.#refuse(
        "draining",
        failure(503, "The server is stopping.", { "retry-after": "1", connection: "close" }),
      );
    if (this.#flying.size >= environment.MCP_MAX_IN_FLIGHT) {
      return this.#refuse("in-flight", failure(503, "Too many requests are being served.", { "retry-after": "1" }));
    }
    const call = new AbortController();
    this.#flying.add(call);
    this.#metrics.inFlight(this.#flying.size);
    c.req.raw.signal.addEventListener("abort", () => call.abort("the client is gone"), { once: true });
    const timeUp = Promise.withResolvers<Response>();
    const callOff = this.#clock.after(environment.MCP_REQUEST_TIMEOUT_MS, () => {
      call.abort(TIME_UP);
      const message = `No answer within ${environment.MCP_REQUEST_TIMEOUT_MS} ms. The call was aborted.`;
      timeUp.resolve(this.#refuse("timeout", failure(504, message)));
    });
    outgoing.once("close", () => {
      callOff();
      this.#flying.delete(call);
      this.#metrics.inFlight(this.#flying.size);
      if (this.#flying.size === 0) this.#landed();
    });
    try {
      return await Promise.race([this.#checked(c, trace, call.signal, callOff), timeUp.promise]);
    } finally {
      callOff();
    }
  }

  async #checked(c: Context<Env>, trace: Trace, signal: AbortSignal, onStream: () => void): Promise<Response> {
    const { incoming } = c.env;
    const { environment, credentials, contextOf } = this.#settings;
    const limit = environment.MCP_BODY_LIMIT_BYTES;
    const tooLarge = () => this.#refuse("body", failure(413, `The request body is larger than ${limit} bytes.`));
    if (declaredTooLarge(incoming, limit)) return tooLarge();
    const body = await readBody(incoming, limit, signal);
    if (body.kind === "too-large") return tooLarge();
    if (body.kind === "broken") return failure(400, "The request body did not arrive.");

    const hops = Number(environment.MCP_TRUST_PROXY);
    const address = clientAddress(incoming.headers, incoming.socket.remoteAddress, hops);
    const overAddress = address === undefined ? undefined : this.#byAddress.take(address);
    if (overAddress !== undefined) return this.#refuse("address-limit", tooMany("this address", overAddress));

    let credential: Credential | undefined;
    let caller = "";
    if (credentials !== undefined) {
      const presented = readCredential(incoming.headers, {
        ...credentials,
        acceptsTokens: environment.MCP_AUTH_SERVER_URL !== undefined,
      });
      if (presented.kind === "ok") {
        const over = this.#byCredential.take(presented.hash);
        if (over !== undefined) return this.#refuse("credential-limit", tooMany("this credential", over));
      }
      if (presented.kind === "missing")
        return this.#refuse("credential", failure(401, presented.message, this.#challenge()));
      if (presented.kind === "malformed") return this.#refuse("credential", failure(400, presented.message));
      ({ credential, hash: caller } = presented);
    }
    const context = await contextOf(credential, trace);
    if (context === undefined) {
      const message = "The credential is not valid here.";
      return this.#refuse("credential", failure(401, message, this.#challenge("invalid_token")));
    }
    const { requestId, traceparent } = trace;
    const facts = { requestId, traceparent, context };
    const reply = await this.#endpoint.answer({
      headers: incoming.headers,
      body: body.bytes,
      caller,
      facts,
      signal,
      onStream,
    });
    if (reply instanceof Response) return reply;
    const inParts = reply.kind === "json" && typeof reply.body !== "string";
    // What a page is answered with gets more headers on its way out, and a call that was called off has another answer.
    if (!inParts || incoming.headers.origin !== undefined || signal.aborted) return responseOf(reply);
    return sentInParts(c.env.outgoing, reply.body);
  }

  /** Where a client learns who gives out tokens. From our own address, never from what the request says of it. */
  #challenge(error?: string): Record<string, string> {
    const { MCP_RESOURCE_URL, MCP_AUTH_SERVER_URL } = this.#settings.environment;
    const base =
      MCP_AUTH_SERVER_URL === undefined ? MCP_RESOURCE_URL.replace(/\/$/, "") : new URL(MCP_RESOURCE_URL).origin;
    const because = error === undefined ? "" : `error="${error}", `;
    return { "www-authenticate": `Bearer ${because}resource_metadata="${base}/.well-known/oauth-protected-resource"` };
  }
}

function tooMany(whose: string, { retryAfterSeconds }: { readonly retryAfterSeconds: number }): Response {
  const message = `Too many requests from ${whose}. Try again in ${retryAfterSeconds} s.`;
  return failure(429, message, { "retry-after": String(retryAfterSeconds) });
}

/** A listing is a hundred kilobytes, the same for each request: Hono would take them in one piece, a new one each time. */
function sentInParts(outgoing: ServerResponse, parts: readonly Uint8Array[]): Response {
  const length = parts.reduce((sum, part) => sum + part.byteLength, 0);
  outgoing.writeHead(200, { ...HEADERS, "content-type": "application/json", "content-length": length });
  outgoing.cork();
  for (const part of parts) outgoing.write(part);
  outgoing.end();
  return RESPONSE_ALREADY_SENT;
}

function responseOf(reply: Reply): Response {
  switch (reply.kind) {
    case "json":
      return new Response(typeof reply.body === "string" ? reply.body : Buffer.concat(reply.body), {
        status: reply.status,
        headers: { ...HEADERS, "content-type": "application/json", ...reply.headers },
      });
    case "stream":
      return new Response(reply.stream, {
        headers: {
          ...HEADERS,
          "content-type": "text/event-stream",
          "cache-control": "no-cache, no-transform",
          "x-accel-buffering": "no",
        },
      });
    case "accepted":
      return new Response(null, { status: 202, headers: { ...HEADERS } });
    case "gone":
      return new Response(null, { status: 499, headers: { ...HEADERS } });
  }
}
