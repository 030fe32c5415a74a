import type { endpoints } from "../../../cloud/index.ts";
import type { Account } from "../account.ts";
import type { Handlers, Received } from "../handler.ts";
import { contains, paged, sorted } from "../paging.ts";
import { Problem } from "../problem.ts";
import { conditionsPass, payloadErrors } from "../payload.ts";
import { levelOf, open, type Flow, type FlowAction, type Workflows } from "../workflow.ts";
import { without } from "../without.ts";

type Binding = Received<(typeof endpoints.flows)["create"]>["body"]["actions"][number];

export function shownFlow(account: Account, flow: Flow) {
  const { settings, ...rest } = without(flow, "actions", "firedMs");
  const status = flow.blockedAt !== null ? "blocked" : flow.consecutiveFailures > 0 ? "failing" : "healthy";
  return { ...SETTINGS, ...settings, ...rest, status, templateResolutionVersion: 2, ...account.owner };
}

/** A flow's actions as a dry run tells them, children inside their parents. */
export function planned(workflows: Workflows, flow: Flow, parent: string | null = null): readonly object[] {
  return levelOf(flow, parent).map((binding) => {
    const action = workflows.action(binding.actionId);
    return {
      name: binding.nameOverride ?? action.name,
      service: action.service,
      method: action.method,
      continueOnError: binding.continueOnError,
      params: { ...action.params, ...binding.overrides?.params },
      children: planned(workflows, flow, binding.id),
    };
  });
}

