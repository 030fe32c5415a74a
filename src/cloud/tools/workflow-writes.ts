import { z } from "zod";
import { data, message } from "../backend/fields.ts";
import {
  ACTIVATIONS,
  Action,
  ActionBinding,
  ChildAction,
  EVENT_SOURCES,
  EventDryRun,
  EventTypePage,
  Execution,
  Flow,
  FlowAction,
  FlowDryRun,
  Metrics,
  Repair,
  ScheduleRule,
  Trigger,
} from "../backend/workflows.ts";
import { sliceFields, sliceOf, sliced } from "./bounds.ts";
import { bundle, single } from "./declare.ts";
import { flag, id, json, page, pageSize, text } from "./inputs.ts";

export const createAction = single({
  name: "create_action",
  title: "Create an action",
  description:
    "Save an action made from an entry of the action catalog (list_workflow_resources resource=action_catalog).",
  input: z.strictObject({
    catalogEntryId: id,
    name: z.string().min(1),
    description: text.optional(),
    // The platform has no such setting: true is refused rather than dropped.
    isAsync: z.literal(false).optional().describe("Deprecated: actions have no such setting. Leave it out."),
    params: json.optional().describe("Parameters, as the catalog entry's paramsSchema says."),
  }),
  answer: data(Action),
  effects: ["write"],
  run: ({ catalogEntryId, name, description, params }, { backend, within }) =>
    backend.workflows.createAction({ catalogEntryId, name, description, params }, within),
});

export const createTrigger = single({
  name: "create_trigger",
  title: "Create a trigger",
  description:
    "Create what starts flows: activation=event with eventType, activation=schedule with scheduleRule (and timezone for cron and recurring), or activation=custom, which is fired by hand.",
  input: z
    .strictObject({
      name: z.string().min(1),
      activation: z.enum(ACTIVATIONS),
      eventType: text.optional().describe("Needed for event."),
      scheduleRule: ScheduleRule.optional().describe("Needed for schedule."),
      customPayloadSchema: json.optional().describe("A JSON Schema, for custom."),
      timezone: text.optional().describe("IANA name; needed for cron and recurring."),
      description: text.optional(),
      conditions: z
        .strictObject({ all: z.array(z.unknown()).optional(), any: z.array(z.unknown()).optional() })
        .optional(),
    })
    .superRefine((trigger, context) => {
      const wrong = wrongTrigger(trigger);
      if (wrong !== undefined) context.addIssue({ code: "custom", message: wrong });
    })
    .meta({
      dependentSchemas: {
        activation: {
          oneOf: [
            activated("event", ["eventType"], ["scheduleRule", "customPayloadSchema"]),
            activated("schedule", ["scheduleRule"], ["eventType", "customPayloadSchema"]),
            activated("custom", [], ["eventType", "scheduleRule"]),
          ],
        },
      },
    }),
  answer: data(Trigger),
  effects: ["write"],
  run: (trigger, { backend, within }) => backend.workflows.createTrigger(trigger, within),
});

function activated(activation: string, needs: readonly string[], refuses: readonly string[]) {
  return {
    properties: {
      activation: { const: activation },
      ...Object.fromEntries(refuses.map((field) => [field, { not: {} }])),
    },
    required: ["activation", ...needs],
  };
}

interface TriggerInput {
  readonly activation: (typeof ACTIVATIONS)[number];
  readonly eventType?: string | undefined;
  readonly scheduleRule?: z.output<typeof ScheduleRule> | undefined;
  readonly customPayloadSchema?: unknown;
  readonly timezone?: string | undefined;
}

const RULE_FIELD = { once: "dateTime", cron: "expression", recurring: "rrule" } as const;

