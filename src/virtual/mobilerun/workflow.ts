import type { Account, PublishedEvent } from "./account.ts";
import type { Devices } from "./device.ts";
import { Problem, notFound } from "./problem.ts";
import type { ScheduleRule } from "./schedule/moments.ts";
import type { Tasks } from "./task.ts";

export type Params = Readonly<Record<string, unknown>>;

export interface Action {
  readonly id: string;
  readonly catalogEntryId: string;
  name: string;
  description: string | null;
  readonly service: string;
  readonly method: string;
  params: Params;
  readonly createdAt: string;
  updatedAt: string;
}

export interface Trigger {
  readonly id: string;
  name: string;
  description: string | null;
  readonly activation: "event" | "schedule" | "custom";
  eventType: string | null;
  scheduleRule: ScheduleRule | null;
  customPayloadSchema: Params | null;
  timezone: string | null;
  conditions: { readonly all?: readonly unknown[] | undefined; readonly any?: readonly unknown[] | undefined };
  nextFireTime: string | null;
  readonly createdAt: string;
  updatedAt: string;
}

export interface FlowAction {
  readonly id: string;
  readonly actionId: string;
  readonly position: number;
  readonly continueOnError: boolean;
  readonly nameOverride: string | null;
  readonly overrides: { readonly params?: Params | undefined } | null;
  readonly parentFlowActionId: string | null;
  readonly createdAt: string;
}

export interface Flow {
  readonly id: string;
  name: string;
  description: string | null;
  triggerId: string;
  deviceIds: readonly string[];
  enabled: boolean;
  blockedAt: string | null;
  consecutiveFailures: number;
  cooldownScope: "flow" | "device";
  cooldownSeconds: number | null;
  lastTriggeredAt: string | null;
  lastFailureAt: string | null;
  lastFailureCode: string | null;
  readonly firedMs: Map<string, number>;
  readonly createdAt: string;
  updatedAt: string;
  actions: readonly FlowAction[];
  readonly settings: Record<string, unknown>;
}

export interface Execution {
  readonly id: string;
  readonly flow: Flow;
  readonly trigger: Trigger;
  status: "pending" | "running" | "success" | "failed" | "cancelled" | "skipped" | "invalid";
  error: string | null;
  readonly eventId: string;
  readonly startedAt: string;
  readonly startedMs: number;
  finishedAt: string | null;
  durationMs: number | null;
  steps: readonly { readonly status: string; readonly verdict: null }[];
}

export interface Occurrence {
  readonly eventId: string;
  readonly payload: Params;
  readonly deviceId: string | undefined;
}

export interface Workflows {
  readonly actions: Map<string, Action>;
  readonly triggers: Map<string, Trigger>;
  readonly flows: Map<string, Flow>;
  readonly executions: Execution[];
  action(id: string): Action;
  trigger(id: string): Trigger;
  flow(id: string): Flow;
  execution(id: string): Execution;
  flowsOf(trigger: Trigger): readonly Flow[];
  gates(flow: Flow, deviceId: string | undefined): Gates;
  /** Lets every flow of a trigger run that its gates let through; answers how many did. */
  fire(trigger: Trigger, occurrence: Occurrence): number;
  finish(execution: Execution, status: "success" | "failed" | "cancelled", error: string | null): void;
}

export interface Gates {
  readonly enabled: boolean;
  readonly blocked: boolean;
  /** Null when the flow has no cooldown. */
  readonly cooldownActive: boolean | null;
  readonly deviceAttached: boolean;
  readonly deviceIds: readonly string[];
}

const RUN_MS = 1000;
/** How many executions are kept: a schedule makes them with nobody looking. */
const KEPT = 1000;
/** A flow that fails so often in a row is blocked until somebody unblocks it. */
const MAX_FAILURES = 3;

