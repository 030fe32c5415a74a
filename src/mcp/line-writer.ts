import type { Writable } from "node:stream";
import type { Write } from "./stdout-guard.ts";

/** Writes messages, one JSON object a line, and knows whether the reader keeps up. */
export class LineWriter {
  readonly #stream: Writable;
  readonly #write: Write;
  #behind = false;
  #broken = false;
  #unwritten = 0;
  readonly #waiting: { readonly until: () => boolean; readonly resolve: () => void }[] = [];

  /** `onBroken`: nobody reads any more. */
  constructor(stream: Writable, write: Write, onBroken: () => void) {
    this.#stream = stream;
    this.#write = write;
    stream.on("drain", () => {
      this.#behind = false;
      this.#look();
    });
    const broken = () => {
      this.#broken = true;
      this.#look();
      onBroken();
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
      this.#look();
    });
    if (!ready) this.#behind = true;
  }

  /** When the reader keeps up again, or is gone. */
  caughtUp(): Promise<void> {
    return this.#when(() => !this.#behind);
  }

  /** When all that was written has left the process, or never will. */
  flushed(): Promise<void> {
    return this.#when(() => this.#unwritten === 0);
  }

  #when(until: () => boolean): Promise<void> {
    if (this.#broken || until()) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ until, resolve }));
  }

  #look(): void {
    for (const each of this.#waiting.splice(0)) {
      if (this.#broken || each.until()) each.resolve();
      else this.#waiting.push(each);
    }
  }
}
