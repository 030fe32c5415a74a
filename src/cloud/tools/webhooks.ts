import { z } from "zod";
import { data } from "../backend/fields.ts";
import {
  DeliveryInFull,
  DeliveryPage,
  DeliveryStats,
  TestResult,
  Webhook,
  WebhookEventTypes,
  WebhookPage,
  WebhookWithSecret,
} from "../backend/webhooks.ts";
import { bundle } from "./declare.ts";
import { page, pageSize } from "./inputs.ts";

const secretHandling =
  "This signing secret is shown once. Give it to the user now, and keep it out of workflow data, logs and files.";
const withSecret = data(WebhookWithSecret).extend({ secretHandling: z.string() });
const said = z.object({ status: z.literal("ok"), operation: z.string(), endpointId: z.string() });

export const webhooks = bundle(
  {
    name: "webhooks",
    title: "Webhooks",
    description:
      "Manage the endpoints that the platform calls when something happens, and see what was delivered. The signing secret is shown at create and rotate_secret only.",
    by: "operation",
    fields: {
      endpointId: z.uuid(),
      deliveryId: z.uuid(),
      url: z.url().max(2048),
      eventTypes: z.array(z.string().min(1).max(256)).max(100),
      description: z.string().max(500).nullable(),
      state: z.enum(["ACTIVE", "DISABLED"]),
      status: z.enum(["active", "failing", "blocked", "disabled"]),
      page,
      pageSize,
      since: z.string().describe("ISO 8601."),
    },
  },
  (operation) => ({
    create: operation({
      effects: ["write"],
      // What is delivered tells of every device of the account.
      anyDevice: true,
      reveals: true,
      tellsSecret: true,
      needs: ["url"],
      may: ["eventTypes", "description"],
      answer: withSecret,
      run: async ({ url, eventTypes, description }, { backend, within }) => ({
        ...(await backend.webhooks.createWebhook({ url, eventTypes, description: description ?? undefined }, within)),
        secretHandling,
      }),
    }),
    list: operation({
      effects: ["read"],
      may: ["status", "page", "pageSize"],
      answer: WebhookPage,
      run: ({ status, page, pageSize }, { backend, within }) =>
        backend.webhooks.listWebhooks({ status, page, pageSize }, within),
    }),
    get: operation({
      effects: ["read"],
      needs: ["endpointId"],
      answer: data(Webhook),
      run: ({ endpointId }, { backend, within }) => backend.webhooks.getWebhook(endpointId, within),
    }),
    update: operation({
      effects: ["write"],
      anyDevice: true,
      needs: ["endpointId"],
      may: ["eventTypes", "state", "description"],
      someOf: ["eventTypes", "state", "description"],
      answer: data(Webhook),
      run: ({ endpointId, eventTypes, state, description }, { backend, within }) =>
        backend.webhooks.updateWebhook(endpointId, { eventTypes, state, description }, within),
    }),
    delete: operation({
      effects: ["destructive"],
      needs: ["endpointId"],
      answer: said,
      async run({ endpointId }, { backend, within }) {
        await backend.webhooks.deleteWebhook(endpointId, within);
        return { status: "ok" as const, operation: "delete", endpointId };
      },
    }),
    rotate_secret: operation({
      effects: ["destructive"],
      reveals: true,
      tellsSecret: true,
      needs: ["endpointId"],
      answer: withSecret,
      run: async ({ endpointId }, { backend, within }) => ({
        ...(await backend.webhooks.rotateWebhookSecret(endpointId, within)),
        secretHandling,
      }),
    }),
    test: operation({
      effects: ["write"],
      dials: true,
      needs: ["endpointId"],
      answer: data(TestResult),
      run: ({ endpointId }, { backend, within }) => backend.webhooks.testWebhook(endpointId, within),
    }),
    list_deliveries: operation({
      effects: ["read"],
      anyDevice: true,
      needs: ["endpointId"],
      may: ["page", "pageSize"],
      answer: DeliveryPage,
      run: ({ endpointId, page, pageSize }, { backend, within }) =>
        backend.webhooks.listWebhookDeliveries(endpointId, { page, pageSize }, within),
    }),
    get_delivery: operation({
      effects: ["read"],
      anyDevice: true,
      needs: ["endpointId", "deliveryId"],
      answer: data(DeliveryInFull),
      run: ({ endpointId, deliveryId }, { backend, within }) =>
        backend.webhooks.getWebhookDelivery(endpointId, deliveryId, within),
    }),
    delivery_stats: operation({
      effects: ["read"],
      may: ["since"],
      answer: data(DeliveryStats),
      run: ({ since }, { backend, within }) => backend.webhooks.getWebhookDeliveryStats({ since }, within),
    }),
    list_event_types: operation({
      effects: ["read"],
      answer: data(WebhookEventTypes),
      run: (_, { backend, within }) => backend.webhooks.listWebhookEventTypes(within),
    }),
  }),
);
