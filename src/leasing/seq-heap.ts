/** Items by rising number, each at most once. What has become invalid is dropped when it comes to the top. */
export class SeqHeap<T> {
  readonly #items: { readonly seq: number; readonly item: T }[] = [];
  readonly #inside = new Set<T>();

  push(seq: number, item: T): void {
    if (this.#inside.has(item)) return;
    this.#inside.add(item);
    const items = this.#items;
    let at = items.push({ seq, item }) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#swapIfAfter(parent, at)) break;
      at = parent;
    }
  }

  /** The lowest item that is still valid. It stays inside. */
  peek(valid: (item: T) => boolean): { readonly seq: number; readonly item: T } | undefined {
    for (;;) {
      const top = this.#items[0];
      if (top === undefined || valid(top.item)) return top;
      this.#removeTop(top.item);
    }
  }

  get size(): number {
    return this.#items.length;
  }

  #removeTop(item: T): void {
    this.#inside.delete(item);
    const items = this.#items;
    const last = items.pop();
    if (last === undefined || items.length === 0) return;
    items[0] = last;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      const smaller = this.#seqAt(right) < this.#seqAt(left) ? right : left;
      if (!this.#swapIfAfter(at, smaller)) return;
      at = smaller;
    }
  }

  #seqAt(at: number): number {
    return this.#items[at]?.seq ?? Infinity;
  }

  /** Puts the two in order, the lower number at `upper`. False when they were. */
  #swapIfAfter(upper: number, lower: number): boolean {
    const a = this.#items[upper];
    const b = this.#items[lower];
    if (a === undefined || b === undefined || a.seq <= b.seq) return false;
    this.#items[upper] = b;
    this.#items[lower] = a;
    return true;
  }
}
