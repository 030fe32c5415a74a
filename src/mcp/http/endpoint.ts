import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { createMcpHandler, type McpHttpHandler, type McpServer, type Server } from "@modelcontextprotocol/server";
import type { Clock } from "../clock.ts";
import type { Id, Request } from "../gate.ts";
import { isObject } from "../params.ts";
import type { Era } from "../versions.ts";
import { Exchange, type Reply } from "./exchange.ts";
import { readInbound, type Inbound } from "./inbound.ts";
import { Multiplexer } from "./multiplexer.ts";

/** What handlers are told of the HTTP request that they serve. */
export interface CallFacts<C> {
  readonly era: Era;
  readonly requestId: string;
  readonly traceparent: string;
  /** The client of the legacy era has said that its user can be asked. In the modern era each request says so itself. */
  readonly canElicit: boolean;
  readonly context: C;
}

export interface BuiltServer<C> {
  readonly server: McpServer | Server;
  /**
   * What the answer to a listing depends on, besides the era: the answer is made once for it and kept. Nothing where it may change.
   */
  readonly keptFor?: (facts: CallFacts<C>) => object;
}

/** Makes the server of an era. Called once an era, and once more for each legacy `initialize`, whose claims are nobody else's. */
export type BuildServer<C> = (era: Era, factsOf: (id: Id) => CallFacts<C> | undefined) => BuiltServer<C>;

export interface EndpointSettings<C> {
  readonly build: BuildServer<C>;
  readonly clock: Clock;
  readonly keepAliveMs: number;
  readonly streamTimeoutMs: number;
  /** When a call that takes a stream has had nothing to say for so long, its stream opens all the same. */
  readonly silenceMs: number;
  /** `ping` is answered in the modern era too, which has none, under this version of ours. */
  readonly pingVersion?: string;
}

export interface Post<C> {
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
  /** Tells callers apart; only the caller of a request may answer what it is asked. */
  readonly caller: string;
  readonly facts: Omit<CallFacts<C>, "era" | "canElicit">;
  /** Aborted when the client is gone, the time is up, or the server closes: the call is cancelled. */
  readonly signal: AbortSignal;
  /** A stream has begun. */
  readonly onStream: () => void;
}

interface Running<C> {
  readonly multiplexer: Multiplexer<CallFacts<C>>;
  readonly built: BuiltServer<C>;
}

const utf8 = new TextEncoder();
const END = utf8.encode("}");
/** Listings, which are the same for everybody who may use the same. */
const KEPT = new Set(["tools/list", "resources/list", "resources/templates/list", "server/discover"]);
const MAX_LISTENERS = 64;
const SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo";
/** What a legacy client said of itself when it initialised, for it to bring along: nothing is kept here. */
const ELICITS = /^elicits-[0-9a-f-]{36}$/;

/**
 * MCP over HTTP behind all checks that have nothing to do with it. One server an era serves every request: nothing is built for a request,
 * and nothing of it is kept when it is answered.
 */
export class Endpoint<C> {
  readonly #settings: EndpointSettings<C>;
  readonly #running = new Map<Era, Promise<Running<C>>>();
  /** As bytes: a long text that is encoded anew for each answer costs more than all else that is done for it. */
  readonly #kept = new WeakMap<object, Map<string, Uint8Array>>();
  /** Calls of legacy clients that can name them: to cancel one takes a message of its own there. */
  readonly #cancellable = new Map<string, () => void>();
  readonly #listen: McpHttpHandler;

