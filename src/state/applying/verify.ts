import { seeing } from "../planning/seen.ts";
import type { FieldVerdict, Snapshot } from "../types.ts";
import type { CheckedPlan } from "./check.ts";

/** A verdict on each field that the plan was about, by a fresh read; unknown where there is none or it does not tell. Events leave nothing to look at. */
export function verdictsOf({ plan, steps }: CheckedPlan, snapshot: Snapshot | undefined): readonly FieldVerdict[] {
  const seen = snapshot === undefined ? undefined : seeing(snapshot);
  // The last operation on a field decides: the power changes several times.
  const acts = new Map(steps.flatMap(({ act }) => (act.path === undefined ? [] : [[act.path, act] as const])));
  return plan.diff.map(({ path, kind }): FieldVerdict => {
    if (kind === "unsupported") return { path, verdict: "unsupported" };
    const act = acts.get(path);
    if (act === undefined) return { path, verdict: "different", note: "Nothing was planned for it." };
    if (act.event === true) return { path, verdict: "unknown", note: "It leaves nothing that could be read." };
    const fact = seen === undefined ? undefined : act.fact(seen);
    if (fact === undefined) return { path, verdict: "unknown" };
    const holds = act.arguments["always"] === true ? fact === "present" : act.holds(fact);
    return { path, verdict: holds ? "satisfied" : "different" };
  });
}