function wrongTrigger(trigger: TriggerInput): string | undefined {
  const { activation, scheduleRule: rule } = trigger;
  const where = `create_trigger activation=${activation}`;
  const belongs = { eventType: "event", scheduleRule: "schedule", customPayloadSchema: "custom" } as const;
  for (const field of ["eventType", "scheduleRule", "customPayloadSchema"] as const) {
    if (trigger[field] !== undefined && belongs[field] !== activation) {
      return `field ${field} is not valid for activation=${activation}; it belongs to activation=${belongs[field]}`;
    }
  }
  if (activation === "event" && trigger.eventType === undefined) return `${where} requires eventType`;
  if (activation !== "schedule") return undefined;
  if (rule === undefined) return `${where} requires scheduleRule`;
  if (rule[RULE_FIELD[rule.type]] === undefined) {
    return `scheduleRule type=${rule.type} requires scheduleRule.${RULE_FIELD[rule.type]}`;
  }
  return rule.type !== "once" && trigger.timezone === undefined
    ? `scheduleRule type=${rule.type} requires timezone`
    : undefined;
}

export const createFlow = single({
  name: "create_flow",
  title: "Create a flow",
  description: "Bind a trigger to actions on devices. From then on the trigger runs them, which can cost credits.",
  input: z.strictObject({
    name: z.string().min(1),
    triggerId: id,
    actions: z.array(z.strictObject({ actionId: id, position: z.int().positive() })).min(1),
    deviceIds: z.array(id).min(1),
    description: text.optional(),
    cooldownSeconds: z.int().min(0).optional(),
    cooldownScope: z.enum(["flow", "device"]).optional(),
  }),
  answer: data(Flow),
  effects: ["write"],
  billed: true,
  run: (flow, { backend, within }) => backend.workflows.createFlow(flow, within),
});

export const manageFlow = bundle(
  {
    name: "manage_flow",
    title: "Manage flows",
    description:
      "Change, copy, test, repair or delete flows and their actions, stop an execution, and read metrics. replace_actions takes the place of all actions there are.",
    by: "operation",
    fields: {
      flowId: id,
      name: z.string().min(1),
      enabled: flag,
      deviceIds: z.array(id),
      actionId: id,
      position: z.int().positive(),
      continueOnError: flag,
      nameOverride: text,
      overrides: z.strictObject({ params: json.optional() }).nullable(),
      parentFlowActionId: id.nullable(),
      children: z.array(ChildAction),
      flowActionId: id,
      actions: z.array(ActionBinding),
      triggerId: id,
      executionId: id,
      payload: json,
      from: text.nullable().describe("ISO 8601."),
      to: text.nullable().describe("ISO 8601."),
      ...sliceFields,
    },
  },
  (operation) => ({
    clone: operation({
      effects: ["write"],
      billed: true,
      anyDevice: true,
      needs: ["flowId"],
      may: ["name", "deviceIds"],
      answer: data(Flow),
      run: ({ flowId, name, deviceIds }, { backend, within }) =>
        backend.workflows.cloneFlow({ flowId, name, deviceIds }, within),
    }),
    unblock: operation({
      effects: ["write"],
      billed: true,
      anyDevice: true,
      needs: ["flowId"],
      answer: data(Flow),
      run: ({ flowId }, { backend, within }) => backend.workflows.unblockFlow(flowId, within),
    }),
    add_action: operation({
      effects: ["write"],
      billed: true,
      anyDevice: true,
      needs: ["flowId", "actionId", "position"],
      may: ["continueOnError", "nameOverride", "overrides", "parentFlowActionId", "children"],
      answer: data(FlowAction),
      run: (
        { flowId, actionId, position, continueOnError, nameOverride, overrides, parentFlowActionId, children },
        { backend, within },
      ) =>
        backend.workflows.addFlowAction(
          { flowId, actionId, position, continueOnError, nameOverride, overrides, parentFlowActionId, children },
          within,
        ),
    }),
    remove_action: operation({
      effects: ["destructive"],
      anyDevice: true,
      needs: ["flowId", "flowActionId"],
      answer: message,
      run: ({ flowId, flowActionId }, { backend, within }) =>
        backend.workflows.removeFlowAction({ flowId, flowActionId }, within),
    }),
    replace_actions: operation({
      effects: ["destructive"],
      billed: true,
      anyDevice: true,
      needs: ["flowId", "actions"],
      answer: z.object({ items: z.array(FlowAction).nullable() }),
      run: ({ flowId, actions }, { backend, within }) =>
        backend.workflows.replaceFlowActions({ flowId, actions }, within),
    }),
    execution_metrics: operation({
      effects: ["read"],
      may: ["flowId", "triggerId", "from", "to"],
      answer: data(Metrics),
      run: ({ flowId, triggerId, from, to }, { backend, within }) =>
        backend.workflows.getExecutionMetrics(
          { flowId, triggerId, from: from ?? undefined, to: to ?? undefined },
          within,
        ),
    }),
    list_actions: operation({
      effects: ["read"],
      needs: ["flowId"],
      may: ["offset", "limit"],
      answer: sliced(FlowAction),
      run: async ({ flowId, offset, limit }, { backend, within }) =>
        sliceOf((await backend.workflows.listFlowActions(flowId, within)).items, { offset, limit }),
    }),
    dry_run: operation({
      effects: ["read"],
      needs: ["flowId"],
      may: ["payload"],
      answer: data(FlowDryRun),
      run: ({ flowId, payload }, { backend, within }) => backend.workflows.dryRunFlow(flowId, payload, within),
    }),
    list_repairs: operation({
      effects: ["read"],
      needs: ["flowId"],
      may: ["offset", "limit"],
      answer: sliced(Repair),
      run: async ({ flowId, offset, limit }, { backend, within }) =>
        sliceOf((await backend.workflows.listFlowRepairs(flowId, within)).items, { offset, limit }),
    }),
    update: operation({
      effects: ["write"],
      billed: true,
      anyDevice: true,
      needs: ["flowId"],
      may: ["name", "enabled", "deviceIds"],
      someOf: ["name", "enabled", "deviceIds"],
      answer: data(Flow),
      run: ({ flowId, name, enabled, deviceIds }, { backend, within }) =>
        backend.workflows.updateFlow({ flowId, name, enabled, deviceIds }, within),
    }),
    delete: operation({
      effects: ["destructive"],
      anyDevice: true,
      needs: ["flowId"],
      answer: message,
      run: ({ flowId }, { backend, within }) => backend.workflows.deleteFlow(flowId, within),
    }),
    abort_execution: operation({
      effects: ["destructive"],
      anyDevice: true,
      needs: ["executionId"],
      answer: data(Execution),
      run: ({ executionId }, { backend, within }) => backend.workflows.abortExecution(executionId, within),
    }),
  }),
);

