import type { Readable } from "node:stream";

/** A pipe that is being read to its end, as fast as what it brings is taken. */
export class Drain {
  readonly closed: Promise<void>;
  readonly #stream: Readable;
  #lastAt = performance.now();
  #held = false;

  /** `take` may return a promise: until it settles, the pipe is held back. One that fails is not asked again; the pipe is drained on. */
  constructor(stream: Readable, take: (chunk: Buffer) => void | Promise<void>) {
    this.#stream = stream;
    this.closed = new Promise((resolve) => stream.once("close", resolve));
    let wanted = true;
    const refused = (): void => {
      wanted = false;
    };
    stream.on("error", () => undefined);
    stream.on("data", (chunk: Buffer) => {
      this.#lastAt = performance.now();
      if (!wanted) return;
      const pending = taken(take, chunk, refused);
      if (pending === undefined) return;
      this.#held = true;
      stream.pause();
      void pending.then(undefined, refused).finally(() => {
        this.#held = false;
        this.#lastAt = performance.now();
        stream.resume();
      });
    });
  }

  /** Whether the reader holds it back. */
  get held(): boolean {
    return this.#held;
  }

  /** When it last brought something or was let go on, on the clock of `performance.now()`. */
  get lastAt(): number {
    return this.#lastAt;
  }

  /** Reads no further, whoever still holds the other end. */
  cut(): void {
    this.#stream.destroy();
  }
}

function taken(
  take: (chunk: Buffer) => void | Promise<void>,
  chunk: Buffer,
  refused: () => void,
): Promise<void> | undefined {
  try {
    return take(chunk) ?? undefined;
  } catch {
    refused();
    return undefined;
  }
}
