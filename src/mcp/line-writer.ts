import type { Writable } from "node:stream";
import type { Write } from "./stdout-guard.ts";

/** Writes messages, one JSON object a line, and knows whether the reader keeps up. */
export class LineWriter {
  readonly #stream: Writable;
  readonly #write: Write;
  #behind = false;
  #broken = false;
  #unwritten = 0;
  #whenWritten: (() => void)[] = [];

  /** `onBroken`: nobody reads any more. `onDrain`: the reader has caught up. */
  constructor(stream: Writable, write: Write, on: { broken: () => void; drain: () => void }) {
    this.#stream = stream;
    this.#write = write;
    stream.on("drain", () => {
      this.#behind = false;
      on.drain();
    });
    const broken = () => {
      this.#broken = true;
      this.#release();
      on.broken();
    };
    stream.on("error", broken);
    stream.on("close", broken);
  }

  /** The reader has not taken what was written: write no more than must be. */
  get behind(): boolean {
    return this.#behind;
  }

  write(message: object): void {
    if (this.#broken || this.#stream.writableEnded) return;
    this.#unwritten += 1;
    const ready = this.#write(`${JSON.stringify(message)}\n`, () => {
      this.#unwritten -= 1;
      if (this.#unwritten === 0) this.#release();
    });
    if (!ready) this.#behind = true;
  }

  /** When all that was written has left the process, or never will. */
  flushed(): Promise<void> {
    if (this.#unwritten === 0 || this.#broken) return Promise.resolve();
    return new Promise((resolve) => this.#whenWritten.push(resolve));
  }

  #release(): void {
    for (const resolve of this.#whenWritten.splice(0)) resolve();
  }
}
