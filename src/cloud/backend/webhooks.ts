import { z } from "zod";
import {
  flag,
  number,
  numberFields,
  page,
  PageMeta,
  stamps,
  text,
  textFields,
  texts,
  type Paging,
  type Within,
} from "./fields.ts";

export const Webhook = z.object({
  id: z.string(),
  ...textFields("url", "description", "state", "health", "blockedAt", "blockedReason"),
  eventTypes: texts,
  signingEnabled: flag,
  ...stamps,
});
/** The secret is said when it is made, and never again. */
export const WebhookWithSecret = Webhook.extend({ secret: text });
export const WebhookPage = z.object({
  items: z.array(Webhook).nullable(),
  pagination: PageMeta,
  counts: z.object(numberFields("total", "active", "failing", "blocked", "disabled")).nullish(),
});

const delivery = {
  id: z.string(),
  ...textFields("endpointId", "eventId", "eventType", "source", "status", "lastError"),
  isTest: flag,
  ...numberFields("lastStatusCode", "durationMs"),
  ...textFields("occurredAt", "completedAt", "createdAt"),
};
export const Delivery = z.object({ ...delivery, attempts: number });
export const DeliveryPage = page(Delivery);
/** What was sent and answered, headers and bodies, is left out: it belongs to the receiver. */
export const DeliveryInFull = z.object({
  ...delivery,
  attempts: z
    .array(
      z.object({
        ...numberFields("attemptNo", "responseStatus", "durationMs"),
        ...textFields("requestMethod", "error", "sentAt"),
        signed: flag,
      }),
    )
    .nullish(),
});
export const TestResult = z.object({ success: flag, statusCode: number, error: text });
export const DeliveryStats = z.object({
  ...numberFields("total", "successRate"),
  byStatus: z.object(numberFields("success", "dead", "pending", "skipped")).nullish(),
});
export const WebhookEventTypes = z.object({
  schemaVersion: number,
  sources: z
    .array(
      z.object({
        source: text,
        events: z.array(z.object({ type: z.string(), description: text })).nullish(),
      }),
    )
    .nullish(),
});

type Data<T extends z.ZodType> = Promise<{ data: z.input<T> }>;

export interface WebhookChange {
  readonly eventTypes?: string[] | undefined;
  readonly state?: "ACTIVE" | "DISABLED" | undefined;
  readonly description?: string | null | undefined;
}

export interface WebhooksBackend {
  createWebhook(
    webhook: { url: string; eventTypes?: string[] | undefined; description?: string | undefined },
    within?: Within,
  ): Data<typeof WebhookWithSecret>;
  listWebhooks(
    filter: Paging & { status?: "active" | "failing" | "blocked" | "disabled" | undefined },
    within?: Within,
  ): Promise<z.input<typeof WebhookPage>>;
  getWebhook(endpointId: string, within?: Within): Data<typeof Webhook>;
  updateWebhook(endpointId: string, change: WebhookChange, within?: Within): Data<typeof Webhook>;
  deleteWebhook(endpointId: string, within?: Within): Promise<void>;
  rotateWebhookSecret(endpointId: string, within?: Within): Data<typeof WebhookWithSecret>;
  testWebhook(endpointId: string, within?: Within): Data<typeof TestResult>;
  listWebhookDeliveries(endpointId: string, filter: Paging, within?: Within): Promise<z.input<typeof DeliveryPage>>;
  getWebhookDelivery(endpointId: string, deliveryId: string, within?: Within): Data<typeof DeliveryInFull>;
  getWebhookDeliveryStats(filter: { since?: string | undefined }, within?: Within): Data<typeof DeliveryStats>;
  listWebhookEventTypes(within?: Within): Data<typeof WebhookEventTypes>;
}
