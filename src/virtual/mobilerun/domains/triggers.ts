import type { endpoints } from "../../../cloud/index.ts";
import type { Account } from "../account.ts";
import type { Handlers, Received } from "../handler.ts";
import { contains, paged, sorted } from "../paging.ts";
import { Problem } from "../problem.ts";
import { createSchedules } from "../schedule/schedules.ts";
import { payloadErrors } from "../payload.ts";
import type { Trigger, Workflows } from "../workflow.ts";

type Fields = Omit<Received<(typeof endpoints.triggers)["update"]>["body"], "name" | "description">;

/** Which fields belong to which activation. */
const FIELDS: Readonly<Record<Trigger["activation"], readonly (keyof Fields)[]>> = {
  event: ["eventType", "conditions"],
  schedule: ["scheduleRule", "timezone"],
  custom: ["customPayloadSchema", "conditions"],
};

export function triggerHandlers(account: Account, workflows: Workflows): Handlers<typeof endpoints.triggers> {
  const { triggers } = workflows;
  const shown = (trigger: Trigger) => ({ ...trigger, ...account.owner });

  const schedules = createSchedules<Trigger>(account, (trigger) =>
    workflows.fire(trigger, { eventId: account.mint("evt"), payload: {}, deviceId: undefined }),
  );

  return {
    list({ query }) {
      const found = [...triggers.values()].filter(
        (trigger) =>
          (query.activation === undefined || trigger.activation === query.activation) &&
          (query.eventType === undefined || trigger.eventType === query.eventType) &&
          contains(trigger.name, query.search),
      );
      return paged(sorted(found, query.orderBy, query.orderByDirection).map(shown), query);
    },
    get: ({ path }) => ({ data: shown(workflows.trigger(path.triggerId)) }),
    create({ body }) {
      checkFields(body.activation, body);
      needed(body.activation === "event" && body.eventType === undefined, "eventType");
      needed(body.activation === "schedule" && body.scheduleRule === undefined, "scheduleRule");
      const at = account.now();
      const trigger: Trigger = {
        id: account.mint("trg"),
        name: body.name,
        description: body.description ?? null,
        activation: body.activation,
        eventType: body.eventType ?? null,
        scheduleRule: body.scheduleRule ?? null,
        customPayloadSchema: body.customPayloadSchema ?? null,
        timezone: body.timezone ?? null,
        conditions: body.conditions ?? { all: [], any: [] },
        nextFireTime: null,
        createdAt: at,
        updatedAt: at,
      };
      if (body.scheduleRule !== undefined) schedules.follow(trigger, body.scheduleRule, trigger.timezone);
      triggers.set(trigger.id, trigger);
      return { data: shown(trigger) };
    },
    update({ path, body }) {
      const trigger = workflows.trigger(path.triggerId);
      checkFields(trigger.activation, body);
      const rule = body.scheduleRule ?? trigger.scheduleRule;
      if (rule !== null && (body.scheduleRule !== undefined || body.timezone !== undefined)) {
        schedules.follow(trigger, rule, body.timezone ?? trigger.timezone);
      }
      for (const [name, value] of Object.entries(body))
        if (value !== undefined) Object.assign(trigger, { [name]: value });
      trigger.updatedAt = account.now();
      return { data: shown(trigger) };
    },
    remove({ path }) {
      const trigger = workflows.trigger(path.triggerId);
      const user = workflows.flowsOf(trigger)[0];
      if (user !== undefined) throw new Problem(409, `Flow ${user.id} uses trigger ${trigger.id}`);
      schedules.drop(trigger);
      triggers.delete(trigger.id);
      return { message: "deleted" };
    },
    fire({ path, body }) {
      const trigger = workflows.trigger(path.triggerId);
      if (trigger.activation !== "custom") throw new Problem(409, "Only a custom trigger can be fired");
      const payload = body.payload ?? {};
      const [error] = payloadErrors(trigger.customPayloadSchema, payload);
      if (error !== undefined) throw new Problem(422, `payload.${error.field} ${error.message}`);
      const invocationId = account.mint("inv");
      return {
        invocationId,
        enqueuedCount: workflows.fire(trigger, { eventId: invocationId, payload, deviceId: undefined }),
      };
    },
  };
}

function needed(missing: boolean, field: string): void {
  if (missing) throw new Problem(400, `${field} is needed`);
}

function checkFields(activation: Trigger["activation"], body: Fields): void {
  for (const field of new Set(Object.values(FIELDS).flat())) {
    if (body[field] !== undefined && !FIELDS[activation].includes(field)) {
      throw new Problem(400, `${field} does not belong to a trigger of activation ${activation}`);
    }
  }
}
