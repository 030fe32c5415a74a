import type { Account, PublishedEvent } from "./account.ts";
import { carryOut } from "./carry-out.ts";
import type { Devices } from "./device.ts";
import { conditionsPass, type Conditions } from "./payload.ts";
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
  conditions: Conditions;
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
  readonly deviceId: string | undefined;
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

  /** Runs a flow's actions in their order, each before its children. One that fails ends the flow, unless it may be gone on from. */
  function run(execution: Execution): void {
    if (execution.status !== "pending") return;
    execution.status = "running";
    const steps: { status: string; verdict: null }[] = [];
    const failure = runLevel(execution, null, steps);
    execution.steps = steps;
    account.clock.after(RUN_MS, () => {
      if (execution.status !== "running") return;
      workflows.finish(execution, failure === undefined ? "success" : "failed", failure ?? null);
    });
  }

  function runLevel(
    execution: Execution,
    parent: string | null,
    steps: Execution["steps"][number][],
  ): string | undefined {
    for (const binding of levelOf(execution.flow, parent)) {
      const failure = runOne(execution, binding);
      steps.push({ status: failure === undefined ? "success" : "failed", verdict: null });
      const ended = failure === undefined ? runLevel(execution, binding.id, steps) : failure;
      if (ended !== undefined && !binding.continueOnError) return ended;
    }
    return undefined;
  }

  /** On the device that the event came from, or else on all of the flow's. Answers why it failed. */
  function runOne({ flow, deviceId }: Execution, binding: FlowAction): string | undefined {
    const action = actions.get(binding.actionId);
    if (action === undefined) return `Action ${binding.actionId} is gone`;
    const params = { ...action.params, ...binding.overrides?.params };
    try {
      if (action.method === "webhooks.send")
        account.publish({ type: "flow.notified", source: "workflows", payload: { flowId: flow.id, ...params } });
      for (const id of deviceId === undefined ? flow.deviceIds : [deviceId])
        carryOut(action.method, params, id, devices, tasks);
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
          deviceId,
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

/** A flow's actions below one of them, or those below none, in their order. */
export function levelOf(flow: Flow, parent: string | null): readonly FlowAction[] {
  return flow.actions
    .filter(({ parentFlowActionId }) => parentFlowActionId === parent)
    .sort((a, b) => a.position - b.position);
}

export function open(gates: Gates): boolean {
  return gates.enabled && !gates.blocked && gates.cooldownActive !== true && gates.deviceAttached;
}
