import { write, type Io } from "../io.ts";
import { paintFor, type Paint } from "../render/paint.ts";

/** Tells what happens while it happens, and how long it took. */
export class Story {
  readonly #io: Io;
  readonly #paint: Paint;
  readonly #begun = performance.now();
  #number = 0;

  constructor(io: Io) {
    this.#io = io;
    this.#paint = paintFor(io.stdout, io.env);
  }

  async line(text = ""): Promise<void> {
    await write(this.#io.stdout, `${text}\n`);
  }

  async title(text: string): Promise<void> {
    await this.line(this.#paint("bold", text));
  }

  /** A step: what is done, then what came of it and how long it took. */
  async step<T>(what: string, work: () => Promise<T>, came: (result: T) => string): Promise<T> {
    this.#number += 1;
    await this.line(`\n${this.#paint("cyan", `${this.#number}.`)} ${what}`);
    const from = performance.now();
    const result = await work();
    const took = `(${((performance.now() - from) / 1000).toFixed(1)} s)`;
    await this.line(`   ${this.#paint("green", "✓")} ${came(result)} ${this.#paint("gray", took)}`);
    return result;
  }

  async detail(text: string): Promise<void> {
    await this.line(`     ${this.#paint("gray", text)}`);
  }

  get seconds(): string {
    return ((performance.now() - this.#begun) / 1000).toFixed(1);
  }
}
