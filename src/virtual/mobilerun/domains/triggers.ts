import type { endpoints } from "../../../cloud/index.ts";
import type { Account } from "../account.ts";
import type { Handlers, Received } from "../handler.ts";
import { contains, paged, sorted } from "../paging.ts";
import { Problem } from "../problem.ts";
import { payloadErrors, type Trigger, type Workflows } from "../workflow.ts";

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

  /** A trigger of one moment fires at it; what cron expressions and recurrence rules mean is not worked out here. */
  function schedule(trigger: Trigger, rule: Fields["scheduleRule"]): void {
    trigger.nextFireTime = null;
    if (rule?.type !== "once") return;
    const at = Date.parse(rule.dateTime ?? "");
    if (Number.isNaN(at)) throw new Problem(400, "scheduleRule: once needs dateTime");
    trigger.nextFireTime = new Date(at).toISOString();
    account.clock.after(Math.max(0, at - account.clock.now()), () => {
      if (triggers.get(trigger.id) !== trigger || trigger.scheduleRule !== rule) return;
      trigger.nextFireTime = null;
      workflows.fire(trigger, { eventId: account.mint("evt"), payload: {}, deviceId: undefined });
    });
  }

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
      const timed = body.scheduleRule?.type === "cron" || body.scheduleRule?.type === "recurring";
      needed(timed && body.timezone === undefined, "timezone");
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
      schedule(trigger, body.scheduleRule);
      triggers.set(trigger.id, trigger);
      return { data: shown(trigger) };
    },
    update({ path, body }) {
      const trigger = workflows.trigger(path.triggerId);
      checkFields(trigger.activation, body);
      for (const [name, value] of Object.entries(body))
        if (value !== undefined) Object.assign(trigger, { [name]: value });
      if (body.scheduleRule !== undefined) schedule(trigger, body.scheduleRule);
      trigger.updatedAt = account.now();
      return { data: shown(trigger) };
    },
    remove({ path }) {
      const trigger = workflows.trigger(path.triggerId);
      const user = workflows.flowsOf(trigger)[0];
      if (user !== undefined) throw new Problem(409, `Flow ${user.id} uses trigger ${trigger.id}`);
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
