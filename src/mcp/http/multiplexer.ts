import { randomUUID } from "node:crypto";
import {
  PerRequestHTTPServerTransport,
  type JSONRPCMessage,
  type MessageClassification,
  type TransportSendOptions,
} from "@modelcontextprotocol/server";
import type { Id, Notification, Request } from "../gate.ts";
import { MODERN_VERSION, type Era } from "../versions.ts";
import type { Exchange } from "./exchange.ts";

/** What a request that fails before it reaches a handler is answered with, in the era that gives such failures a status. */
const STATUS_OF: Readonly<Record<number, number>> = {
  [-32700]: 400,
  [-32600]: 400,
  [-32601]: 404,
  [-32020]: 400,
  [-32021]: 400,
  [-32022]: 400,
};
const MISSING_CAPABILITY = -32021;

const CLASSIFICATION: Readonly<Record<Era, MessageClassification>> = {
  modern: { era: "modern", revision: MODERN_VERSION },
  legacy: { era: "legacy" },
};

/** One exchange, and what the server's handlers are told of it. */
export interface Served<F> {
  readonly exchange: Exchange;
  readonly facts: F;
  /** Who may answer what the server asks during it. */
  readonly caller: string;
}

/**
 * The transport of one server that serves any number of HTTP requests at once. Each gets an id of its own, so that two clients may use the
 * same; what the server says of a request goes into that request's response. What it asks gets an id that nobody can guess, and only the
 * caller of the request may answer. It is the SDK's own transport for a single exchange, which alone tells a server that it serves the
 * modern era; all that it does is replaced.
 */
export class Multiplexer<F> extends PerRequestHTTPServerTransport {
  readonly #era: Era;
  readonly #served = new Map<Id, Served<F>>();
  readonly #asked = new Map<string, { readonly id: Id; readonly served: Served<F> }>();
  #next = 0;
  /** While a message is handed over, before any handler has run. */
  #dispatching = false;

  constructor(era: Era) {
    super({ classification: CLASSIFICATION[era] });
    this.#era = era;
  }

  /** What is known of the request with the id that the server knows it by. */
  factsOf(id: Id): F | undefined {
    return this.#served.get(id)?.facts;
  }

  /** Returns the way to call it off: the handler is told through its signal, and what it says from then on goes nowhere. */
  deliver(message: Request, served: Served<F>): (reason: string) => void {
    this.#next += 1;
    const id = this.#next;
    this.#served.set(id, served);
    this.#hand({ ...message, id });
    return (reason) => {
      if (!this.#served.has(id)) return;
      this.#forget(id);
      this.#hand({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason } });
    };
  }

  notify(message: Notification): void {
    this.#hand(message);
  }

  /** What a client answers to something that the server has asked. False when nobody asked this caller. */
  answer(message: { readonly id: unknown }, caller: string): boolean {
    const asked = typeof message.id === "string" ? this.#asked.get(message.id) : undefined;
    if (asked === undefined || asked.served.caller !== caller) return false;
    this.#asked.delete(String(message.id));
    this.#hand({ ...message, id: asked.id });
    return true;
  }

  override async start(): Promise<void> {}

  override async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (!("method" in message)) {
      this.#answered(message);
      return;
    }
    const related = options?.relatedRequestId;
    const served = related === undefined ? undefined : this.#served.get(related);
    // News that belong to no request have nowhere to go: there is no stream beside the requests'.
    if (served === undefined) return;
    if ("id" in message) {
      const id = randomUUID();
      this.#asked.set(id, { id: message.id, served });
      served.exchange.push({ ...message, id });
    } else if (message.method === "notifications/cancelled") {
      this.#withdraw(message.params?.["requestId"], served);
    } else {
      served.exchange.push(message);
    }
  }

  override async close(): Promise<void> {
    for (const { exchange } of this.#served.values()) exchange.abandon();
    this.#served.clear();
    this.#asked.clear();
    this.onclose?.();
  }

  #hand(message: object): void {
    this.#dispatching = true;
    try {
      this.onmessage?.(message as JSONRPCMessage, { classification: CLASSIFICATION[this.#era] });
    } finally {
      this.#dispatching = false;
    }
  }

  #answered(message: Exclude<JSONRPCMessage, { method: string }>): void {
    const served = message.id === undefined ? undefined : this.#served.get(message.id);
    if (served === undefined || message.id === undefined) return;
    this.#forget(message.id);
    served.exchange.finish(JSON.stringify({ ...message, id: served.exchange.id }), this.#statusOf(message));
  }

  #statusOf(message: JSONRPCMessage): number {
    if (this.#era === "legacy" || !("error" in message)) return 200;
    const { code } = message.error;
    return this.#dispatching || code === MISSING_CAPABILITY ? (STATUS_OF[code] ?? 200) : 200;
  }

  /** The server takes back a question: the client is told by the id that it knows. */
  #withdraw(requestId: unknown, served: Served<F>): void {
    for (const [asked, { id, served: of }] of this.#asked) {
      if (id !== requestId || of !== served) continue;
      this.#asked.delete(asked);
      served.exchange.push({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: asked } });
    }
  }

  #forget(id: Id): void {
    const served = this.#served.get(id);
    this.#served.delete(id);
    if (this.#asked.size === 0) return;
    for (const [asked, question] of this.#asked) if (question.served === served) this.#asked.delete(asked);
  }
}
