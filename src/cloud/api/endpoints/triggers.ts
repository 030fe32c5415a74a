import { z } from "zod";
import { domain, get, json, patch, post, remove } from "../endpoint.ts";
import {
  data,
  direction,
  given,
  message,
  number,
  numberFields,
  opaque,
  optionalText,
  page,
  paging,
  provenance,
  stamps,
  text,
  textFields,
} from "../shapes.ts";

export const ACTIVATIONS = ["event", "schedule", "custom"] as const;

export const ScheduleRule = z.strictObject({
  type: z.enum(["once", "cron", "recurring"]),
  /** ISO 8601, for `once`. */
  dateTime: optionalText,
  /** A cron expression, for `cron`. */
  expression: optionalText,
  /** An RFC 5545 rule, for `recurring`. */
  rrule: optionalText,
  jitter: z
    .strictObject({
      beforeMinutes: z.int().min(0).max(1440).optional(),
      afterMinutes: z.int().min(0).max(1440).optional(),
    })
    .optional(),
});

const anything = z.record(z.string(), z.unknown());
/** What an element of these looks like is not declared. */
const conditions = z.strictObject({ all: z.array(z.unknown()).optional(), any: z.array(z.unknown()).optional() });

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
  conditions: z.object({ all: z.array(z.unknown()).nullish(), any: z.array(z.unknown()).nullish() }).nullish(),
  ...provenance,
  ...stamps,
});
export type Trigger = z.infer<typeof Trigger>;

export const triggers = domain("triggers", {
  list: get("/triggers", {
    query: z.strictObject({
      activation: z.enum(ACTIVATIONS).optional(),
      eventType: optionalText,
      search: optionalText,
      orderBy: z.enum(["name", "createdAt", "updatedAt"]).optional(),
      orderByDirection: direction,
      ...paging,
    }),
    answer: json(page(Trigger)),
  }),
  get: get("/triggers/{triggerId}", { answer: json(data(Trigger)) }),
  /** A field that belongs to another activation is refused by the API. */
  create: post("/triggers", {
    body: json(
      z.strictObject({
        name: given,
        activation: z.enum(ACTIVATIONS),
        eventType: optionalText,
        scheduleRule: ScheduleRule.optional(),
        customPayloadSchema: anything.optional(),
        timezone: optionalText,
        description: optionalText,
        conditions: conditions.optional(),
      }),
    ),
    answer: json(data(Trigger)),
  }),
  update: patch("/triggers/{triggerId}", {
    body: json(
      z.strictObject({
        name: given.optional(),
        description: z.string().nullable().optional(),
        eventType: optionalText,
        scheduleRule: ScheduleRule.optional(),
        customPayloadSchema: anything.optional(),
        timezone: optionalText,
        conditions: conditions.optional(),
      }),
    ),
    answer: json(data(Trigger)),
  }),
  remove: remove("/triggers/{triggerId}", { answer: json(message) }),
  /** Only a trigger of the activation `custom` can be fired by hand. */
  fire: post("/triggers/{triggerId}/fire", {
    body: json(z.strictObject({ payload: anything.optional() })),
    answer: json(z.object({ invocationId: text, enqueuedCount: number })),
  }),
});
