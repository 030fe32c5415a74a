import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import type { Id, Notification, Request } from "./gate.ts";

/**
 * The transport of one server: hands it what the gate lets through and writes what it says. Knows which requests are not answered yet.
 * Closing it closes no stream.
 */
export class Channel implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #write: (message: JSONRPCMessage) => void;
  readonly #unanswered = new Set<Id>();
  #closed = false;

  constructor(write: (message: JSONRPCMessage) => void) {
    this.#write = write;
  }

  async start(): Promise<void> {}

  get unanswered(): number {
    return this.#unanswered.size;
  }

  isUnanswered(id: Id): boolean {
    return this.#unanswered.has(id);
  }

  deliver(message: Request | Notification): void {
    if (this.#closed) return;
    if ("id" in message) this.#unanswered.add(message.id);
    else if (message.method === "notifications/cancelled") this.#answered(message.params?.["requestId"]);
    this.onmessage?.(message);
  }

  /** What the client says to a request of the server's. */
  answered(message: JSONRPCMessage): void {
    if (!this.#closed) this.onmessage?.(message);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) return;
    this.#write(message);
    if ("id" in message && !("method" in message)) this.#answered(message.id);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#unanswered.clear();
    this.onclose?.();
  }

  #answered(id: unknown): void {
    if (typeof id === "string" || typeof id === "number") this.#unanswered.delete(id);
  }
}
