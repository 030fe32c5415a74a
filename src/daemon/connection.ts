import type { Socket } from "node:net";
import {
  encodeFrame,
  LineSplitter,
  MAX_FRAME_BYTES,
  SimlockError,
  toSimlockError,
  type PushKind,
  type PushPayload,
  type Role,
} from "../contract/index.ts";
import type { CallId, Peer } from "./call.ts";
import { OUTPUT_HIGH_WATER_BYTES, type SocketLimits } from "./limits.ts";

export interface ConnectionEvents {
  readonly line: (text: string) => void;
  readonly closed: (why: string) => void;
}

/** One client on the socket: frames in, frames out, and the bounds that keep it from being anybody else's trouble. */
export class Connection implements Peer {
  readonly number: number;
  readonly local = true;
  readonly #socket: Socket;
  readonly #splitter = new LineSplitter();
  readonly #limits: SocketLimits;
  readonly #events: ConnectionEvents;
  readonly #goneListeners = new Set<() => void>();
  #gone = false;
  #principal: string;
  #role: Role = "agent";
  #identified = false;
  #badFrames = 0;
  #deadline: NodeJS.Timeout | undefined;
  #room: Promise<void> | undefined;
  #why = "the client closed it";

  constructor(number: number, socket: Socket, limits: SocketLimits, events: ConnectionEvents) {
    this.number = number;
    this.#socket = socket;
    this.#limits = limits;
    this.#events = events;
    this.#principal = `connection:${number}`;
    this.#limit(limits.helloTimeoutMs, "it did not say hello in time");
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    // A client that ends its side is gone: whether it would still read can't be told from one that crashed.
    socket.on("end", () => socket.end());
    socket.on("error", () => undefined);
    socket.on("close", () => this.#closed());
  }

  get principal(): string {
    return this.#principal;
  }
  get role(): Role {
    return this.#role;
  }
  get gone(): boolean {
    return this.#gone;
  }

  onGone(listener: () => void): () => void {
    if (this.#gone) listener();
    else this.#goneListeners.add(listener);
    return () => this.#goneListeners.delete(listener);
  }

  /** Hello was said: who calls is fixed from here on. */
  identify(principal: string | undefined, role: Role): void {
    this.#principal = principal ?? this.#principal;
    this.#role = role;
    this.#identified = true;
    this.#limit(undefined, "");
  }

  reply(id: CallId, payload: unknown): void {
    const text = encodeFrame({ id, ok: true, payload });
    if (text.length > MAX_FRAME_BYTES / 3 && Buffer.byteLength(text) > MAX_FRAME_BYTES) {
      this.fail(
        id,
        new SimlockError("BAD_REQUEST", `The answer takes more than ${MAX_FRAME_BYTES} bytes.`, {
          hint: "Ask for less at once: a smaller limit, or one kind of record.",
        }),
      );
    } else this.#write(text);
  }

  fail(id: CallId | null, thrown: unknown): void {
    const error = toSimlockError(thrown);
    this.#write(encodeFrame({ id, ok: false, error: error.toWire() }));
    if (error.code !== "BAD_FRAME") return;
    this.#badFrames += 1;
    if (this.#badFrames >= this.#limits.maxBadFrames) this.close("it sent too much that is no frame");
  }

  wellFormed(): void {
    this.#badFrames = 0;
  }

  push<K extends PushKind>(kind: K, payload: PushPayload<K>): void {
    this.#write(encodeFrame({ push: kind, payload }));
  }

  room(): Promise<void> | undefined {
    if (this.#gone || this.#socket.writableLength < OUTPUT_HIGH_WATER_BYTES) return undefined;
    this.#room ??= new Promise<void>((done) => {
      const free = (): void => {
        this.#socket.off("drain", free);
        this.#socket.off("close", free);
        this.#room = undefined;
        done();
      };
      this.#socket.on("drain", free);
      this.#socket.on("close", free);
    });
    return this.#room;
  }

  /** Says what was said, then closes. */
  close(why: string): void {
    this.#why = why;
    this.#socket.end();
    // A client that does not read never lets the end out.
    this.#limit(1000, why);
  }

  /** Ends it now, whatever is under way. */
  cut(why: string): void {
    if (this.#gone) return;
    this.#why = why;
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    let lines: string[];
    try {
      lines = this.#splitter.push(chunk);
    } catch (error) {
      // Where the next frame would begin is unknown: say why, and end it.
      this.fail(null, error);
      this.#socket.removeAllListeners("data");
      this.#socket.resume();
      this.close("a frame was too long");
      return;
    }
    if (this.#identified) {
      if (this.#splitter.pending) {
        if (this.#deadline === undefined || lines.length > 0)
          this.#limit(this.#limits.frameTimeoutMs, "a frame was left unfinished");
      } else this.#limit(undefined, "");
    }
    for (const line of lines) {
      if (this.#gone) return;
      this.#events.line(line);
    }
  }

  #write(text: string): void {
    if (this.#socket.destroyed || this.#socket.writableEnded) return;
    this.#socket.write(text);
    if (this.#socket.writableLength > this.#limits.maxOutgoingBytes) this.cut("it does not read");
  }

  #limit(ms: number | undefined, why: string): void {
    clearTimeout(this.#deadline);
    this.#deadline = ms === undefined ? undefined : setTimeout(() => this.cut(why), ms);
    this.#deadline?.unref();
  }

  #closed(): void {
    clearTimeout(this.#deadline);
    this.#gone = true;
    for (const listener of this.#goneListeners) listener();
    this.#goneListeners.clear();
    this.#events.closed(this.#why);
  }
}
