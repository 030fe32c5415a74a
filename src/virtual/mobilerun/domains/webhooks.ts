import type { endpoints } from "../../../cloud/index.ts";
import type { Account, VirtualEvent } from "../account.ts";
import { post, type Attempt } from "../deliver.ts";
import type { Handlers } from "../handler.ts";
import { contains, paged } from "../paging.ts";
import { Problem, notFound } from "../problem.ts";
import { without } from "../without.ts";

interface Webhook {
  readonly id: string;
  readonly url: string;
  description: string | null;
  eventTypes: readonly string[];
  state: "ACTIVE" | "DISABLED";
  failures: number;
  blockedAt: string | null;
  secret: string;
  readonly createdAt: string;
  updatedAt: string;
}
interface Delivery {
  readonly id: string;
  readonly hook: Webhook;
  readonly event: VirtualEvent & { readonly id: string; readonly at: string };
  readonly isTest: boolean;
  status: "pending" | "success" | "dead" | "skipped";
  readonly body: string;
  completedAt: string | null;
  readonly attempts: (Attempt & { readonly sentAt: string })[];
}

const RETRY_MS = [1000, 5000];
/** A webhook that fails so often in a row is blocked. */
const MAX_FAILURES = 3;
/** How many deliveries are kept. */
const KEPT = 1000;

const SOURCES = {
  tasks: ["task.completed", "task.failed", "task.cancelled"],
  devices: ["device.ready", "device.terminated"],
  workflows: ["execution.success", "execution.failed", "execution.cancelled", "flow.notified"],
};
const ALL_TYPES = Object.values(SOURCES).flat();

