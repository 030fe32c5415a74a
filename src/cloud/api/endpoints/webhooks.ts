import { z } from "zod";
import { domain, empty, get, json, patch, post, remove } from "../endpoint.ts";
import {
  Pagination,
  data,
  flag,
  flagFields,
  list,
  mine,
  number,
  numberFields,
  opaque,
  optionalText,
  page,
  paging,
  stamps,
  text,
  textFields,
  texts,
} from "../shapes.ts";

export const Webhook = z.object({
  id: z.string(),
  ...textFields("url", "description", "state", "health", "blockedAt", "blockedReason", "createdBy"),
  eventTypes: texts,
  signingEnabled: flag,
  ...stamps,
});
export type Webhook = z.infer<typeof Webhook>;

/** The secret that deliveries are signed with is said once: when the webhook is made and when it is rotated. */
export const WebhookWithSecret = Webhook.extend({ secret: text });

const delivery = {
  id: z.string(),
  ...textFields("endpointId", "eventId", "eventType", "source", "status", "lastError"),
  isTest: flag,
  ...numberFields("lastStatusCode", "durationMs"),
  ...textFields("occurredAt", "completedAt", "createdAt", "createdBy"),
};
const Delivery = z.object({ ...delivery, attempts: number });
/** Headers and bodies of an attempt are what the receiver gets and says: they may hold secrets. */
const DeliveryInFull = z.object({
  ...delivery,
  attempts: z
    .array(
      z.object({
        ...numberFields("attemptNo", "responseStatus", "durationMs"),
        ...textFields("requestMethod", "requestUrl", "requestBody", "responseSnippet", "error", "sentAt"),
        requestHeaders: opaque,
        responseHeaders: opaque,
        signed: flag,
      }),
    )
    .nullish(),
});

const EventSource = z.object({
  source: text,
  events: z
    .array(
      z.object({
        type: z.string(),
        description: text,
        surfaces: z.object(flagFields("feed", "toast", "webhook")).nullish(),
      }),
    )
    .nullish(),
});

const eventTypes = z.array(z.string().min(1).max(256)).max(100).optional();
const description = z.string().max(500);

export const webhooks = domain("webhooks", {
  list: get("/webhooks", {
    query: z.strictObject({
      status: z.enum(["active", "failing", "blocked", "disabled"]).optional(),
      search: optionalText,
      ...paging,
      ...mine,
    }),
    answer: json(
      z.object({
        items: list(Webhook),
        pagination: Pagination,
        counts: z.object(numberFields("total", "active", "failing", "blocked", "disabled")).nullish(),
      }),
    ),
  }),
  /** Without event types it gets all of them. */
  create: post("/webhooks", {
    body: json(z.strictObject({ url: z.url().max(2048), eventTypes, description: description.optional() })),
    answer: json(data(WebhookWithSecret)),
  }),
  get: get("/webhooks/{endpointId}", { answer: json(data(Webhook)) }),
  /** ACTIVE also unblocks. */
  update: patch("/webhooks/{endpointId}", {
    body: json(
      z.strictObject({
        eventTypes,
        state: z.enum(["ACTIVE", "DISABLED"]).optional(),
        description: description.nullable().optional(),
      }),
    ),
    answer: json(data(Webhook)),
  }),
  remove: remove("/webhooks/{endpointId}", { answer: empty }),
  /** The secret of before is good no longer. */
  rotateSecret: post("/webhooks/{endpointId}/rotate-secret", {
    answer: json(data(WebhookWithSecret)),
    effects: ["destructive"],
  }),
  test: post("/webhooks/{endpointId}/test", {
    answer: json(data(z.object({ success: flag, statusCode: number, error: text }))),
  }),
  deliveries: get("/webhooks/{endpointId}/deliveries", {
    query: z.strictObject({ eventId: optionalText, ...paging }),
    answer: json(page(Delivery)),
  }),
  delivery: get("/webhooks/{endpointId}/deliveries/{deliveryId}", { answer: json(data(DeliveryInFull)) }),
  allDeliveries: get("/webhooks/deliveries", {
    query: z.strictObject({ status: optionalText, since: optionalText, eventId: optionalText, ...paging }),
    answer: json(page(Delivery.extend({ endpointUrl: text }))),
  }),
  deliveryStats: get("/webhooks/deliveries/stats", {
    query: z.strictObject({ since: optionalText }),
    answer: json(
      data(
        z.object({
          ...numberFields("total", "successRate"),
          byStatus: z.object(numberFields("success", "dead", "pending", "skipped")).nullish(),
        }),
      ),
    ),
  }),
  eventTypes: get("/event-types", {
    answer: json(data(z.object({ schemaVersion: number, sources: list(EventSource).optional() }))),
  }),
});