export function flowHandlers(account: Account, workflows: Workflows): Handlers<typeof endpoints.flows> {
  const { flows } = workflows;
  const shown = (flow: Flow) => shownFlow(account, flow);
  const shownAction = (flow: Flow, action: FlowAction) => ({ ...action, flowId: flow.id });

  function bound(bindings: readonly Binding[], parent: string | null): FlowAction[] {
    const positions = bindings.map(({ position }) => position);
    if (new Set(positions).size < positions.length) throw new Problem(400, "Two actions have the same position");
    return bindings.flatMap((binding) => {
      workflows.action(binding.actionId);
      const one: FlowAction = {
        id: account.mint("fa"),
        actionId: binding.actionId,
        position: binding.position,
        continueOnError: binding.continueOnError ?? false,
        nameOverride: binding.nameOverride ?? null,
        overrides: binding.overrides ?? null,
        parentFlowActionId: parent,
        createdAt: account.now(),
      };
      return [one, ...bound(binding.children ?? [], one.id)];
    });
  }

  function add(fields: Pick<Flow, "name" | "triggerId"> & Partial<Flow>, settings: Record<string, unknown>): Flow {
    const at = account.now();
    const flow: Flow = {
      description: null,
      deviceIds: [],
      enabled: true,
      cooldownScope: "flow",
      cooldownSeconds: null,
      actions: [],
      ...fields,
      id: account.mint("flw"),
      blockedAt: null,
      consecutiveFailures: 0,
      lastTriggeredAt: null,
      lastFailureAt: null,
      lastFailureCode: null,
      firedMs: new Map(),
      createdAt: at,
      updatedAt: at,
      settings,
    };
    flows.set(flow.id, flow);
    return flow;
  }

  return {
    list({ query }) {
      const found = [...flows.values()].filter(
        (flow) =>
          (query.enabled === undefined || flow.enabled === query.enabled) &&
          (query.triggerId === undefined || flow.triggerId === query.triggerId) &&
          contains(flow.name, query.search),
      );
      const all = sorted(found, query.orderBy, query.orderByDirection).map(shown);
      return paged(
        all.filter(({ status }) => query.status === undefined || query.status.some((wanted) => wanted === status)),
        query,
      );
    },
    get: ({ path }) => ({ data: shown(workflows.flow(path.flowId)) }),
    create({ body }) {
      const { name, triggerId, actions, deviceIds, description, enabled, cooldownSeconds, cooldownScope, ...settings } =
        body;
      workflows.trigger(triggerId);
      const fields = given({ deviceIds, description, enabled, cooldownSeconds, cooldownScope });
      return { data: shown(add({ name, triggerId, ...fields, actions: bound(actions, null) }, given(settings))) };
    },
    update({ path, body }) {
      const flow = workflows.flow(path.flowId);
      const { name, triggerId, deviceIds, description, enabled, cooldownSeconds, cooldownScope, ...settings } = body;
      if (triggerId !== undefined) workflows.trigger(triggerId);
      Object.assign(flow, given({ name, triggerId, deviceIds, description, enabled, cooldownSeconds, cooldownScope }));
      Object.assign(flow.settings, given(settings));
      flow.updatedAt = account.now();
      return { data: shown(flow) };
    },
    remove({ path }) {
      flows.delete(workflows.flow(path.flowId).id);
      return { message: "deleted" };
    },
    clone({ path, body }) {
      const flow = workflows.flow(path.flowId);
      const ids = new Map(flow.actions.map(({ id }) => [id, account.mint("fa")] as const));
      const actions = flow.actions.map((one) => ({
        ...one,
        id: ids.get(one.id) ?? one.id,
        parentFlowActionId: ids.get(one.parentFlowActionId ?? "") ?? null,
      }));
      const { name = `${flow.name} (copy)`, deviceIds = flow.deviceIds } = body;
      const fields = { ...flow, name, deviceIds, actions };
      return { data: shown(add(fields, { ...flow.settings })) };
    },
    unblock({ path }) {
      const flow = workflows.flow(path.flowId);
      flow.blockedAt = null;
      flow.consecutiveFailures = 0;
      return { data: shown(flow) };
    },
    dryRun({ path, body }) {
      const flow = workflows.flow(path.flowId);
      const trigger = workflows.trigger(flow.triggerId);
      const payload = body.payload ?? {};
      const gates = workflows.gates(flow, undefined);
      const errors = payloadErrors(trigger.customPayloadSchema, payload);
      const conditionsPassed = conditionsPass(trigger.conditions, payload);
      const wouldFire = open(gates) && conditionsPassed && errors.length === 0;
      return {
        data: {
          activation: trigger.activation,
          conditionsPassed,
          gates,
          nextFireTime: trigger.nextFireTime,
          rateLimited: false,
          validation: { valid: errors.length === 0, errors },
          wouldFire,
          actions: planned(workflows, flow),
        },
      };
    },
    repairs({ path }) {
      workflows.flow(path.flowId);
      return { data: [] };
    },
    actions({ path }) {
      const flow = workflows.flow(path.flowId);
      return { data: flow.actions.map((action) => shownAction(flow, action)) };
    },
    addAction({ path, body }) {
      const flow = workflows.flow(path.flowId);
      const parent = body.parentFlowActionId ?? null;
      const siblings = flow.actions.filter(({ parentFlowActionId }) => parentFlowActionId === parent);
      if (siblings.some(({ position }) => position === body.position)) throw new Problem(409, "The position is taken");
      if (parent !== null && !flow.actions.some(({ id }) => id === parent))
        throw new Problem(404, `No flow action ${parent}`);
      const added = bound([body], parent);
      flow.actions = [...flow.actions, ...added];
      const [first] = added;
      return { data: first === undefined ? null : shownAction(flow, first) };
    },
    replaceActions({ path, body }) {
      const flow = workflows.flow(path.flowId);
      if (body.actions.length === 0) throw new Problem(400, "A flow needs an action");
      flow.actions = bound(body.actions, null);
      return { data: flow.actions.map((action) => shownAction(flow, action)) };
    },
    removeAction({ path }) {
      const flow = workflows.flow(path.flowId);
      const kept = flow.actions.filter(
        ({ id, parentFlowActionId: parent }) => id !== path.flowActionId && parent !== path.flowActionId,
      );
      if (kept.length === flow.actions.length) throw new Problem(404, `No flow action ${path.flowActionId}`);
      if (kept.length === 0) throw new Problem(400, "A flow needs an action");
      flow.actions = kept;
      return { message: "removed" };
    },
  };
}

const SETTINGS = {
  notifyOnFailure: true,
  notifyOnSuccess: false,
  notifyWebhookId: null,
  healthMonitoringEnabled: true,
  selfHealingEnabled: false,
  selfHealingMaxAttempts: 3,
};

/** What was said; fields that were left out are left out. */
function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
