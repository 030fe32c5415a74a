/** The last ids that were put in, at most `limit`: enough to know a repeat, bounded for a process that lives for weeks. */
export class RecentIds {
  readonly #limit: number;
  readonly #ids = new Set<string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Whether it is new. */
  add(id: string): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    if (this.#ids.size > this.#limit) {
      const [oldest] = this.#ids;
      if (oldest !== undefined) this.#ids.delete(oldest);
    }
    return true;
  }
}
