import { connect, type Socket } from "node:net";

/** What went wrong between us and an adb server. The driver's door turns it into a `SimlockError`. */
export class AdbError extends Error {
  readonly kind: "no-server" | "refused" | "broken" | "timeout" | "too-much";

  constructor(kind: AdbError["kind"], message: string) {
    super(message);
    this.name = "AdbError";
    this.kind = kind;
  }
}

/** The longest service: its length is written with four hex digits, and longer ones lose their first (seen with adb 29 and 34). */
const MAX_SERVICE_BYTES = 0xffff;
/** An answer's text, for the few answers that have a length in front: four hex digits can't say more. */
const LENGTH_DIGITS = 4;

/**
 * One connection to an adb server: a service is asked for, answered with OKAY or FAIL, and what follows is the service's own. The stream is
 * read as the reader asks for it; whoever opened it ends it.
 */
export class AdbSocket {
  readonly #socket: Socket;
  readonly #signal: AbortSignal;
  #ended = false;
  #failure: AdbError | undefined;
  #wake: (() => void) | undefined;

  /** Connects to 127.0.0.1. The signal ends the connection whenever it fires; pass one with a time limit for anything but tracking. */
  static async open(port: number, signal: AbortSignal): Promise<AdbSocket> {
    const opened = new AdbSocket(connect({ port, host: "127.0.0.1" }), signal);
    await opened.#connected(port);
    return opened;
  }

  private constructor(socket: Socket, signal: AbortSignal) {
    this.#socket = socket;
    this.#signal = signal;
    const wake = (): void => this.#wake?.();
    const onAbort = (): void => {
      this.#failure ??= new AdbError("timeout", "the adb server did not answer in time");
      socket.destroy();
      wake();
    };
    socket.setNoDelay(true);
    socket.on("connect", wake);
    socket.on("readable", wake);
    socket.on("end", () => {
      this.#ended = true;
      wake();
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      this.#failure ??= new AdbError(error.code === "ECONNREFUSED" ? "no-server" : "broken", error.message);
      wake();
    });
    socket.on("close", () => {
      this.#ended = true;
      signal.removeEventListener("abort", onAbort);
      wake();
    });
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  }

  async #connected(port: number): Promise<void> {
    while (this.#socket.connecting && this.#failure === undefined) await this.#change();
    if (this.#failure?.kind === "no-server") {
      throw new AdbError("no-server", `no adb server listens on 127.0.0.1:${port}`);
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Asks for a service and reads its status. Throws `refused` with the server's own words. */
  async request(service: string | Buffer): Promise<void> {
    const bytes = typeof service === "string" ? Buffer.from(service, "utf8") : service;
    if (bytes.length > MAX_SERVICE_BYTES) throw new AdbError("refused", "the service's name is too long for adb");
    this.write(Buffer.concat([Buffer.from(bytes.length.toString(16).padStart(LENGTH_DIGITS, "0")), bytes]));
    await this.status();
  }

  /** Reads OKAY, or FAIL with its reason. Forward services answer twice: once to the request and once to its doing. */
  async status(): Promise<void> {
    const status = (await this.read(4)).toString("latin1");
    if (status === "OKAY") return;
    if (status !== "FAIL") throw new AdbError("broken", `this is no adb server: it answered ${JSON.stringify(status)}`);
    throw new AdbError("refused", (await this.text()).trim());
  }

  /** Reads a text with its length in front. */
  async text(): Promise<string> {
    const digits = (await this.read(LENGTH_DIGITS)).toString("latin1");
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw new AdbError("broken", "the adb server sent a length that is none");
    return (await this.read(Number.parseInt(digits, 16))).toString("utf8");
  }

  write(bytes: Buffer): void {
    if (!this.#socket.destroyed) this.#socket.write(bytes);
  }

  /** Exactly `count` bytes. */
  async read(count: number): Promise<Buffer> {
    if (count === 0) return Buffer.alloc(0);
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      const bytes: unknown = this.#socket.read(count);
      // At its end a stream gives what is left, which may be less.
      if (Buffer.isBuffer(bytes) && bytes.length === count) return bytes;
      if (this.#ended || bytes !== null) throw new AdbError("broken", "the adb server closed the connection");
      await this.#change();
    }
  }

  /** What has come, at most `limit` bytes; undefined at the end. */
  async some(limit: number): Promise<Buffer | undefined> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      const bytes: unknown = this.#socket.read(Math.min(limit, this.#socket.readableLength) || undefined);
      if (Buffer.isBuffer(bytes)) return bytes;
      if (this.#ended) return undefined;
      await this.#change();
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  async #change(): Promise<void> {
    if (this.#signal.aborted) throw this.#failure ?? new AdbError("timeout", "the adb server did not answer in time");
    await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#wake = undefined;
  }
}
