import type { endpoints } from "../../../cloud/index.ts";
import type { Account } from "../account.ts";
import type { Handlers } from "../handler.ts";
import { contains, paged, sorted } from "../paging.ts";
import { Problem } from "../problem.ts";
import type { Execution, Workflows } from "../workflow.ts";
import { without } from "../without.ts";

const STATUSES = ["pending", "running", "success", "failed", "cancelled", "skipped", "invalid"] as const;

interface Range {
  readonly flowId?: string | undefined;
  readonly triggerId?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export function executionHandlers(account: Account, workflows: Workflows): Handlers<typeof endpoints.executions> {
  const shown = ({ flow, trigger, steps, ...rest }: Execution) => ({
    ...without(rest, "startedMs", "durationMs", "deviceId"),
    flowId: flow.id,
    flowName: flow.name,
    triggerId: trigger.id,
    triggerName: trigger.name,
    kind: "live",
    result: { steps },
    createdBy: account.owner.createdBy,
  });
  const within = (range: Range) =>
    workflows.executions.filter(
      ({ flow, trigger, startedAt }) =>
        (range.flowId === undefined || flow.id === range.flowId) &&
        (range.triggerId === undefined || trigger.id === range.triggerId) &&
        (range.from === undefined || startedAt >= range.from) &&
        (range.to === undefined || startedAt <= range.to),
    );

  return {
    list({ query }) {
      const found = within(query).filter(
        ({ status, flow }) =>
          (query.status === undefined || status === query.status) && contains(flow.name, query.search),
      );
      return paged(sorted(found, query.orderBy, query.orderByDirection).map(shown), query);
    },
    metrics({ query }) {
      const found = within(query);
      const durations = found.flatMap(({ durationMs }) => durationMs ?? []);
      const sum = durations.reduce((total, one) => total + one, 0);
      const counts = STATUSES.map((status) => [status, found.filter((one) => one.status === status).length] as const);
      return {
        data: {
          total: found.length,
          avgDurationMs: durations.length === 0 ? null : Math.round(sum / durations.length),
          lastExecutionAt: found.at(-1)?.startedAt ?? null,
          byStatus: Object.fromEntries(counts),
        },
      };
    },
    get: ({ path }) => ({ data: { ...shown(workflows.execution(path.executionId)), files: [] } }),
    abort({ path }) {
      const execution = workflows.execution(path.executionId);
      if (execution.finishedAt !== null) throw new Problem(409, `Execution ${execution.id} has ended`);
      workflows.finish(execution, "cancelled", null);
      return { data: shown(execution) };
    },
  };
}