export function webhookHandlers(account: Account): Handlers<typeof endpoints.webhooks> {
  const hooks = new Map<string, Webhook>();
  const deliveries: Delivery[] = [];

  account.subscribe((event) => {
    for (const hook of hooks.values()) {
      if (hook.eventTypes.includes(event.type) && hook.state === "ACTIVE" && hook.blockedAt === null) {
        void send(deliveryOf(hook, event, false));
      }
    }
  });

  function deliveryOf(hook: Webhook, event: Delivery["event"], isTest: boolean): Delivery {
    const { id, type, source, payload, at } = event;
    const body = JSON.stringify({ id, type, source, occurredAt: at, data: payload });
    const made = { id: account.mintUuid(), hook, event, isTest, body, completedAt: null, attempts: [] };
    const delivery: Delivery = { ...made, status: "pending" };
    deliveries.push(delivery);
    if (deliveries.length > KEPT) deliveries.shift();
    return delivery;
  }

  async function send(delivery: Delivery): Promise<Attempt> {
    const { hook } = delivery;
    const sentAt = account.now();
    const timestamp = Math.floor(account.clock.now() / 1000);
    const { deliverAnywhere, closing } = account;
    const attempt = await post(hook.url, hook.secret, delivery.id, timestamp, delivery.body, deliverAnywhere, closing);
    delivery.attempts.push({ ...attempt, sentAt });
    const again = RETRY_MS[delivery.attempts.length - 1];
    if (attempt.error !== null && again !== undefined && !delivery.isTest) {
      account.clock.after(again, () => void send(delivery));
      return attempt;
    }
    delivery.status = attempt.error === null ? "success" : "dead";
    delivery.completedAt = account.now();
    if (!delivery.isTest) {
      hook.failures = attempt.error === null ? 0 : hook.failures + 1;
      if (hook.failures >= MAX_FAILURES) hook.blockedAt ??= account.now();
    }
    return attempt;
  }

  const find = (id: string) => {
    const hook = hooks.get(id);
    if (hook === undefined) throw notFound("Webhook", id);
    return hook;
  };
  const health = ({ blockedAt, failures }: Webhook) =>
    blockedAt !== null ? "blocked" : failures > 0 ? "failing" : "healthy";
  const statusOf = (hook: Webhook) =>
    hook.state === "DISABLED" ? "disabled" : health(hook) === "healthy" ? "active" : health(hook);
  const shown = (hook: Webhook) => {
    const blockedReason = hook.blockedAt === null ? null : "Too many deliveries failed";
    return {
      ...without(hook, "failures", "secret"),
      health: health(hook),
      signingEnabled: true,
      blockedReason,
      createdBy: account.owner.createdBy,
    };
  };
  const shownDelivery = ({ id, hook, event, status, isTest, completedAt, attempts }: Delivery) => ({
    id,
    endpointId: hook.id,
    eventId: event.id,
    eventType: event.type,
    source: event.source,
    status,
    isTest,
    lastStatusCode: attempts.at(-1)?.responseStatus ?? null,
    lastError: attempts.at(-1)?.error ?? null,
    durationMs: attempts.at(-1)?.durationMs ?? null,
    occurredAt: event.at,
    completedAt,
    createdAt: event.at,
    createdBy: account.owner.createdBy,
    attempts: attempts.length,
  });
  const newSecret = () => `whsec_virtual_${account.mint("s")}`;
  const since = (from: string | undefined) => deliveries.filter(({ event }) => from === undefined || event.at >= from);

  return {
    list({ query }) {
      const all = [...hooks.values()];
      const count = (status: string) => all.filter((hook) => statusOf(hook) === status).length;
      const found = all.filter(
        (hook) =>
          (query.status === undefined || statusOf(hook) === query.status) &&
          (contains(hook.url, query.search) || contains(hook.description, query.search)),
      );
      const counts = {
        active: count("active"),
        failing: count("failing"),
        blocked: count("blocked"),
        disabled: count("disabled"),
      };
      return { ...paged(found.toReversed().map(shown), query), counts: { total: all.length, ...counts } };
    },
    create({ body }) {
      const at = account.now();
      const hook: Webhook = {
        id: account.mintUuid(),
        url: body.url,
        description: body.description ?? null,
        eventTypes: body.eventTypes ?? ALL_TYPES,
        state: "ACTIVE",
        failures: 0,
        blockedAt: null,
        secret: newSecret(),
        createdAt: at,
        updatedAt: at,
      };
      hooks.set(hook.id, hook);
      return { data: { ...shown(hook), secret: hook.secret } };
    },
    get: ({ path }) => ({ data: shown(find(path.endpointId)) }),
    update({ path, body }) {
      const hook = find(path.endpointId);
      if (Object.keys(body).length === 0) throw new Problem(400, "Give one of eventTypes, state and description");
      if (body.eventTypes !== undefined) hook.eventTypes = body.eventTypes;
      if (body.description !== undefined) hook.description = body.description;
      if (body.state !== undefined) hook.state = body.state;
      if (body.state === "ACTIVE") {
        hook.blockedAt = null;
        hook.failures = 0;
      }
      hook.updatedAt = account.now();
      return { data: shown(hook) };
    },
    remove: ({ path }) => void hooks.delete(find(path.endpointId).id),
    rotateSecret({ path }) {
      const hook = find(path.endpointId);
      hook.secret = newSecret();
      return { data: { ...shown(hook), secret: hook.secret } };
    },
    async test({ path }) {
      const event = {
        id: account.mint("evt"),
        at: account.now(),
        type: "webhook.test",
        source: "webhooks",
        payload: {},
      };
      const { responseStatus, error } = await send(deliveryOf(find(path.endpointId), event, true));
      return { data: { success: error === null, statusCode: responseStatus, error } };
    },
    deliveries({ path, query }) {
      const hook = find(path.endpointId);
      const found = deliveries.filter(
        (one) => one.hook === hook && (query.eventId === undefined || one.event.id === query.eventId),
      );
      return paged(found.toReversed().map(shownDelivery), query);
    },
    delivery({ path }) {
      const hook = find(path.endpointId);
      const delivery = deliveries.find((one) => one.hook === hook && one.id === path.deliveryId);
      if (delivery === undefined) throw notFound("Delivery", path.deliveryId);
      const attempts = delivery.attempts.map((attempt, at) => ({
        attemptNo: at + 1,
        requestMethod: "POST",
        requestUrl: hook.url,
        requestBody: delivery.body,
        signed: true,
        ...attempt,
      }));
      return { data: { ...shownDelivery(delivery), attempts } };
    },
    allDeliveries({ query }) {
      const found = since(query.since).filter(
        (one) =>
          (query.status === undefined || one.status === query.status) &&
          (query.eventId === undefined || one.event.id === query.eventId),
      );
      return paged(
        found.toReversed().map((one) => ({ ...shownDelivery(one), endpointUrl: one.hook.url })),
        query,
      );
    },
    deliveryStats({ query }) {
      const found = since(query.since);
      const count = (status: Delivery["status"]) => found.filter((one) => one.status === status).length;
      const byStatus = {
        success: count("success"),
        dead: count("dead"),
        pending: count("pending"),
        skipped: count("skipped"),
      };
      const ended = byStatus.success + byStatus.dead;
      return { data: { total: found.length, successRate: ended === 0 ? null : byStatus.success / ended, byStatus } };
    },
    eventTypes: () => ({
      data: {
        schemaVersion: 1,
        sources: Object.entries(SOURCES).map(([source, types]) => ({
          source,
          events: types.map((type) => ({
            type,
            description: type,
            surfaces: { feed: true, toast: false, webhook: true },
          })),
        })),
      },
    }),
  };
}
