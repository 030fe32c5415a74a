import type { Socket } from "node:net";

/** What may wait here for a daemon that reads slowly, beside what the socket itself holds. */
export const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/**
 * Frames on their way out, in order, no faster than the socket takes them. What waits here has not been sent and can be taken back; what the
 * socket has can't. Nothing waits for longer than the connection lives.
 */
export class Outbox {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, { readonly text: string; readonly bytes: number }>();
  #ticket = 0;
  #bytes = 0;
  #full = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("drain", () => {
      this.#full = false;
      this.#flush();
    });
  }

  /** Whether a frame of this size may be added. */
  takes(bytes: number): boolean {
    return !this.#full || this.#bytes + bytes <= MAX_WAITING_BYTES;
  }

  /** Returns the ticket to take it back with. */
  add(text: string, bytes: number): number {
    this.#ticket += 1;
    this.#waiting.set(this.#ticket, { text, bytes });
    this.#bytes += bytes;
    this.#flush();
    return this.#ticket;
  }

  /** Whether the frame was still here: then it is never sent. */
  takeBack(ticket: number): boolean {
    const frame = this.#waiting.get(ticket);
    if (frame === undefined) return false;
    this.#waiting.delete(ticket);
    this.#bytes -= frame.bytes;
    return true;
  }

  clear(): void {
    this.#waiting.clear();
    this.#bytes = 0;
  }

  #flush(): void {
    for (const [ticket, frame] of this.#waiting) {
      if (this.#full) return;
      this.#waiting.delete(ticket);
      this.#bytes -= frame.bytes;
      // False: the socket's own buffer is full, and says `drain` when it is empty again.
      this.#full = !this.#socket.write(frame.text);
    }
  }
}
