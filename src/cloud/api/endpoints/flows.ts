import { z } from "zod";
import { domain, get, json, patch, post, put, remove } from "../endpoint.ts";
import {
  data,
  direction,
  flag,
  flagFields,
  given,
  list,
  message,
  mine,
  number,
  numberFields,
  opaque,
  optionalFlag,
  optionalText,
  page,
  paging,
  provenance,
  stamps,
  text,
  textFields,
  texts,
} from "../shapes.ts";

export const Flow = z.object({
  id: z.string(),
  ...textFields("name", "description", "triggerId"),
  deviceIds: texts,
  enabled: flag,
  ...textFields("status", "blockedAt"),
  consecutiveFailures: number,
  cooldownScope: text,
  cooldownSeconds: number,
  ...textFields("lastTriggeredAt", "lastFailureAt", "lastFailureCode", "notifyWebhookId"),
  ...flagFields("notifyOnFailure", "notifyOnSuccess", "healthMonitoringEnabled", "selfHealingEnabled"),
  ...numberFields("selfHealingMaxAttempts", "templateResolutionVersion"),
  ...provenance,
  ...stamps,
});
export type Flow = z.infer<typeof Flow>;

export const FlowAction = z.object({
  id: z.string(),
  ...textFields("flowId", "actionId", "nameOverride", "parentFlowActionId", "createdAt"),
  position: number,
  continueOnError: flag,
  overrides: z.object({ params: opaque }).nullish(),
});
export type FlowAction = z.infer<typeof FlowAction>;

/** Why a flow would or would not run. */
export const Gates = z.object({
  ...flagFields("enabled", "blocked", "cooldownActive", "deviceAttached"),
  deviceIds: texts,
});
/** An action as a dry run shows it, with its parameters filled in; children may have children. */
export const PlannedAction = z.object({
  ...textFields("name", "service", "method"),
  continueOnError: flag,
  params: opaque,
  children: z.array(z.unknown()).nullish(),
});
export const Validation = z.object({
  valid: flag,
  errors: z.array(z.object(textFields("field", "message"))).nullish(),
});

const Repair = z.object({
  id: z.string(),
  ...textFields("flowId", "status"),
  ...numberFields("attempt", "maxAttempts"),
  episode: z.unknown().optional(),
  verdict: z.unknown().optional(),
  ...stamps,
});

/** `position` counts from 1 and is unique among its siblings. */
export const ChildAction = z.strictObject({
  actionId: given,
  position: z.int().positive(),
  continueOnError: optionalFlag,
  nameOverride: optionalText,
  overrides: z
    .strictObject({ params: z.record(z.string(), z.unknown()).optional() })
    .nullable()
    .optional(),
});
export const ActionBinding = ChildAction.extend({ children: z.array(ChildAction).optional() });

const settings = {
  description: optionalText,
  enabled: optionalFlag,
  cooldownSeconds: z.int().min(0).optional(),
  cooldownScope: z.enum(["flow", "device"]).optional(),
  notifyOnFailure: optionalFlag,
  notifyOnSuccess: optionalFlag,
  notifyWebhookId: z.string().nullable().optional(),
  healthMonitoringEnabled: optionalFlag,
  selfHealingEnabled: optionalFlag,
  selfHealingMaxAttempts: z.int().positive().optional(),
};
const deviceIds = z.array(given);

export const flows = domain("flows", {
  list: get("/flows", {
    query: z.strictObject({
      enabled: optionalFlag,
      search: optionalText,
      triggerId: optionalText,
      status: z.array(z.enum(["healthy", "failing", "blocked"])).optional(),
      orderBy: optionalText,
      orderByDirection: direction,
      ...paging,
      ...mine,
    }),
    answer: json(page(Flow)),
  }),
  get: get("/flows/{flowId}", { answer: json(data(Flow)) }),
  create: post("/flows", {
    body: json(
      z.strictObject({
        name: given,
        triggerId: given,
        actions: z.array(ActionBinding).min(1),
        deviceIds: deviceIds.optional(),
        ...settings,
      }),
    ),
    answer: json(data(Flow)),
  }),
  update: patch("/flows/{flowId}", {
    body: json(
      z.strictObject({
        name: given.optional(),
        triggerId: given.optional(),
        deviceIds: deviceIds.optional(),
        ...settings,
        description: z.string().nullable().optional(),
      }),
    ),
    answer: json(data(Flow)),
  }),
  remove: remove("/flows/{flowId}", { answer: json(message) }),
  clone: post("/flows/{flowId}/clone", {
    body: json(z.strictObject({ name: given.optional(), deviceIds: deviceIds.optional() })),
    answer: json(data(Flow)),
  }),
  unblock: post("/flows/{flowId}/unblock", { answer: json(data(Flow)) }),
  dryRun: post("/flows/{flowId}/dry-run", {
    body: json(z.strictObject({ payload: z.record(z.string(), z.unknown()).optional() })),
    answer: json(
      data(
        z.object({
          ...textFields("activation", "nextFireTime"),
          ...flagFields("conditionsPassed", "rateLimited", "wouldFire"),
          gates: Gates.nullish(),
          validation: Validation.nullish(),
          actions: z.array(PlannedAction).nullish(),
        }),
      ),
    ),
    effects: ["read"],
    retry: "safe",
  }),
  repairs: get("/flows/{flowId}/repairs", { answer: json(data(list(Repair))) }),
  actions: get("/flows/{flowId}/actions", { answer: json(data(list(FlowAction))) }),
  addAction: post("/flows/{flowId}/actions", {
    body: json(ActionBinding.extend({ parentFlowActionId: z.string().nullable().optional() })),
    answer: json(data(FlowAction)),
  }),
  replaceActions: put("/flows/{flowId}/actions", {
    body: json(z.strictObject({ actions: z.array(ActionBinding) })),
    answer: json(data(list(FlowAction))),
    effects: ["destructive"],
  }),
  removeAction: remove("/flows/{flowId}/actions/{flowActionId}", { answer: json(message) }),
});
