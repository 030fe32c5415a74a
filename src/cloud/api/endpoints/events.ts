import { z } from "zod";
import { domain, get, json, post } from "../endpoint.ts";
import {
  data,
  flag,
  given,
  list,
  message,
  opaque,
  optionalText,
  page,
  paging,
  provenance,
  stamps,
  textFields,
} from "../shapes.ts";
import { Flow, Gates, PlannedAction, Validation } from "./flows.ts";
import { Trigger } from "./triggers.ts";

export const EVENT_SOURCES = ["device", "system", "webhook"] as const;
const source = z.enum(EVENT_SOURCES);
const anything = z.record(z.string(), z.unknown()).optional();
const event = z.strictObject({ eventType: given, payload: anything, deviceId: optionalText });

const EventType = z.object({
  eventType: z.string(),
  ...textFields("label", "description", "source"),
  payloadSchema: opaque,
  ...stamps,
});

/** Its `payloadSchema` is a list of fields, where the older catalog has a JSON Schema. */
const AppEventType = z.object({
  appEventType: z.string(),
  ...textFields("appName", "category", "label", "packageName", "sourceEventType"),
  payloadSchema: z
    .array(z.object({ name: z.string(), ...textFields("type", "description"), example: z.unknown().optional() }))
    .nullish(),
});

const AppEvent = z.object({
  id: z.string(),
  ...textFields("eventType", "source", "deviceId", "rawEventId", "occurredAt", "createdAt"),
  payload: opaque,
  ...provenance,
});

const MatchedFlow = z.object({
  wouldFire: flag,
  gates: Gates.nullish(),
  actions: z.array(PlannedAction).nullish(),
  flow: Flow.nullish(),
  trigger: Trigger.nullish(),
});

export const events = domain("events", {
  ingest: post("/events/ingest", { body: json(event), answer: json(z.object({ eventId: z.string() })) }),
  dryRun: post("/events/dry-run", {
    body: json(event),
    answer: json(data(z.object({ validation: Validation.nullish(), matchedFlows: list(MatchedFlow).optional() }))),
    effects: ["read"],
    retry: "safe",
  }),
  /** Newer servers answer `not_found` here and have `appCatalog` instead. */
  catalog: get("/events/catalog", {
    query: z.strictObject({ source: source.optional(), ...paging }),
    answer: json(page(EventType)),
  }),
  /** Newer servers have nothing in its place. */
  register: post("/events/catalog/register", {
    body: json(
      z.strictObject({
        events: z
          .array(
            z.strictObject({
              eventType: given,
              label: given,
              description: optionalText,
              payloadSchema: anything,
              source: source.optional(),
            }),
          )
          .min(1),
      }),
    ),
    answer: json(message),
  }),
  appCatalog: get("/app-events/catalog", { answer: json(data(list(AppEventType))) }),
  appCatalogEntry: get("/app-events/catalog/{appEventType}", { answer: json(data(AppEventType)) }),
  appEvents: get("/app-events", {
    query: z.strictObject({
      deviceId: optionalText,
      eventType: optionalText,
      source: optionalText,
      from: optionalText,
      to: optionalText,
      ...paging,
    }),
    answer: json(page(AppEvent)),
  }),
  appEvent: get("/app-events/{eventId}", { answer: json(AppEvent) }),
});
