import type { Readable } from "node:stream";

type Take = (chunk: Buffer) => void | Promise<void>;

/** A pipe that is being read to its end, as fast as what it brings is taken. */
export class Drain {
  /** It has brought all it will, and that was taken. */
  readonly closed: Promise<void>;
  readonly #stream: Readable;
  readonly #take: Take;
  /** Node lets a child's pipes go on when the child exits, paused or not: what comes then waits here, a pipe's worth at most. */
  readonly #waiting: Buffer[] = [];
  #pending: Promise<void> | undefined;
  #wanted = true;
  #lastAt = performance.now();

  /** `take` may return a promise: until it settles, the pipe is held back. One that fails is not asked again; the pipe is drained on. */
  constructor(stream: Readable, take: Take) {
    this.#stream = stream;
    this.#take = take;
    stream.on("error", () => undefined);
    stream.on("data", (chunk: Buffer) => this.#arrived(chunk));
    // A stream that was paused at its last chunk ends all the same: that chunk may still be on its way.
    this.closed = new Promise<void>((resolve) => stream.once("close", resolve)).then(() => this.#pending);
  }

  /** Whether the reader holds it back. */
  get held(): boolean {
    return this.#pending !== undefined;
  }

  /** When it last brought something or was let go on, on the clock of `performance.now()`. */
  get lastAt(): number {
    return this.#lastAt;
  }

  /** Reads no further, whoever still holds the other end. */
  cut(): void {
    this.#stream.destroy();
  }

  #arrived(chunk: Buffer): void {
    this.#lastAt = performance.now();
    if (this.#pending !== undefined) {
      this.#waiting.push(chunk);
      this.#stream.pause();
      return;
    }
    const taken = this.#offer(chunk);
    if (taken === undefined) return;
    this.#stream.pause();
    this.#pending = this.#goOn(taken);
  }

  async #goOn(taken: Promise<void>): Promise<void> {
    let open: Promise<void> | undefined = taken;
    while (open !== undefined) {
      await open.catch(() => this.#refused());
      const next: Buffer | undefined = this.#waiting.shift();
      open = next === undefined ? undefined : (this.#offer(next) ?? Promise.resolve());
    }
    this.#pending = undefined;
    this.#lastAt = performance.now();
    this.#stream.resume();
  }

  #offer(chunk: Buffer): Promise<void> | undefined {
    if (!this.#wanted) return undefined;
    try {
      return this.#take(chunk) ?? undefined;
    } catch {
      this.#refused();
      return undefined;
    }
  }

  #refused(): void {
    this.#wanted = false;
    this.#waiting.length = 0;
  }
}
