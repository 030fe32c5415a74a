/** One line of the table: a figure against a floor that was measured in the same run. */
export interface Figure {
  readonly name: string;
  readonly floor: string;
  readonly value: string;
  readonly ratio: string;
  readonly goal: string;
  readonly met: boolean;
}

export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const ms = (value: number): string =>
  value < 1 ? `${(value * 1000).toFixed(0)} µs` : `${value.toFixed(value < 10 ? 2 : 0)} ms`;

export const times = (value: number): string => `${value.toFixed(2)}×`;

/** A time as a multiple of its floor, at most `goal`. */
export function atMost(name: string, floorName: string, floor: number, value: number, goal: number): Figure {
  const ratio = value / floor;
  return {
    name,
    floor: `${floorName}: ${ms(floor)}`,
    value: ms(value),
    ratio: times(ratio),
    goal: `≤ ${goal}×`,
    met: ratio <= goal,
  };
}

/** How long each call takes, in milliseconds, after some that warm up. */
export async function sample(count: number, warmUp: number, call: () => Promise<unknown> | unknown): Promise<number[]> {
  for (let at = 0; at < warmUp; at += 1) await call();
  const samples: number[] = [];
  for (let at = 0; at < count; at += 1) {
    const started = performance.now();
    await call();
    samples.push(performance.now() - started);
  }
  return samples;
}

export function printTable(figures: readonly Figure[]): void {
  const rows = [
    ["figure", "measured", "floor in the same run", "ratio", "goal", ""],
    ...figures.map(({ name, value, floor, ratio, goal, met }) => [
      name,
      value,
      floor,
      ratio,
      goal,
      met ? "met" : "MISSED",
    ]),
  ];
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? [];
  for (const row of rows)
    console.log(
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    );
}
