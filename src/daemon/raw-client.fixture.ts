import { connect, type Socket } from "node:net";
import { encodeFrame, LineSplitter } from "../contract/index.ts";

/** A frame as it came: tests look into it field by field. */
export interface RawFrame {
  readonly id?: unknown;
  readonly ok?: boolean;
  readonly payload?: unknown;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly hint?: string;
    readonly details?: unknown;
  };
  readonly push?: string;
}

/** A client with no manners built in: it writes what it is told to and keeps what comes. */
export class RawClient {
  readonly socket: Socket;
  readonly frames: RawFrame[] = [];
  closed = false;
  #changed: (() => void)[] = [];
  #next = 1;

  private constructor(socket: Socket) {
    this.socket = socket;
    const splitter = new LineSplitter(64 * 1024 * 1024);
    socket.on("data", (chunk: Buffer) => {
      for (const line of splitter.push(chunk)) {
        const frame: RawFrame = JSON.parse(line);
        this.frames.push(frame);
      }
      this.#tell();
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.closed = true;
      this.#tell();
    });
  }

  static async open(path: string): Promise<RawClient> {
    const socket = connect(path);
    await new Promise<void>((done, refuse) => {
      socket.once("connect", done);
      socket.once("error", refuse);
    });
    return new RawClient(socket);
  }

  static async hello(path: string, hello: Record<string, unknown> = {}): Promise<RawClient> {
    const client = await RawClient.open(path);
    await client.call("hello", { clientVersion: "test", protocolVersion: 1, ...hello });
    return client;
  }

  write(text: string | Buffer): void {
    this.socket.write(text);
  }

  send(frame: object): void {
    this.write(encodeFrame(frame));
  }

  begin(type: string, payload: unknown = {}): number {
    const id = this.#next++;
    this.send({ id, type, payload });
    return id;
  }

  /** The whole reply frame, failure or not. */
  async call(type: string, payload: unknown = {}): Promise<RawFrame> {
    return this.reply(this.begin(type, payload));
  }

  async ok(type: string, payload: unknown = {}): Promise<unknown> {
    const reply = await this.call(type, payload);
    if (reply.ok !== true) throw new Error(`${type} failed: ${JSON.stringify(reply.error)}`);
    return reply.payload;
  }

  async reply(id: unknown): Promise<RawFrame> {
    return this.wait((frame) => frame.push === undefined && frame.id === id);
  }

  async push(kind: string, matches: (payload: unknown) => boolean = () => true): Promise<RawFrame> {
    return this.wait((frame) => frame.push === kind && matches(frame.payload));
  }

  /** The first frame, come or still to come, that fits. */
  async wait(fits: (frame: RawFrame) => boolean, timeoutMs = 15_000): Promise<RawFrame> {
    let found: RawFrame | undefined;
    await this.until(() => (found = this.frames.find(fits)) !== undefined || this.closed, timeoutMs);
    if (found === undefined) throw new Error("the connection was closed before the frame came");
    return found;
  }

  async ended(timeoutMs = 15_000): Promise<void> {
    await this.until(() => this.closed, timeoutMs);
  }

  async until(fact: () => boolean, timeoutMs = 15_000): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    while (!fact()) {
      const left = deadline - Date.now();
      if (left <= 0) throw new Error(`waited ${timeoutMs} ms in vain; got ${JSON.stringify(this.frames.slice(-5))}`);
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([
        new Promise<void>((done) => this.#changed.push(done)),
        new Promise<void>((done) => (timer = setTimeout(done, left))),
      ]);
      clearTimeout(timer);
    }
  }

  close(): void {
    this.socket.destroy();
  }

  #tell(): void {
    const changed = this.#changed;
    this.#changed = [];
    for (const done of changed) done();
  }
}
