import type { LeaseGrant } from "../contract/index.ts";
import type { Context } from "./context.ts";

/** What a process needs to work with a lease: the platform's own variables, and ours, so that `simlock run` in it finds the same lease and home. */
export function leaseEnvironment(context: Context, grant: LeaseGrant): Record<string, string> {
  return {
    ...grant.environment,
    SIMLOCK_LEASE: grant.lease.id,
    SIMLOCK_AGENT_ID: context.principal,
    SIMLOCK_HOME: context.home.path,
    SIMLOCK_VIRTUAL: context.home.virtual ? "1" : "0",
  };
}
