import type { Sight } from "./sight.ts";

/** For how many readings a device that has gone slows the next ones down. */
const MISSED_READINGS = 3;

/**
 * Readings that miss a device are told a poll apart: several of them are taken for its loss, so they must be several looks at it and not one
 * look told several times while its neighbours change.
 */
export class MissedReadings {
  readonly #spaceMs: number;
  /** How many readings in a row have missed each device that was there. */
  readonly #counts = new Map<string, number>();
  #lastAt = -Infinity;

  constructor(spaceMs: number) {
    this.#spaceMs = spaceMs;
  }

  waitMs(sights: readonly Sight[]): number {
    const there = idsOf(sights);
    const misses = [...this.#counts.keys()].some((id) => !there.has(id));
    return misses ? this.#lastAt + this.#spaceMs - performance.now() : 0;
  }

  told(sights: readonly Sight[]): void {
    const there = idsOf(sights);
    for (const id of there) this.#counts.set(id, 0);
    for (const [id, count] of this.#counts) {
      if (there.has(id)) continue;
      this.#lastAt = performance.now();
      if (count + 1 >= MISSED_READINGS) this.#counts.delete(id);
      else this.#counts.set(id, count + 1);
    }
  }
}

function idsOf(sights: readonly Sight[]): ReadonlySet<string> {
  return new Set(sights.flatMap(({ identity, silent }) => (identity === undefined || silent ? [] : [identity.id])));
}
