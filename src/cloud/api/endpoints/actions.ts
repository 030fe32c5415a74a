import { z } from "zod";
import { domain, get, json, patch, post, remove } from "../endpoint.ts";
import {
  data,
  direction,
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

export const WORKFLOW_SERVICES = ["tasks_api", "devices_api", "agents_api", "webhooks"] as const;
const service = z.enum(WORKFLOW_SERVICES);

export const CatalogEntry = z.object({
  id: z.string(),
  ...textFields("name", "description", "service", "method"),
  paramsSchema: opaque,
  ...stamps,
});
export type CatalogEntry = z.infer<typeof CatalogEntry>;

export const Action = z.object({
  id: z.string(),
  ...textFields("catalogEntryId", "name", "description", "service", "method"),
  params: opaque,
  paramsSchema: opaque,
  ...provenance,
  ...stamps,
});
export type Action = z.infer<typeof Action>;

const ServiceMethod = z.object({
  method: z.string(),
  params: z
    .array(
      z.object({
        name: z.string(),
        ...textFields("type", "description"),
        required: flag,
        default: z.unknown().optional(),
        example: z.unknown().optional(),
      }),
    )
    .nullish(),
});

const anything = z.record(z.string(), z.unknown()).optional();

export const actions = domain("actions", {
  catalog: get("/action-catalog", {
    query: z.strictObject({ service: service.optional(), ...paging }),
    answer: json(page(CatalogEntry)),
  }),
  catalogEntry: get("/action-catalog/{catalogEntryId}", { answer: json(data(CatalogEntry)) }),
  list: get("/actions", {
    query: z.strictObject({
      service: service.optional(),
      search: optionalText,
      orderBy: z.enum(["name", "createdAt", "updatedAt"]).optional(),
      orderByDirection: direction,
      ...paging,
    }),
    answer: json(page(Action)),
  }),
  get: get("/actions/{actionId}", { answer: json(data(Action)) }),
  create: post("/actions", {
    body: json(z.strictObject({ catalogEntryId: given, name: given, description: optionalText, params: anything })),
    answer: json(data(Action)),
  }),
  update: patch("/actions/{actionId}", {
    body: json(
      z.strictObject({ name: given.optional(), description: z.string().nullable().optional(), params: anything }),
    ),
    answer: json(data(Action)),
  }),
  remove: remove("/actions/{actionId}", { answer: json(message) }),
  services: get("/actions/services", { answer: json(data(list(z.string()))) }),
  methods: get("/actions/services/{service}/methods", { answer: json(data(list(ServiceMethod))) }),
});
