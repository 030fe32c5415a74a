import { INITIAL_OUTPUT_CREDIT, type OutputStream } from "../contract/index.ts";
import type { CallId, Peer } from "./call.ts";
import { MAX_CREDIT_CHARACTERS } from "./limits.ts";

/**
 * A command's output on its way to its caller: no more than the caller has asked for, and no more than its connection can take. While it is held, the
 * command's pipe is not read, and nothing else of the connection waits. A caller that is gone stops nothing: its output is dropped.
 */
export class OutputFlow {
  readonly #peer: Peer;
  readonly #callId: CallId;
  #credit = INITIAL_OUTPUT_CREDIT;
  #ended = false;
  /** Both streams of a command may be held at once. */
  readonly #waiting = new Set<() => void>();
  readonly #forget: () => void;

  constructor(peer: Peer, callId: CallId) {
    this.#peer = peer;
    this.#callId = callId;
    this.#forget = peer.onGone(() => this.#wake());
  }

  /** Hands a chunk on. A promise that is returned settles when more may come. */
  push(stream: OutputStream, chunk: string): void | Promise<void> {
    if (this.#open) {
      this.#credit -= chunk.length;
      this.#peer.push("output", { requestId: this.#callId, stream, chunk });
    }
    if (this.#held) return this.#wait();
  }

  credit(characters: number): void {
    this.#credit = Math.min(this.#credit + characters, MAX_CREDIT_CHARACTERS);
    if (this.#credit > 0) this.#wake();
  }

  /** Holds nothing back any more. */
  end(): void {
    this.#ended = true;
    this.#forget();
    this.#wake();
  }

  get #open(): boolean {
    return !this.#ended && !this.#peer.gone;
  }

  get #held(): boolean {
    return this.#open && (this.#credit <= 0 || this.#peer.room() !== undefined);
  }

  async #wait(): Promise<void> {
    while (this.#held) {
      const room = this.#peer.room();
      const woken = new Promise<void>((done) => this.#waiting.add(done));
      await (room === undefined ? woken : Promise.race([room, woken]));
    }
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const done of waiting) done();
  }
}
