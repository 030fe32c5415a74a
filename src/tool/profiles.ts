import { ToolFailure } from "./failure.ts";
import { policyWhere, type Policy } from "./policy.ts";
import type { Facts, Tool } from "./tool.ts";

export const POLICY_PROFILES = ["readonly", "safe-writes", "no-commerce", "full"] as const;
export type PolicyProfile = (typeof POLICY_PROFILES)[number];
export const DEFAULT_PROFILE: PolicyProfile = "no-commerce";

const only = (facts: Facts, ...effects: readonly string[]): boolean =>
  facts.effects.every((effect) => effects.includes(effect));

/**
 * Profiles are rules over what operations do, never lists of names, so that a new operation is open only where its effects say so.
 *
 * - `readonly`: reads alone, and of those none that reveals a secret or makes anybody dial a host of the caller's choice.
 * - `safe-writes`: nothing that costs, destroys, reveals or dials; so no task runs and no flows that would run them.
 * - `no-commerce`: no buying and no ending of what is paid for. Task runs cost credits and stay open.
 * - `full`: all that is classified.
 */
const RULES: Readonly<Record<PolicyProfile, (facts: Facts) => boolean>> = {
  readonly: (facts) => only(facts, "read") && facts.reveals !== true && facts.dials !== true,
  "safe-writes": (facts) =>
    only(facts, "read", "write") && facts.reveals !== true && facts.dials !== true && facts.billed !== true,
  "no-commerce": (facts) => !facts.effects.includes("commerce"),
  full: () => true,
};

/** @throws {ToolFailure} `invalid_input` where there is no such profile */
export function policyForProfile(
  profile: PolicyProfile,
  tools: readonly Pick<Tool, "name" | "effects" | "operations">[],
): Policy {
  if (!Object.hasOwn(RULES, profile)) {
    throw new ToolFailure("invalid_input", `There is no profile "${profile}", but ${POLICY_PROFILES.join(", ")}.`);
  }
  return policyWhere(tools, RULES[profile]);
}
