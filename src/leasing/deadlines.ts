import { SeqHeap } from "./seq-heap.ts";

/** When what is due, on the monotonic clock. One entry a key; setting it again moves it. */
export class Deadlines {
  readonly #at = new Map<string, { readonly due: number }>();
  #heap = new SeqHeap<{ readonly key: string; readonly due: number }>();

  set(key: string, due: number): void {
    if (this.#at.get(key)?.due === due) return;
    const entry = { key, due };
    this.#at.set(key, entry);
    this.#heap.push(due, entry);
    // A renewed lease leaves its old entry behind until that comes due: rebuild before they outnumber the living.
    if (this.#heap.size > 64 + 4 * this.#at.size) this.#rebuild();
  }

  delete(key: string): void {
    this.#at.delete(key);
  }

  get(key: string): number | undefined {
    return this.#at.get(key)?.due;
  }

  next(): number | undefined {
    return this.#top()?.due;
  }

  /** Takes out one key that is due, the earliest first. */
  takeDue(now: number): string | undefined {
    const top = this.#top();
    if (top === undefined || top.due > now) return undefined;
    this.#at.delete(top.key);
    return top.key;
  }

  #top(): { readonly key: string; readonly due: number } | undefined {
    return this.#heap.peek((entry) => this.#at.get(entry.key) === entry)?.item;
  }

  #rebuild(): void {
    this.#heap = new SeqHeap();
    for (const [key, { due }] of this.#at) {
      const entry = { key, due };
      this.#at.set(key, entry);
      this.#heap.push(due, entry);
    }
  }
}
