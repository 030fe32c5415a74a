import { z } from "zod";
import {
  anything,
  data,
  flag,
  flagFields,
  number,
  numberFields,
  opaque,
  page,
  stamps,
  text,
  textFields,
  texts,
  type Paging,
  type Within,
} from "./fields.ts";

export const WORKFLOW_SERVICES = ["tasks_api", "devices_api", "agents_api", "webhooks"] as const;
export type WorkflowService = (typeof WORKFLOW_SERVICES)[number];
export const ACTIVATIONS = ["event", "schedule", "custom"] as const;
export type Activation = (typeof ACTIVATIONS)[number];
export const EVENT_SOURCES = ["device", "system", "webhook"] as const;
export type EventSource = (typeof EVENT_SOURCES)[number];
export const EXECUTION_STATUSES = [
  "pending",
  "running",
  "success",
  "failed",
  "cancelled",
  "skipped",
  "invalid",
] as const;
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];

export const CatalogEntry = z.object({
  id: z.string(),
  ...textFields("name", "description", "service", "method"),
  paramsSchema: opaque,
  ...stamps,
});
export const EventType = z.object({
  eventType: z.string(),
  ...textFields("label", "description", "source", "appName", "packageName"),
  /** A JSON Schema on older servers, a list of fields on newer ones. */
  payloadSchema: anything,
});
export type EventType = z.input<typeof EventType>;
export const Action = z.object({
  id: z.string(),
  ...textFields("catalogEntryId", "name", "description", "service", "method"),
  params: opaque,
  paramsSchema: opaque,
  ...stamps,
});
export const Trigger = z.object({
  id: z.string(),
  ...textFields("name", "description", "activation", "eventType", "timezone", "nextFireTime"),
  scheduleRule: z
    .object({
      ...textFields("type", "dateTime", "expression", "rrule"),
      jitter: z.object(numberFields("beforeMinutes", "afterMinutes")).nullish(),
    })
    .nullish(),
  customPayloadSchema: opaque,
  conditions: z.object({ all: z.array(anything).nullish(), any: z.array(anything).nullish() }).nullish(),
  ...stamps,
});
export const Flow = z.object({
  id: z.string(),
  ...textFields("name", "description", "triggerId"),
  deviceIds: texts,
  enabled: flag,
  ...textFields("status", "blockedAt"),
  consecutiveFailures: number,
  cooldownScope: text,
  cooldownSeconds: number,
  ...textFields("lastTriggeredAt", "lastFailureAt", "lastFailureCode"),
  ...flagFields("healthMonitoringEnabled", "selfHealingEnabled"),
  selfHealingMaxAttempts: number,
  ...stamps,
});
export const FlowAction = z.object({
  id: z.string(),
  ...textFields("flowId", "actionId", "nameOverride", "parentFlowActionId", "createdAt"),
  position: number,
  continueOnError: flag,
  overrides: z.object({ params: opaque }).nullish(),
});
export const Execution = z.object({
  id: z.string(),
  ...textFields("flowId", "flowName", "triggerId", "triggerName", "status", "kind", "error", "eventId"),
  ...textFields("startedAt", "finishedAt"),
  result: opaque,
  files: z.array(z.object({ fileId: z.string(), ...textFields("filename", "mimeType"), sizeBytes: number })).nullish(),
});
export const Metrics = z.object({
  ...numberFields("total", "avgDurationMs"),
  lastExecutionAt: text,
  byStatus: z.object(numberFields(...EXECUTION_STATUSES)).nullish(),
});
export const ServiceMethod = z.object({
  method: z.string(),
  params: z
    .array(
      z.object({
        name: z.string(),
        ...textFields("type", "description"),
        required: flag,
        default: anything,
        example: anything,
      }),
    )
    .nullish(),
});
const Gates = z.object({ ...flagFields("enabled", "blocked", "cooldownActive", "deviceAttached"), deviceIds: texts });
const PlannedAction = z.object({
  ...textFields("name", "service", "method"),
  continueOnError: flag,
  params: opaque,
  children: z.array(anything).nullish(),
});
const Validation = z.object({ valid: flag, errors: z.array(z.object(textFields("field", "message"))).nullish() });
export const EventDryRun = z.object({
  validation: Validation.nullish(),
  matchedFlows: z
    .array(
      z.object({
        wouldFire: flag,
        gates: Gates.nullish(),
        actions: z.array(PlannedAction).nullish(),
        flow: Flow.nullish(),
        trigger: Trigger.nullish(),
      }),
    )
    .nullish(),
});
export const FlowDryRun = z.object({
  ...textFields("activation", "nextFireTime"),
  ...flagFields("conditionsPassed", "rateLimited", "wouldFire"),
  gates: Gates.nullish(),
  validation: Validation.nullish(),
  actions: z.array(PlannedAction).nullish(),
});
export const Repair = z.object({
  id: z.string(),
  ...textFields("flowId", "status"),
  ...numberFields("attempt", "maxAttempts"),
  episode: anything,
  verdict: anything,
  ...stamps,
});
export const AppEvent = z.object({
  id: z.string(),
  ...textFields("eventType", "source", "deviceId", "occurredAt", "createdAt"),
  payload: opaque,
});