export const workflowEvents = bundle(
  {
    name: "workflow_events",
    title: "Workflow events",
    description:
      "Send custom events (ingest starts the flows that match; dry_run only says which would start), list event types, and register new ones where the platform still takes them.",
    by: "operation",
    fields: {
      eventType: z.string().min(1),
      payload: json,
      source: z.enum(EVENT_SOURCES),
      page,
      pageSize,
      events: z
        .array(
          z.strictObject({
            eventType: z.string().min(1),
            label: z.string().min(1),
            description: text.optional(),
            payloadSchema: json.optional(),
            source: z.enum(EVENT_SOURCES).optional(),
          }),
        )
        .min(1),
    },
  },
  (operation) => ({
    ingest: operation({
      effects: ["write"],
      billed: true,
      anyDevice: true,
      needs: ["eventType"],
      may: ["payload"],
      answer: z.object({ eventId: z.string() }),
      run: ({ eventType, payload }, { backend, within }) =>
        backend.workflows.ingestEvent({ eventType, payload }, within),
    }),
    dry_run: operation({
      effects: ["read"],
      needs: ["eventType"],
      may: ["payload"],
      answer: data(EventDryRun),
      run: ({ eventType, payload }, { backend, within }) =>
        backend.workflows.dryRunEvent({ eventType, payload }, within),
    }),
    list_event_types: operation({
      effects: ["read"],
      may: ["source", "page", "pageSize"],
      answer: EventTypePage,
      run: ({ source, page, pageSize }, { backend, within }) =>
        backend.workflows.listAppEventCatalog({ source, page, pageSize }, within),
    }),
    register_events: operation({
      effects: ["write"],
      needs: ["events"],
      answer: message,
      run: ({ events }, { backend, within }) => backend.workflows.registerEventTypes(events, within),
    }),
  }),
);
