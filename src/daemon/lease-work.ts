import type { LeaseId } from "../contract/index.ts";

/** Work that uses a leased device now. */
export interface Work {
  readonly leaseId: LeaseId;
  /** Settles when nothing of it uses the device any more. */
  readonly over: Promise<void>;
  /** The lease has ended: work that has not begun must not begin. */
  leaseEnded(): void;
  /** The time to end by itself is over. It must be over soon after. */
  end(): void;
}

/**
 * What still uses the devices of leases, whoever runs it. When a lease ends, its work may go on for `drainMs` and is ended then; the device is
 * cleaned only after the last of it.
 */
export class LeaseWork {
  readonly #drainMs: number;
  readonly #byLease = new Map<LeaseId, Set<Work>>();
  readonly #draining = new Map<LeaseId, Promise<void>>();

  constructor(drainMs: number) {
    this.#drainMs = drainMs;
  }

  add(work: Work): void {
    const { leaseId } = work;
    const works = this.#byLease.get(leaseId) ?? new Set();
    this.#byLease.set(leaseId, works);
    works.add(work);
    void work.over.finally(() => {
      works.delete(work);
      if (works.size === 0 && this.#byLease.get(leaseId) === works) this.#byLease.delete(leaseId);
    });
  }

  /** Begins the drain of a lease that has ended, or joins it. Resolves when none of its work is left. */
  async drain(leaseId: LeaseId): Promise<void> {
    const under = this.#draining.get(leaseId);
    if (under !== undefined) return under;
    if (!this.#byLease.has(leaseId)) return;
    const drained = this.#drainOnce(leaseId).finally(() => this.#draining.delete(leaseId));
    this.#draining.set(leaseId, drained);
    return drained;
  }

  /** Ends all work now. */
  async endAll(): Promise<void> {
    const all = [...this.#byLease.values()].flatMap((works) => [...works]);
    for (const work of all) work.end();
    await Promise.all(all.map((work) => work.over));
  }

  async #drainOnce(leaseId: LeaseId): Promise<void> {
    const works = this.#byLease.get(leaseId) ?? new Set<Work>();
    for (const work of works) work.leaseEnded();
    const timer = setTimeout(() => {
      for (const work of works) work.end();
    }, this.#drainMs);
    // What was let in just before the end joins late: until none is left.
    while (works.size > 0) await Promise.all([...works].map((work) => work.over));
    clearTimeout(timer);
  }
}
