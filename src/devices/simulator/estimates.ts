import type { Estimates } from "../driver.ts";

/** Measured once on Apple hardware: a create, a boot under load, an erase. In milliseconds. */
const FIRST: Estimates = { provisionMs: 500, bootMs: 60_000, reclaimMs: 34_000 };

const WEIGHT = 0.25;
const FLOOR_MS = 100;
const CEILING_MS = 10 * 60_000;

interface Measured {
  readonly mean: number;
  readonly deviation: number;
}

export type Step = keyof Estimates;

/** How long each step takes here: a moving average of what was measured, from the first value on. */
export class MeasuredEstimates {
  readonly #measured = new Map<Step, Measured>();

  took(step: Step, ms: number): void {
    const before = this.#measured.get(step);
    if (before === undefined) {
      this.#measured.set(step, { mean: ms, deviation: ms / 2 });
      return;
    }
    const off = ms - before.mean;
    this.#measured.set(step, {
      mean: before.mean + WEIGHT * off,
      deviation: before.deviation + WEIGHT * (Math.abs(off) - before.deviation),
    });
  }

  /** The average and its spread: what counts as stalled is derived from it, so the slow half must lie within. */
  get(): Estimates {
    return { provisionMs: this.#of("provisionMs"), bootMs: this.#of("bootMs"), reclaimMs: this.#of("reclaimMs") };
  }

  #of(step: Step): number {
    const measured = this.#measured.get(step);
    const estimate = measured === undefined ? FIRST[step] : measured.mean + measured.deviation;
    return Math.round(Math.min(CEILING_MS, Math.max(FLOOR_MS, estimate)));
  }
}