  constructor(settings: EndpointSettings<C>) {
    this.#settings = settings;
    this.#listen = createMcpHandler(() => settings.build("modern", () => undefined).server, {
      legacy: "reject",
      maxSubscriptions: MAX_LISTENERS,
      keepAliveMs: settings.keepAliveMs,
    });
  }

  async answer(post: Post<C>): Promise<Reply | Response> {
    const inbound = readInbound(post.headers, post.body);
    switch (inbound.kind) {
      case "refused":
        return { kind: "json", status: inbound.status, body: inbound.body };
      case "answer": {
        const { multiplexer } = await this.#serverOf("legacy");
        multiplexer.answer(inbound.message, post.caller);
        return { kind: "accepted" };
      }
      case "notification":
        this.#notified(inbound, post);
        return { kind: "accepted" };
      case "request":
        return this.#request(inbound.era, inbound.message, post);
    }
  }

  /** Calls off what is under way. */
  async close(): Promise<void> {
    const running = await Promise.all(this.#running.values());
    await this.#listen.close();
    await Promise.all(running.map(({ built }) => built.server.close()));
  }

  async #request(era: Era, message: Request, post: Post<C>): Promise<Reply | Response> {
    const session = sessionOf(post.headers);
    const facts: CallFacts<C> = { ...post.facts, era, canElicit: session !== undefined };
    if (era === "modern") {
      if (message.method === "ping" && this.#settings.pingVersion !== undefined) {
        return pong(message.id, this.#settings.pingVersion);
      }
      if (message.method === "subscriptions/listen") return this.#subscribe(message, post);
    } else if (message.method === "initialize") {
      return this.#initialize(message, post, facts);
    }
    const running = await this.#serverOf(era);
    const keptFor = isPlainListing(message) ? running.built.keptFor?.(facts) : undefined;
    const kept = keptFor === undefined ? undefined : this.#kept.get(keptFor)?.get(`${era} ${message.method}`);
    if (kept !== undefined) {
      return {
        kind: "json",
        status: 200,
        body: [utf8.encode(`{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":`), kept, END],
      };
    }
    const reply = await this.#exchange(running.multiplexer, message, post, facts, session);
    if (keptFor !== undefined) this.#keep(keptFor, `${era} ${message.method}`, reply);
    return reply;
  }

  #exchange(
    multiplexer: Multiplexer<CallFacts<C>>,
    message: Request,
    post: Post<C>,
    facts: CallFacts<C>,
    session: string | undefined,
  ): Promise<Reply> {
    const { clock, keepAliveMs, streamTimeoutMs, silenceMs } = this.#settings;
    if (post.signal.aborted) return Promise.resolve({ kind: "gone" });
    let callOff: (reason: string) => void = () => {};
    const exchange = new Exchange({
      id: message.id,
      clock,
      keepAliveMs,
      streamTimeoutMs,
      onEnd: () => callOff("the client is gone, or the stream has lasted too long"),
      onStream: post.onStream,
    });
    const end = () => {
      callOff(String(post.signal.reason));
      exchange.abandon();
    };
    callOff = multiplexer.deliver(message, { exchange, facts, caller: post.caller });
    if (exchange.over) return exchange.reply;
    post.signal.addEventListener("abort", end, { once: true });
    const unlist = this.#listCancellable(session, message.id, () => {
      callOff("cancelled by the client");
      exchange.fail(-32000, "Request cancelled");
    });
    const opens =
      progressTokenOf(message) === undefined ? undefined : clock.after(silenceMs, () => exchange.openStream());
    exchange.ended(() => {
      post.signal.removeEventListener("abort", end);
      unlist();
      opens?.();
    });
    return exchange.reply;
  }

  /**
   * Served by a server of its own, so that what one client says of itself is never taken for another's. A client whose user can be asked gets
   * that back as its session id: it brings it along with each request, and we need not remember.
   */
  async #initialize(message: Request, post: Post<C>, facts: CallFacts<C>): Promise<Reply> {
    const multiplexer = new Multiplexer<CallFacts<C>>("legacy");
    const { server } = this.#settings.build("legacy", (id) => multiplexer.factsOf(id));
    await server.connect(multiplexer);
    const reply = await this.#exchange(multiplexer, message, post, facts, undefined);
    await server.close();
    if (reply.kind !== "json" || !declaresElicitation(message)) return reply;
    return { ...reply, headers: { "mcp-session-id": `elicits-${randomUUID()}` } };
  }

  #subscribe(message: Request, post: Post<C>): Promise<Response> {
    post.onStream();
    const request = new globalThis.Request("http://localhost/mcp", {
      method: "POST",
      headers: Object.entries(post.headers).flatMap(([name, value]): [string, string][] =>
        typeof value === "string" && (name.startsWith("mcp-") || name === "content-type") ? [[name, value]] : [],
      ),
      signal: post.signal,
    });
    return this.#listen.fetch(request, { parsedBody: message });
  }

  #notified({ era, message }: Inbound & { kind: "notification" }, post: Post<C>): void {
    if (era !== "legacy" || message.method !== "notifications/cancelled") return;
    const session = sessionOf(post.headers);
    if (session === undefined) return;
    this.#cancellable.get(`${session} ${JSON.stringify(message.params?.["requestId"])}`)?.();
  }

  #listCancellable(session: string | undefined, id: Id, cancel: () => void): () => void {
    if (session === undefined) return () => {};
    const key = `${session} ${JSON.stringify(id)}`;
    this.#cancellable.set(key, cancel);
    return () => {
      if (this.#cancellable.get(key) === cancel) this.#cancellable.delete(key);
    };
  }

  #serverOf(era: Era): Promise<Running<C>> {
    const known = this.#running.get(era);
    if (known !== undefined) return known;
    const multiplexer = new Multiplexer<CallFacts<C>>(era);
    const built = this.#settings.build(era, (id) => multiplexer.factsOf(id));
    const running = built.server.connect(multiplexer).then(() => ({ multiplexer, built }));
    this.#running.set(era, running);
    return running;
  }

  #keep(keptFor: object, key: string, reply: Reply): void {
    if (reply.kind !== "json" || reply.status !== 200 || typeof reply.body !== "string") return;
    const { result } = JSON.parse(reply.body) as { result?: unknown };
    if (result === undefined) return;
    const answers = this.#kept.get(keptFor) ?? new Map<string, Uint8Array>();
    answers.set(key, utf8.encode(JSON.stringify(result)));
    this.#kept.set(keptFor, answers);
  }
}

/** It asks for nothing in particular: no page, no filter. */
function isPlainListing(message: Request): boolean {
  return KEPT.has(message.method) && Object.keys(message.params ?? {}).every((key) => key === "_meta");
}

function progressTokenOf(message: Request): unknown {
  const meta = message.params?.["_meta"];
  return isObject(meta) ? meta["progressToken"] : undefined;
}

/** An empty declaration means forms, as it did before there was anything else. */
function declaresElicitation(message: Request): boolean {
  const capabilities = message.params?.["capabilities"];
  const elicitation = isObject(capabilities) ? capabilities["elicitation"] : undefined;
  return isObject(elicitation) && ("form" in elicitation || Object.keys(elicitation).length === 0);
}

function sessionOf(headers: IncomingHttpHeaders): string | undefined {
  const session = headers["mcp-session-id"];
  return typeof session === "string" && ELICITS.test(session) ? session : undefined;
}

function pong(id: Id, version: string): Reply {
  const _meta = { [SERVER_INFO_KEY]: { name: "simlock", version } };
  const body = JSON.stringify({ jsonrpc: "2.0", id, result: { resultType: "complete", _meta } });
  return { kind: "json", status: 200, body };
}
