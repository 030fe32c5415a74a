import type { DiffEntry } from "../types.ts";

/** What stands for a secret wherever one is shown. */
export const MASK = "[redacted]";

export function maskedEntry(entry: DiffEntry): DiffEntry {
  if (entry.sensitive !== true) return entry;
  return {
    ...entry,
    ...(entry.current === undefined || entry.current === null ? {} : { current: MASK }),
    ...(entry.desired === undefined || entry.desired === null ? {} : { desired: MASK }),
  };
}