export function createWorkflows(account: Account, devices: Devices, tasks: Tasks): Workflows {
  const actions = new Map<string, Action>();
  const triggers = new Map<string, Trigger>();
  const flows = new Map<string, Flow>();
  const executions: Execution[] = [];

  function find<T>(what: string, all: ReadonlyMap<string, T>, id: string): T {
    const found = all.get(id);
    if (found === undefined) throw notFound(what, id);
    return found;
  }

  /** Runs a flow's actions in their order. A task that can't be started fails its step, and the flow unless it may go on. */
  function run(execution: Execution): void {
    if (execution.status !== "pending") return;
    execution.status = "running";
    const failures: string[] = [];
    const ordered = [...execution.flow.actions].sort((a, b) => a.position - b.position);
    const steps: { status: string; verdict: null }[] = [];
    for (const binding of ordered) {
      const why = carryOut(execution.flow, binding);
      steps.push({ status: why === undefined ? "success" : "failed", verdict: null });
      if (why === undefined || binding.continueOnError) continue;
      failures.push(why);
      break;
    }
    execution.steps = steps;
    account.clock.after(RUN_MS, () => {
      if (execution.status !== "running") return;
      workflows.finish(execution, failures.length === 0 ? "success" : "failed", failures[0] ?? null);
    });
  }

  function carryOut(flow: Flow, binding: FlowAction): string | undefined {
    const action = actions.get(binding.actionId);
    if (action === undefined) return `Action ${binding.actionId} is gone`;
    if (action.method !== "tasks.run") return undefined;
    const params = { ...action.params, ...binding.overrides?.params };
    try {
      for (const deviceId of flow.deviceIds) tasks.run({ deviceId, task: String(params["task"] ?? "") });
      return undefined;
    } catch (thrown) {
      return thrown instanceof Problem ? thrown.message : "The action failed";
    }
  }

  const workflows: Workflows = {
    actions,
    triggers,
    flows,
    executions,
    action: (id) => find("Action", actions, id),
    trigger: (id) => find("Trigger", triggers, id),
    flow: (id) => find("Flow", flows, id),
    execution(id) {
      const found = executions.find((execution) => execution.id === id);
      if (found === undefined) throw notFound("Execution", id);
      return found;
    },
    flowsOf: (trigger) => [...flows.values()].filter(({ triggerId }) => triggerId === trigger.id),
    gates(flow, deviceId) {
      const fired = flow.firedMs.get(flow.cooldownScope === "device" ? (deviceId ?? "") : "");
      const cooling = flow.cooldownSeconds ?? 0;
      return {
        enabled: flow.enabled,
        blocked: flow.blockedAt !== null,
        cooldownActive: cooling === 0 ? null : fired !== undefined && account.clock.now() - fired < cooling * 1000,
        deviceAttached: deviceId === undefined || flow.deviceIds.length === 0 || flow.deviceIds.includes(deviceId),
        deviceIds: flow.deviceIds,
      };
    },
    fire(trigger, { eventId, payload, deviceId }) {
      if (!conditionsPass(trigger.conditions, payload)) return 0;
      let enqueued = 0;
      for (const flow of workflows.flowsOf(trigger)) {
        if (!open(workflows.gates(flow, deviceId))) continue;
        const startedMs = account.clock.now();
        flow.firedMs.set(flow.cooldownScope === "device" ? (deviceId ?? "") : "", startedMs);
        flow.lastTriggeredAt = account.now();
        const execution: Execution = {
          id: account.mint("exe"),
          flow,
          trigger,
          status: "pending",
          error: null,
          eventId,
          startedAt: account.now(),
          startedMs,
          finishedAt: null,
          durationMs: null,
          steps: [],
        };
        executions.push(execution);
        if (executions.length > KEPT) executions.shift();
        enqueued += 1;
        account.clock.after(RUN_MS, () => run(execution));
      }
      return enqueued;
    },
    finish(execution, status, error) {
      const { flow } = execution;
      execution.status = status;
      execution.error = error;
      execution.finishedAt = account.now();
      execution.durationMs = account.clock.now() - execution.startedMs;
      if (status === "success") flow.consecutiveFailures = 0;
      if (status === "failed") {
        flow.consecutiveFailures += 1;
        flow.lastFailureAt = account.now();
        flow.lastFailureCode = flow.deviceIds.some((id) => !devices.all.has(id)) ? "device_not_found" : "client_error";
        if (flow.consecutiveFailures >= MAX_FAILURES) flow.blockedAt ??= account.now();
      }
      account.publish({
        type: `execution.${status}`,
        source: "workflows",
        payload: { executionId: execution.id, flowId: flow.id, status },
      });
    },
  };

  account.subscribe((event: PublishedEvent) => {
    // What workflows say of themselves starts none: a flow could fire itself without end.
    if (event.source === "workflows") return;
    for (const trigger of triggers.values()) {
      if (trigger.activation !== "event" || trigger.eventType !== event.type) continue;
      workflows.fire(trigger, { eventId: event.id, payload: event.payload, deviceId: event.deviceId });
    }
  });
  return workflows;
}

export function open(gates: Gates): boolean {
  return gates.enabled && !gates.blocked && gates.cooldownActive !== true && gates.deviceAttached;
}

/** `{field, value}` is held against the payload; elements of other forms, which nothing describes, let everything pass. */
export function conditionsPass(conditions: Trigger["conditions"], payload: Params): boolean {
  const holds = (condition: unknown) => {
    if (typeof condition !== "object" || condition === null) return true;
    const { field, value } = condition as Params;
    return typeof field !== "string" || payload[field] === value;
  };
  const any = conditions.any ?? [];
  return (conditions.all ?? []).every(holds) && (any.length === 0 || any.some(holds));
}

/** What a payload lacks, by the `required` and `properties` of a JSON Schema. */
export function payloadErrors(schema: Params | null, payload: Params): readonly { field: string; message: string }[] {
  const required = Array.isArray(schema?.["required"]) ? schema["required"].map(String) : [];
  const missing = required
    .filter((field) => payload[field] === undefined)
    .map((field) => ({ field, message: "is missing" }));
  const properties = Object.entries((schema?.["properties"] ?? {}) as Record<string, { type?: unknown }>);
  const wrong = properties.flatMap(([field, { type }]) =>
    payload[field] === undefined || typeof type !== "string" || isOfType(payload[field], type)
      ? []
      : [{ field, message: `must be a ${type}` }],
  );
  return [...missing, ...wrong];
}

function isOfType(value: unknown, type: string): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return Number.isInteger(value);
  return type === "null" ? value === null : typeof value === type;
}
