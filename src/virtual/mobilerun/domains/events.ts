import type { endpoints } from "../../../cloud/index.ts";
import type { Account, PublishedEvent } from "../account.ts";
import { accepted, type Handlers } from "../handler.ts";
import { paged } from "../paging.ts";
import { notFound } from "../problem.ts";
import { conditionsPass, payloadErrors } from "../payload.ts";
import { open, type Params, type Workflows } from "../workflow.ts";
import { planned, shownFlow } from "./flows.ts";

/** How many events are kept to be asked for. */
const KEPT = 1000;

const APP_EVENTS = [
  {
    appEventType: "app.notes.saved",
    appName: "Notes",
    category: "app",
    label: "Note saved",
    packageName: "com.example.notes",
    sourceEventType: "device.notification",
    payloadSchema: [{ name: "title", type: "string", description: "Note title", example: "milk" }],
  },
];

interface EventType {
  readonly eventType: string;
  readonly label: string;
  readonly description: string | null;
  readonly source: string;
  readonly payloadSchema: Params | null;
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
}

export function eventHandlers(account: Account, workflows: Workflows): Handlers<typeof endpoints.events> {
  const types = new Map<string, EventType>();
  const register = (eventType: string, label: string, source: string, more: Partial<EventType> = {}) =>
    types.set(eventType, {
      eventType,
      label,
      description: null,
      source,
      payloadSchema: { type: "object" },
      createdAt: null,
      updatedAt: null,
      ...more,
    });
  register("app.notes.saved", "Note saved", "device");
  register("task.completed", "Task finished", "system");

  const happened: PublishedEvent[] = [];
  account.subscribe((event) => {
    happened.push(event);
    if (happened.length > KEPT) happened.shift();
  });
  const shown = ({ id, type, source, payload, deviceId, at }: PublishedEvent) => ({
    id,
    eventType: type,
    source,
    deviceId: deviceId ?? null,
    payload,
    rawEventId: id,
    occurredAt: at,
    createdAt: at,
    ...account.owner,
  });

  return {
    ingest({ body }) {
      const { eventType: type, payload = {}, deviceId } = body;
      return accepted({ eventId: account.publish({ type, source: "webhook", payload, deviceId }).id });
    },
    dryRun({ body }) {
      const payload = body.payload ?? {};
      const errors = payloadErrors(types.get(body.eventType)?.payloadSchema ?? null, payload);
      const triggers = [...workflows.triggers.values()].filter(({ eventType }) => eventType === body.eventType);
      const matchedFlows = triggers.flatMap((trigger) =>
        workflows.flowsOf(trigger).map((flow) => {
          const gates = workflows.gates(flow, body.deviceId);
          return {
            wouldFire: errors.length === 0 && open(gates) && conditionsPass(trigger.conditions, payload),
            gates,
            actions: planned(workflows, flow),
            flow: shownFlow(account, flow),
            trigger: { ...trigger, ...account.owner },
          };
        }),
      );
      return { data: { validation: { valid: errors.length === 0, errors }, matchedFlows } };
    },
    catalog: ({ query }) =>
      paged(
        [...types.values()].filter(({ source }) => query.source === undefined || source === query.source),
        query,
      ),
    register({ body }) {
      const at = account.now();
      for (const { eventType, label, description = null, payloadSchema = null, source = "webhook" } of body.events) {
        register(eventType, label, source, { description, payloadSchema, createdAt: at, updatedAt: at });
      }
      const { length } = body.events;
      return { message: `${length} event type${length === 1 ? "" : "s"} registered` };
    },
    appCatalog: () => ({ data: APP_EVENTS }),
    appCatalogEntry({ path }) {
      const found = APP_EVENTS.find(({ appEventType }) => appEventType === path.appEventType);
      if (found === undefined) throw notFound("App event type", path.appEventType);
      return { data: found };
    },
    appEvents({ query }) {
      const found = happened.filter(
        ({ type, source, deviceId, at }) =>
          (query.deviceId === undefined || deviceId === query.deviceId) &&
          (query.eventType === undefined || type === query.eventType) &&
          (query.source === undefined || source === query.source) &&
          (query.from === undefined || at >= query.from) &&
          (query.to === undefined || at <= query.to),
      );
      return paged(found.toReversed().map(shown), query);
    },
    appEvent({ path }) {
      const event = happened.find(({ id }) => id === path.eventId);
      if (event === undefined) throw notFound("Event", path.eventId);
      return shown(event);
    },
  };
}
