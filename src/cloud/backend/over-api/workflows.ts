import { endpoints } from "../../api/index.ts";
import { BackendError, hasCode } from "../errors.ts";
import type { Within } from "../fields.ts";
import type { EventType, WorkflowsBackend } from "../workflows.ts";
import type { Call } from "./calls.ts";
import { pageOf } from "./page-of.ts";

const { actions, triggers, flows, executions, events } = endpoints;

export function workflowsOverApi(call: Call): WorkflowsBackend {
  return {
    listActionCatalog: (query, within) => call(actions.catalog, { query, ...within }),
    getActionCatalogEntry: (catalogEntryId, within) =>
      call(actions.catalogEntry, { path: { catalogEntryId }, ...within }),
    listAppEventCatalog: (filter, within) => eventTypes(call, filter, within),
    listActions: (query, within) => call(actions.list, { query, ...within }),
    getAction: (actionId, within) => call(actions.get, { path: { actionId }, ...within }),
    createAction: (body, within) => call(actions.create, { body, ...within }),
    listTriggers: (query, within) => call(triggers.list, { query, ...within }),
    getTrigger: (triggerId, within) => call(triggers.get, { path: { triggerId }, ...within }),
    createTrigger: (body, within) => call(triggers.create, { body, ...within }),
    listFlows: (query, within) => call(flows.list, { query, ...within }),
    getFlow: (flowId, within) => call(flows.get, { path: { flowId }, ...within }),
    createFlow: (body, within) => call(flows.create, { body, ...within }),
    updateFlow: ({ flowId, ...body }, within) => call(flows.update, { path: { flowId }, body, ...within }),
    deleteFlow: (flowId, within) => call(flows.remove, { path: { flowId }, ...within }),
    cloneFlow: ({ flowId, ...body }, within) => call(flows.clone, { path: { flowId }, body, ...within }),
    unblockFlow: (flowId, within) => call(flows.unblock, { path: { flowId }, ...within }),
    listFlowActions: async (flowId, within) => ({
      items: (await call(flows.actions, { path: { flowId }, ...within })).data,
    }),
    addFlowAction: ({ flowId, ...body }, within) => call(flows.addAction, { path: { flowId }, body, ...within }),
    removeFlowAction: (path, within) => call(flows.removeAction, { path, ...within }),
    replaceFlowActions: async ({ flowId, ...body }, within) => ({
      items: (await call(flows.replaceActions, { path: { flowId }, body, ...within })).data,
    }),
    dryRunFlow: (flowId, payload, within) => call(flows.dryRun, { path: { flowId }, body: { payload }, ...within }),
    listFlowRepairs: async (flowId, within) => ({
      items: (await call(flows.repairs, { path: { flowId }, ...within })).data,
    }),
    listExecutions: (query, within) => call(executions.list, { query, ...within }),
    getExecution: (executionId, within) => call(executions.get, { path: { executionId }, ...within }),
    abortExecution: (executionId, within) => call(executions.abort, { path: { executionId }, ...within }),
    getExecutionMetrics: (query, within) => call(executions.metrics, { query, ...within }),
    listServices: async (within) => ({ items: (await call(actions.services, { ...within })).data }),
    listServiceMethods: async (service, within) => ({
      items: (await call(actions.methods, { path: { service }, ...within })).data,
    }),
    ingestEvent: (body, within) => call(events.ingest, { body, ...within }),
    dryRunEvent: (body, within) => call(events.dryRun, { body, ...within }),
    registerEventTypes: (all, within) => register(call, all, within),
    listAppEvents: (query, within) => call(events.appEvents, { query, ...within }),
  };
}

type Filter = Parameters<WorkflowsBackend["listAppEventCatalog"]>[0];

/** Newer servers have one list of app events, which is paged here; older ones the catalog of event types. */
async function eventTypes(call: Call, filter: Filter, within: Within | undefined) {
  let all;
  try {
    all = (await call(events.appCatalog, { ...within })).data ?? [];
  } catch (thrown) {
    if (!hasCode(thrown, "not_found")) throw thrown;
    return call(events.catalog, { query: filter, ...within });
  }
  const fitting = all.filter(({ category }) => filter.source === undefined || category === filter.source);
  return pageOf(
    fitting.map(({ appEventType, category, ...rest }): EventType => ({
      ...rest,
      eventType: appEventType,
      source: category ?? null,
    })),
    filter,
  );
}

type NewTypes = Parameters<WorkflowsBackend["registerEventTypes"]>[0];

async function register(call: Call, all: NewTypes, within: Within | undefined) {
  try {
    return await call(events.register, { body: { events: all }, ...within });
  } catch (thrown) {
    if (!hasCode(thrown, "not_found")) throw thrown;
    throw new BackendError("not_found", "This server registers no event types any more.", {
      hint: "Send events of your own with operation=ingest: they need no registration.",
      cause: thrown,
    });
  }
}
