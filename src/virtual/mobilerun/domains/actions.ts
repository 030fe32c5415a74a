import type { endpoints } from "../../../cloud/index.ts";
import type { Account } from "../account.ts";
import type { Handlers } from "../handler.ts";
import { contains, paged, sorted } from "../paging.ts";
import { Problem, notFound } from "../problem.ts";
import type { Action, Workflows } from "../workflow.ts";

const SERVICES = ["tasks_api", "devices_api", "agents_api", "webhooks"];
const CATALOG = [
  entry("cat-run-task", "Run a task", "tasks_api", "tasks.run", "task"),
  entry("cat-reboot", "Reboot a device", "devices_api", "devices.reboot"),
  entry("cat-start-app", "Start an app", "devices_api", "apps.start", "packageName"),
  entry("cat-run-agent", "Run an agent", "agents_api", "agents.run", "agentId"),
  entry("cat-notify", "Call a webhook", "webhooks", "webhooks.send"),
];

function entry(id: string, name: string, service: string, method: string, ...required: string[]) {
  return {
    id,
    name,
    description: `${name}.`,
    service,
    method,
    paramsSchema: {
      type: "object",
      required,
      properties: Object.fromEntries(required.map((field) => [field, { type: "string" }])),
    },
    createdAt: "2026-01-05T00:00:00Z",
    updatedAt: null,
  };
}

export function actionHandlers(account: Account, workflows: Workflows): Handlers<typeof endpoints.actions> {
  const { actions } = workflows;
  const catalogEntry = (id: string) => {
    const found = CATALOG.find((other) => other.id === id);
    if (found === undefined) throw notFound("Catalog entry", id);
    return found;
  };
  const checked = (entryId: string, params: Action["params"]) => {
    const missing = catalogEntry(entryId).paramsSchema.required.filter((field) => params[field] === undefined);
    if (missing.length > 0) throw new Problem(400, `params: ${missing.join(", ")} missing`);
    return params;
  };
  const shown = (action: Action) => ({
    ...action,
    paramsSchema: catalogEntry(action.catalogEntryId).paramsSchema,
    ...account.owner,
  });

  return {
    catalog: ({ query }) =>
      paged(
        CATALOG.filter(({ service }) => query.service === undefined || service === query.service),
        query,
      ),
    catalogEntry: ({ path }) => ({ data: catalogEntry(path.catalogEntryId) }),
    list({ query }) {
      const found = [...actions.values()].filter(
        ({ service, name }) =>
          (query.service === undefined || service === query.service) && contains(name, query.search),
      );
      return paged(sorted(found, query.orderBy, query.orderByDirection).map(shown), query);
    },
    get: ({ path }) => ({ data: shown(workflows.action(path.actionId)) }),
    create({ body }) {
      const found = CATALOG.find(({ id }) => id === body.catalogEntryId);
      if (found === undefined) throw new Problem(400, `No catalog entry ${body.catalogEntryId}`);
      const at = account.now();
      const action: Action = {
        id: account.mint("act"),
        catalogEntryId: found.id,
        name: body.name,
        description: body.description ?? null,
        service: found.service,
        method: found.method,
        params: checked(found.id, body.params ?? {}),
        createdAt: at,
        updatedAt: at,
      };
      actions.set(action.id, action);
      return { data: shown(action) };
    },
    update({ path, body }) {
      const action = workflows.action(path.actionId);
      if (body.params !== undefined) action.params = checked(action.catalogEntryId, body.params);
      if (body.name !== undefined) action.name = body.name;
      if (body.description !== undefined) action.description = body.description;
      action.updatedAt = account.now();
      return { data: shown(action) };
    },
    remove({ path }) {
      const { id } = workflows.action(path.actionId);
      const user = [...workflows.flows.values()].find((flow) => flow.actions.some(({ actionId }) => actionId === id));
      if (user !== undefined) throw new Problem(409, `Flow ${user.id} uses action ${id}`);
      actions.delete(id);
      return { message: "deleted" };
    },
    services: () => ({ data: SERVICES }),
    methods({ path }) {
      if (!SERVICES.includes(path.service)) throw notFound("Service", path.service);
      const methods = CATALOG.filter(({ service }) => service === path.service).map(({ method, paramsSchema }) => ({
        method,
        params: paramsSchema.required.map((name) => ({
          name,
          type: "string",
          required: true,
          description: `The ${name}`,
          default: "",
          example: name,
        })),
      }));
      return { data: methods };
    },
  };
}
