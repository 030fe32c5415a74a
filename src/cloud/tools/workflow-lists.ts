import { z } from "zod";
import { about } from "../backend/errors.ts";
import { data } from "../backend/fields.ts";
import {
  ACTIVATIONS,
  Action,
  ActionPage,
  AppEventPage,
  CatalogEntry,
  CatalogPage,
  EXECUTION_STATUSES,
  EventTypePage,
  Execution,
  ExecutionPage,
  Flow,
  FlowPage,
  ServiceMethod,
  Trigger,
  TriggerPage,
  WORKFLOW_SERVICES,
} from "../backend/workflows.ts";
import { bundle } from "./declare.ts";
import { flag, id, page, pageSize, text } from "./inputs.ts";

const items = <T extends z.ZodType>(item: T) => z.object({ items: z.array(item).nullable() });

export const listWorkflowResources = bundle(
  {
    name: "list_workflow_resources",
    title: "List workflow resources",
    description:
      "List one kind of workflow resource, a page at a time: action_catalog (what actions can be made of), app_event_catalog (event types), action, trigger, flow, execution, service, service_methods, app_event (events that happened, with their contents).",
    by: "resource",
    noun: "filter",
    fields: {
      service: z.enum(WORKFLOW_SERVICES),
      search: text,
      activation: z.enum(ACTIVATIONS),
      eventType: text,
      enabled: flag,
      triggerId: id,
      flowId: id,
      deviceId: id,
      status: z.enum(EXECUTION_STATUSES),
      page,
      pageSize,
      limit: z.int().positive().max(100).describe("For execution: the same as pageSize."),
    },
  },
  (operation) => ({
    action_catalog: operation({
      effects: ["read"],
      may: ["service", "page", "pageSize"],
      answer: CatalogPage,
      run: ({ service, page = 1, pageSize = 100 }, { backend, within }) =>
        backend.workflows.listActionCatalog({ service, page, pageSize }, within),
    }),
    app_event_catalog: operation({
      effects: ["read"],
      may: ["page", "pageSize"],
      answer: EventTypePage,
      run: ({ page, pageSize }, { backend, within }) =>
        backend.workflows.listAppEventCatalog({ page, pageSize }, within),
    }),
    action: operation({
      effects: ["read"],
      may: ["service", "search", "page", "pageSize"],
      answer: ActionPage,
      run: ({ service, search, page, pageSize }, { backend, within }) =>
        backend.workflows.listActions({ service, search, page, pageSize }, within),
    }),
    trigger: operation({
      effects: ["read"],
      may: ["activation", "eventType", "search", "page", "pageSize"],
      answer: TriggerPage,
      run: ({ activation, eventType, search, page, pageSize }, { backend, within }) =>
        backend.workflows.listTriggers({ activation, eventType, search, page, pageSize }, within),
    }),
    flow: operation({
      effects: ["read"],
      may: ["enabled", "search", "triggerId", "page", "pageSize"],
      answer: FlowPage,
      run: ({ enabled, search, triggerId, page, pageSize }, { backend, within }) =>
        backend.workflows.listFlows({ enabled, search, triggerId, page, pageSize }, within),
    }),
    execution: operation({
      effects: ["read"],
      may: ["flowId", "triggerId", "status", "limit", "page", "pageSize"],
      answer: ExecutionPage,
      check: ({ limit, pageSize }) =>
        limit !== undefined && pageSize !== undefined ? "give limit or pageSize, not both" : undefined,
      run: ({ flowId, triggerId, status, limit, page, pageSize = limit }, { backend, within }) =>
        backend.workflows.listExecutions({ flowId, triggerId, status, page, pageSize }, within),
    }),
    service: operation({
      effects: ["read"],
      answer: items(z.string()),
      run: (_, { backend, within }) => backend.workflows.listServices(within),
    }),
    service_methods: operation({
      effects: ["read"],
      needs: ["service"],
      answer: items(ServiceMethod),
      run: ({ service }, { backend, within }) => backend.workflows.listServiceMethods(service, within),
    }),
    // A device's notifications are among them, and with those one-time codes.
    app_event: operation({
      effects: ["read"],
      reveals: true,
      anyDevice: true,
      may: ["deviceId", "eventType", "page", "pageSize"],
      answer: AppEventPage,
      run: ({ deviceId, eventType, page, pageSize }, { backend, within }) =>
        backend.workflows.listAppEvents({ deviceId, eventType, page, pageSize }, within),
    }),
  }),
);

export const getWorkflowResource = bundle(
  {
    name: "get_workflow_resource",
    title: "Show a workflow resource",
    description: "One workflow resource in full: an action_catalog entry, action, trigger, flow or execution.",
    by: "resource",
    fields: { id },
  },
  (operation) => ({
    action_catalog: operation({
      effects: ["read"],
      needs: ["id"],
      answer: data(CatalogEntry),
      run: ({ id: which }, { backend, within }) =>
        named("action_catalog", which, backend.workflows.getActionCatalogEntry(which, within)),
    }),
    action: operation({
      effects: ["read"],
      needs: ["id"],
      answer: data(Action),
      run: ({ id: which }, { backend, within }) => named("action", which, backend.workflows.getAction(which, within)),
    }),
    trigger: operation({
      effects: ["read"],
      needs: ["id"],
      answer: data(Trigger),
      run: ({ id: which }, { backend, within }) => named("trigger", which, backend.workflows.getTrigger(which, within)),
    }),
    flow: operation({
      effects: ["read"],
      needs: ["id"],
      answer: data(Flow),
      run: ({ id: which }, { backend, within }) => named("flow", which, backend.workflows.getFlow(which, within)),
    }),
    execution: operation({
      effects: ["read"],
      needs: ["id"],
      answer: data(Execution),
      run: ({ id: which }, { backend, within }) =>
        named("execution", which, backend.workflows.getExecution(which, within)),
    }),
  }),
);

/** Says in an error which resource it is about. */
async function named<T>(resource: string, which: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (thrown) {
    throw about(`${resource} ${which}`, thrown);
  }
}
