import type { DiffEntry, InventoryDevice, JsonValue, Plan } from "../types.ts";
import { digestOf } from "./canonical.ts";

interface Facts {
  readonly device: InventoryDevice | undefined;
  readonly power: "booted" | "shutdown" | "unsettled";
  readonly diff: readonly DiffEntry[];
  readonly erased: boolean;
}

/**
 * Names what a plan rests on: which device, its power, and what it had in each field that the plan changes, unknown where it was. What was satisfied
 * already is not in it: that it changed since does no harm to the rest of the plan. Before an erase nothing but the power counts.
 */
export function plannedFacts(facts: Facts): string {
  return factsDigest(facts, (entry) => entry.current);
}

/** The same with what `currentOf` finds now. A field that was unknown then stays so: that it is known now is no change. */
export function factsDigest(
  { device, power, diff, erased }: Facts,
  currentOf: (entry: DiffEntry) => JsonValue | undefined,
): string {
  return digestOf({
    device: device === undefined ? null : [device.udid, device.name, device.runtimeIdentifier],
    power,
    fields: erased
      ? []
      : diff.map((entry) => (entry.current === undefined ? [entry.path] : [entry.path, currentOf(entry) ?? "unknown"])),
  });
}

/** Names the plan by its content; when it was made does not count. */
export function planDigest(plan: Omit<Plan, "digest">): string {
  return digestOf({ ...plan, generatedAt: undefined, digest: undefined });
}
