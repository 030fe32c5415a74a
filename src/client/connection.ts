import type { Socket } from "node:net";
import { encodeFrame, LineSplitter, MAX_FRAME_BYTES, SimlockError, type CLIENT_PUSHES } from "../contract/index.ts";
import type { z } from "zod";
import { readFrame } from "./frames.ts";
import { MAX_WAITING_BYTES, Outbox } from "./outbox.ts";

/** How long `close` waits for the daemon to let go. */
const CLOSE_LIMIT_MS = 1_000;

export type OnPush = (push: string, payload: unknown) => void;

/** One request and the wait for its answer. */
export interface Exchange {
  readonly id: number;
  /** The answer's payload, not yet parsed. Rejects with what the daemon answered, or `DAEMON_CONNECTION_LOST`. */
  readonly answer: Promise<unknown>;
  /** Takes the request back if it has not been sent: then the answer rejects with this, and the daemon never hears of it. */
  withdraw(why: unknown): boolean;
  /** Stops waiting: the answer rejects with this. What the daemon still answers is dropped. */
  abandon(why: unknown): void;
}

interface Waiting {
  readonly operation: string;
  readonly resolve: (payload: unknown) => void;
  readonly reject: (why: unknown) => void;
  readonly onPush: OnPush | undefined;
}

/** Frames in, frames out, and which answer belongs to which request. It ends once and never reconnects. */
export class Connection {
  readonly #socket: Socket;
  readonly #outbox: Outbox;
  readonly #splitter = new LineSplitter();
  readonly #waiting = new Map<number, Waiting>();
  readonly #onPush: OnPush;
  readonly #closed: Promise<void>;
  #nextId = 1;
  #skipped = 0;
  #held: [push: string, payload: unknown][] | undefined = [];
  #ended: SimlockError | undefined;
  /** The connection ended, and not by `close`. */
  readonly lost: Promise<void>;

  constructor(socket: Socket, onPush: OnPush) {
    this.#socket = socket;
    this.#outbox = new Outbox(socket);
    this.#onPush = onPush;
    this.#closed = new Promise((resolve) => socket.once("close", () => resolve()));
    this.lost = new Promise((resolve) => {
      socket.once("close", () => {
        if (this.#ended?.code !== "SESSION_CLOSED") resolve();
        this.#end("DAEMON_CONNECTION_LOST", "The daemon ended the connection");
      });
    });
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", (error) =>
      this.#end("DAEMON_CONNECTION_LOST", `The connection to the daemon broke: ${error.message}`),
    );
  }

  /** Lines of the daemon that could not be used: no frames, or answers to nobody. */
  get skipped(): number {
    return this.#skipped;
  }

  /** Sends a request. Rejects by its answer alone: when it is too long, when too much waits already, when the connection has ended. */
  send(operation: string, payload: unknown, onPush?: OnPush): Exchange {
    const id = this.#nextId;
    this.#nextId += 1;
    let ticket: number | undefined;
    const answer = new Promise<unknown>((resolve, reject) => {
      const frame = this.#encoded(id, operation, payload);
      if (frame instanceof SimlockError) {
        reject(frame);
        return;
      }
      this.#waiting.set(id, { operation, resolve, reject, onPush });
      ticket = this.#outbox.add(frame.text, frame.bytes);
    });
    const abandon = (why: unknown): void => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      waiting?.reject(why);
    };
    const withdraw = (why: unknown): boolean => {
      if (ticket === undefined || !this.#outbox.takeBack(ticket)) return false;
      abandon(why);
      return true;
    };
    return {
      id,
      answer,
      withdraw,
      abandon: (why) => {
        if (!withdraw(why)) abandon(why);
      },
    };
  }

  /** Says something that has no answer. Nothing is said once the connection has ended. */
  tell<K extends keyof typeof CLIENT_PUSHES>(push: K, payload: z.input<(typeof CLIENT_PUSHES)[K]>): void {
    if (this.#ended !== undefined) return;
    const text = encodeFrame({ push, payload });
    this.#outbox.add(text, text.length);
  }

  /** From here on pushes that belong to no request are handed on; what came before is handed on now. */
  open(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const [push, payload] of held) this.#onPush(push, payload);
  }