export const [CatalogPage, EventTypePage, ActionPage, TriggerPage, FlowPage, ExecutionPage, AppEventPage] = [
  page(CatalogEntry),
  page(EventType),
  page(Action),
  page(Trigger),
  page(Flow),
  page(Execution),
  page(AppEvent),
];

/** `position` counts from 1 and is unique among its siblings. */
export const ChildAction = z.strictObject({
  actionId: z.string().min(1),
  position: z.int().positive(),
  continueOnError: z.boolean().optional(),
  nameOverride: z.string().optional(),
  overrides: z
    .strictObject({ params: z.record(z.string(), z.unknown()).optional() })
    .nullable()
    .optional(),
});
export const ActionBinding = ChildAction.extend({ children: z.array(ChildAction).optional() });
export type ActionBinding = z.output<typeof ActionBinding>;

export const ScheduleRule = z.strictObject({
  type: z.enum(["once", "cron", "recurring"]),
  dateTime: z.string().optional().describe("ISO 8601, for once."),
  expression: z.string().optional().describe("A cron expression, for cron."),
  rrule: z.string().optional().describe("An RFC 5545 rule, for recurring."),
  jitter: z
    .strictObject({
      beforeMinutes: z.int().min(0).max(1440).optional(),
      afterMinutes: z.int().min(0).max(1440).optional(),
    })
    .optional(),
});

type Of<T extends z.ZodType> = Promise<z.input<T>>;
type DataOf<T extends z.ZodType> = Promise<z.input<ReturnType<typeof data<T>>>>;
type Json = Record<string, unknown>;

