import { Redactor } from "../applying/redact.ts";
import { sameJson } from "../planning/canonical.ts";
import { planDigest } from "../planning/facts.ts";
import type { JsonValue, Plan } from "../types.ts";

const MOST_PLANS = 64;

/** The plans that this process made last, by their digest. */
export class RecentPlans {
  readonly #plans = new Map<string, Plan>();

  add(plan: Plan): void {
    const digest = plan.digest ?? planDigest(plan);
    // The newest stands last.
    this.#plans.delete(digest);
    this.#plans.set(digest, plan);
    const oldest = this.#plans.keys().next();
    if (this.#plans.size > MOST_PLANS && oldest.done !== true) this.#plans.delete(oldest.value);
  }

  get(digest: string): Plan | undefined {
    return this.#plans.get(digest);
  }

  /** The plan that was shown as this one, its secrets masked: what was masked can only be carried out from here. */
  shownAs(given: Readonly<Record<string, unknown>>): Plan | undefined {
    const digest = given["digest"];
    const plan = typeof digest === "string" ? this.get(digest) : undefined;
    return plan !== undefined && sameJson(asJson(shownPlan(plan)), asJson(given)) ? plan : undefined;
  }
}

/** The plan as it is shown, its secrets masked. It keeps its digest, and can't be carried out itself. */
export function shownPlan(plan: Plan): Plan {
  return new Redactor(plan).plan(plan);
}

/** What arrived as JSON, and what would be sent as it. */
function asJson(value: object): JsonValue {
  return structuredClone(value) as JsonValue;
}