  async close(): Promise<void> {
    this.#end("SESSION_CLOSED", "This client has closed its connection");
    this.#socket.end();
    const timer = setTimeout(() => this.#socket.destroy(), CLOSE_LIMIT_MS);
    await this.#closed;
    clearTimeout(timer);
  }

  #encoded(id: number, operation: string, payload: unknown): { text: string; bytes: number } | SimlockError {
    if (this.#ended !== undefined)
      return new SimlockError(this.#ended.code, `${this.#ended.message} before ${operation} was sent.`);
    let text: string;
    try {
      text = encodeFrame({ id, type: operation, payload });
    } catch (error) {
      return new SimlockError("BAD_REQUEST", `The input of ${operation} is not JSON.`, { cause: error });
    }
    const bytes = Buffer.byteLength(text);
    if (bytes - 1 > MAX_FRAME_BYTES) {
      return new SimlockError(
        "BAD_FRAME",
        `${operation} would take ${bytes - 1} bytes, and a frame may have ${MAX_FRAME_BYTES}.`,
        {
          hint: "Send less at once: put a large file on the host and name its path.",
        },
      );
    }
    if (this.#outbox.takes(bytes)) return { text, bytes };
    return new SimlockError(
      "DAEMON_CONNECTION_LOST",
      `${operation} was not sent: the daemon does not read, and ${MAX_WAITING_BYTES} bytes wait for it already.`,
      { hint: "Wait for the calls in flight; if none is answered, run `simlock daemon restart`." },
    );
  }

  #read(chunk: Buffer): void {
    let lines: string[];
    try {
      lines = this.#splitter.push(chunk);
    } catch {
      this.#end(
        "DAEMON_CONNECTION_LOST",
        `The daemon sent a frame of more than ${MAX_FRAME_BYTES} bytes, and the connection was ended`,
      );
      this.#socket.destroy();
      return;
    }
    for (const line of lines) this.#receive(line);
  }

  #receive(line: string): void {
    const frame = readFrame(line);
    switch (frame.kind) {
      case "noise":
        this.#skipped += 1;
        return;
      case "push":
        this.#routePush(frame.push, frame.payload);
        return;
      case "answer":
      case "refusal": {
        const waiting = this.#waiting.get(frame.id);
        this.#waiting.delete(frame.id);
        if (waiting === undefined) this.#skipped += 1;
        else if (frame.kind === "answer") waiting.resolve(frame.payload);
        else waiting.reject(frame.error);
      }
    }
  }

  /** What names a request goes to that request alone: it is over when nobody waits for it any more. */
  #routePush(push: string, payload: unknown): void {
    if (this.#ended !== undefined) return;
    if (typeof payload === "object" && payload !== null && "requestId" in payload) {
      const waiting = typeof payload.requestId === "number" ? this.#waiting.get(payload.requestId) : undefined;
      if (waiting === undefined) this.#skipped += 1;
      else waiting.onPush?.(push, payload);
    } else if (this.#held === undefined) this.#onPush(push, payload);
    else if (this.#held.length < MAX_HELD) this.#held.push([push, payload]);
  }

  #end(code: "SESSION_CLOSED" | "DAEMON_CONNECTION_LOST", why: string): void {
    if (this.#ended !== undefined) return;
    this.#ended = new SimlockError(code, why);
    this.#outbox.clear();
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    const more = this.#skipped === 0 ? {} : { details: { skippedLines: this.#skipped } };
    for (const { operation, reject } of waiting) {
      reject(new SimlockError("DAEMON_CONNECTION_LOST", `${why} while ${operation} waited for its answer.`, more));
    }
  }
}

/** Pushes that are kept for listeners which are about to be added. Beyond it the newest are dropped. */
const MAX_HELD = 256;