export interface NewTrigger {
  readonly name: string;
  readonly activation: Activation;
  readonly eventType?: string | undefined;
  readonly scheduleRule?: z.output<typeof ScheduleRule> | undefined;
  readonly customPayloadSchema?: Json | undefined;
  readonly timezone?: string | undefined;
  readonly description?: string | undefined;
  readonly conditions?: { all?: unknown[] | undefined; any?: unknown[] | undefined } | undefined;
}
export interface NewFlow {
  readonly name: string;
  readonly triggerId: string;
  readonly actions: ActionBinding[];
  readonly deviceIds: string[];
  readonly description?: string | undefined;
  readonly cooldownSeconds?: number | undefined;
  readonly cooldownScope?: "flow" | "device" | undefined;
}
export interface FlowChange {
  readonly flowId: string;
  readonly name?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly deviceIds?: string[] | undefined;
}
export interface MetricsFilter {
  readonly flowId?: string | undefined;
  readonly triggerId?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export interface WorkflowsBackend {
  listActionCatalog(
    filter: Paging & { service?: WorkflowService | undefined },
    within?: Within,
  ): Of<typeof CatalogPage>;
  getActionCatalogEntry(id: string, within?: Within): DataOf<typeof CatalogEntry>;
  listAppEventCatalog(filter: Paging & { source?: EventSource | undefined }, within?: Within): Of<typeof EventTypePage>;
  listActions(
    filter: Paging & { service?: WorkflowService | undefined; search?: string | undefined },
    within?: Within,
  ): Of<typeof ActionPage>;
  getAction(id: string, within?: Within): DataOf<typeof Action>;
  createAction(
    action: {
      catalogEntryId: string;
      name: string;
      description?: string | undefined;
      params?: Json | undefined;
    },
    within?: Within,
  ): DataOf<typeof Action>;
  listTriggers(
    filter: Paging & {
      activation?: Activation | undefined;
      eventType?: string | undefined;
      search?: string | undefined;
    },
    within?: Within,
  ): Of<typeof TriggerPage>;
  getTrigger(id: string, within?: Within): DataOf<typeof Trigger>;
  createTrigger(trigger: NewTrigger, within?: Within): DataOf<typeof Trigger>;
  listFlows(
    filter: Paging & { enabled?: boolean | undefined; search?: string | undefined; triggerId?: string | undefined },
    within?: Within,
  ): Of<typeof FlowPage>;
  getFlow(id: string, within?: Within): DataOf<typeof Flow>;
  createFlow(flow: NewFlow, within?: Within): DataOf<typeof Flow>;
  updateFlow(change: FlowChange, within?: Within): DataOf<typeof Flow>;
  deleteFlow(flowId: string, within?: Within): Promise<{ message?: string | null | undefined }>;
  cloneFlow(
    flow: { flowId: string; name?: string | undefined; deviceIds?: string[] | undefined },
    within?: Within,
  ): DataOf<typeof Flow>;
  unblockFlow(flowId: string, within?: Within): DataOf<typeof Flow>;
  listFlowActions(flowId: string, within?: Within): Promise<{ items: z.input<typeof FlowAction>[] | null }>;
  addFlowAction(
    binding: ActionBinding & { flowId: string; parentFlowActionId?: string | null | undefined },
    within?: Within,
  ): DataOf<typeof FlowAction>;
  removeFlowAction(
    which: { flowId: string; flowActionId: string },
    within?: Within,
  ): Promise<{ message?: string | null | undefined }>;
  replaceFlowActions(
    all: { flowId: string; actions: ActionBinding[] },
    within?: Within,
  ): Promise<{ items: z.input<typeof FlowAction>[] | null }>;
  dryRunFlow(flowId: string, payload: Json | undefined, within?: Within): DataOf<typeof FlowDryRun>;
  listFlowRepairs(flowId: string, within?: Within): Promise<{ items: z.input<typeof Repair>[] | null }>;
  listExecutions(
    filter: Paging & {
      flowId?: string | undefined;
      triggerId?: string | undefined;
      status?: ExecutionStatus | undefined;
    },
    within?: Within,
  ): Of<typeof ExecutionPage>;
  getExecution(id: string, within?: Within): DataOf<typeof Execution>;
  abortExecution(id: string, within?: Within): DataOf<typeof Execution>;
  getExecutionMetrics(filter: MetricsFilter, within?: Within): DataOf<typeof Metrics>;
  listServices(within?: Within): Promise<{ items: string[] | null }>;
  listServiceMethods(
    service: WorkflowService,
    within?: Within,
  ): Promise<{ items: z.input<typeof ServiceMethod>[] | null }>;
  ingestEvent(event: { eventType: string; payload?: Json | undefined }, within?: Within): Promise<{ eventId: string }>;
  dryRunEvent(event: { eventType: string; payload?: Json | undefined }, within?: Within): DataOf<typeof EventDryRun>;
  registerEventTypes(
    events: {
      eventType: string;
      label: string;
      description?: string | undefined;
      payloadSchema?: Json | undefined;
      source?: EventSource | undefined;
    }[],
    within?: Within,
  ): Promise<{ message?: string | null | undefined }>;
  listAppEvents(
    filter: Paging & { deviceId?: string | undefined; eventType?: string | undefined },
    within?: Within,
  ): Of<typeof AppEventPage>;
}
