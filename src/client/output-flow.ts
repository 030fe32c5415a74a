import { INITIAL_OUTPUT_CREDIT, MAX_FRAME_BYTES, SimlockError, type OutputStream } from "../contract/index.ts";

/** Credit goes back in portions of this many characters, so that small chunks do not cost a frame each. */
const CREDIT_PORTION = INITIAL_OUTPUT_CREDIT / 4;
/** What a daemon may have sent beyond its credit, at most: one frame that was under way. More is a daemon that knows no credit. */
const OVERDRAFT = MAX_FRAME_BYTES;

export type OnOutput = (stream: OutputStream, chunk: string) => void | Promise<void>;

export interface OutputFlowPorts {
  readonly onOutput: OnOutput | undefined;
  readonly credit: (characters: number) => void;
  /** The consumer threw, or the daemon overdrew: the command is to be ended. */
  readonly stop: (why: unknown) => void;
}

/**
 * Hands a command's output to its consumer, chunk by chunk, in order, never two at once, and gives the daemon credit for what was consumed.
 * What waits here is bounded by the credit.
 */
export class OutputFlow {
  readonly #ports: OutputFlowPorts;
  readonly #waiting: { readonly stream: OutputStream; readonly chunk: string }[] = [];
  #characters = 0;
  #owed = 0;
  #delivering = false;
  #discarding = false;
  #drained: (() => void) | undefined;

  constructor(ports: OutputFlowPorts) {
    this.#ports = ports;
  }

  push(stream: OutputStream, chunk: string): void {
    if (this.#discarding || this.#ports.onOutput === undefined) {
      this.#consumed(chunk);
      return;
    }
    this.#characters += chunk.length;
    if (this.#characters > INITIAL_OUTPUT_CREDIT + OVERDRAFT) {
      this.#ports.stop(
        new SimlockError("UNKNOWN_DAEMON_ERROR", "The daemon sent more of a command's output than it was asked for."),
      );
      return;
    }
    this.#waiting.push({ stream, chunk });
    if (!this.#delivering) void this.#deliver(this.#ports.onOutput);
  }

  /** Settles when the consumer has had everything, at once after `discard`. */
  async drained(): Promise<void> {
    if (!this.#delivering || this.#discarding) return;
    await new Promise<void>((resolve) => (this.#drained = resolve));
  }

  /** Drops what waits and what still comes: nobody reads any more, and a command that is being ended must not wait for a reader. */
  discard(): void {
    this.#discarding = true;
    for (const { chunk } of this.#waiting.splice(0)) this.#consumed(chunk);
    this.#drained?.();
  }

  async #deliver(onOutput: OnOutput): Promise<void> {
    this.#delivering = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      try {
        // Most consumers are synchronous: they are not made to wait a turn for each chunk.
        const pending = onOutput(next.stream, next.chunk);
        if (pending !== undefined) await pending;
      } catch (error) {
        if (!this.#discarding) this.#ports.stop(error);
      }
      this.#characters -= next.chunk.length;
      this.#consumed(next.chunk);
    }
    this.#delivering = false;
    this.#drained?.();
  }

  #consumed(chunk: string): void {
    this.#owed += chunk.length;
    if (this.#owed < CREDIT_PORTION) return;
    this.#ports.credit(this.#owed);
    this.#owed = 0;
  }
}
