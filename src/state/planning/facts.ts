import type { DiffEntry, InventoryDevice, JsonValue, Plan } from "../types.ts";
import { digestOf } from "./canonical.ts";

interface Facts {
  readonly device: InventoryDevice | undefined;
  readonly power: "booted" | "shutdown" | "unsettled";
  readonly diff: readonly DiffEntry[];
  readonly erased: boolean;
}

/**
 * Names what a plan rests on: which device, its power, and what it was known to have in each field that the plan changes. What was satisfied
 * already is not in it: that it changed since does no harm to the rest of the plan. Before an erase nothing but the power counts.
 */
export function plannedFacts(facts: Facts): string {
  return factsDigest(facts, (entry) => entry.current);
}

/** The same with what `currentOf` finds now. That a field which was unknown then is known now is no change. */
export function factsDigest(
  { device, power, diff, erased }: Facts,
  currentOf: (entry: DiffEntry) => JsonValue | undefined,
): string {
  return digestOf({
    device: device === undefined ? null : [device.udid, device.name, device.runtimeIdentifier],
    power,
    fields: erased
      ? []
      : diff.flatMap((entry) => (entry.current === undefined ? [] : [[entry.path, currentOf(entry) ?? "unknown"]])),
  });
}

/**
 * Names the plan by what it does and what that rests on. When it was made does not count, neither do the words that explain it, and neither does what
 * follows from the rest: an operation's id, target, risk and confirmation are derived anew wherever a plan is taken up.
 */
export function planDigest(plan: Omit<Plan, "digest">): string {
  return digestOf([
    plan.profileName,
    plan.targetUDID,
    plan.factsDigest ?? null,
    plan.warnings,
    plan.operations.map(({ action, arguments: given }) => [action, given]),
    plan.diff.map(({ path, kind, sensitive, current, desired }) => [
      path,
      kind,
      sensitive ?? null,
      current === undefined ? 0 : [current],
      desired === undefined ? 0 : [desired],
    ]),
  ]);
}
