import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import type { Clock } from "../clock.ts";
import type { Id } from "../gate.ts";

/** What the HTTP response of one request is made of. */
export type Reply =
  | {
      readonly kind: "json";
      readonly status: number;
      /** Parts go out one after another, without being put together first. */
      readonly body: string | readonly Uint8Array[];
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly kind: "stream"; readonly stream: ReadableStream<Uint8Array> }
  | { readonly kind: "accepted" }
  /** Nobody is there to be answered. */
  | { readonly kind: "gone" };

/** What is read slower than it is written is kept up to here; notifications beyond it are left out. */
const KEPT_BYTES = 64 * 1024;
const utf8 = new TextEncoder();

export interface ExchangeSettings {
  /** The id under which the client knows the request. */
  readonly id: Id;
  readonly clock: Clock;
  readonly keepAliveMs: number;
  /** How long a stream may last, from its first byte. */
  readonly streamTimeoutMs: number;
  /** The call is to end: the reader is gone, or the stream has lasted too long. */
  readonly onEnd: () => void;
  /** The first byte of a stream is out: the time limit for an answer no longer holds. */
  readonly onStream: () => void;
}

/**
 * One request and its HTTP response: a JSON body where the answer is all there is, a stream of events from the first message that goes
 * before it.
 */
export class Exchange {
  readonly id: Id;
  readonly reply: Promise<Reply>;
  readonly #settings: ExchangeSettings;
  readonly #settle: (reply: Reply) => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  readonly #atEnd: (() => void)[] = [];
  #keepAliveOff: () => void = () => {};
  #over = false;

  constructor(settings: ExchangeSettings) {
    const { promise, resolve } = Promise.withResolvers<Reply>();
    this.id = settings.id;
    this.reply = promise;
    this.#settle = resolve;
    this.#settings = settings;
  }

  get over(): boolean {
    return this.#over;
  }

  /** Runs once the exchange is over, whatever ended it. */
  ended(act: () => void): void {
    if (this.#over) act();
    else this.#atEnd.push(act);
  }

  /** A message that goes before the answer. */
  push(message: JSONRPCMessage): void {
    if (this.#over) return;
    this.openStream();
    const behind = (this.#controller?.desiredSize ?? 0) <= 0;
    // A client that does not read misses what it can do without; a question to it is kept.
    if (behind && !("id" in message)) return;
    this.#write(message);
  }

  /** The answer, as it is: its id is the client's. */
  finish(body: string, status = 200, headers?: Readonly<Record<string, string>>): void {
    if (this.#over) return;
    if (this.#controller === undefined) {
      this.#settle({ kind: "json", status, body, ...(headers === undefined ? {} : { headers }) });
    } else {
      this.#frame(body);
      this.#controller.close();
    }
    this.#end();
  }

  /** An error for an answer, where the server has none. */
  fail(code: number, message: string): void {
    this.finish(JSON.stringify({ jsonrpc: "2.0", id: this.id, error: { code, message } }));
  }

  /** Nobody waits for the answer any more. */
  abandon(): void {
    if (this.#over) return;
    this.#settle({ kind: "gone" });
    try {
      this.#controller?.close();
    } catch {
      // The reader has closed it.
    }
    this.#end();
  }

  /** From here on the answer is a stream: its head goes out now, whatever there is to tell. */
  openStream(): void {
    if (this.#over || this.#controller !== undefined) return;
    const stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        cancel: () => {
          this.#end();
          this.#settings.onEnd();
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: KEPT_BYTES }),
    );
    this.#settle({ kind: "stream", stream });
    this.#settings.onStream();
    this.#keepAlive();
    this.ended(
      this.#settings.clock.after(this.#settings.streamTimeoutMs, () => {
        this.fail(-32001, "Request timed out");
        this.#settings.onEnd();
      }),
    );
  }

  #keepAlive(): void {
    const { clock, keepAliveMs } = this.#settings;
    this.#keepAliveOff = clock.after(keepAliveMs, () => {
      if (this.#over) return;
      if ((this.#controller?.desiredSize ?? 0) > 0) this.#controller?.enqueue(utf8.encode(": keepalive\n\n"));
      this.#keepAlive();
    });
  }

  #write(message: JSONRPCMessage): void {
    this.#frame(JSON.stringify(message));
  }

  #frame(json: string): void {
    this.#controller?.enqueue(utf8.encode(`event: message\ndata: ${json}\n\n`));
  }

  #end(): void {
    this.#over = true;
    this.#keepAliveOff();
    for (const act of this.#atEnd.splice(0)) act();
  }
}
