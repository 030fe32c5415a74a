import type { Account } from "./account.ts";
import type { Devices } from "./device.ts";
import { screenshot } from "./phone/picture.ts";
import { uiState } from "./phone/ui-tree.ts";
import { Problem, notFound } from "./problem.ts";

export interface TaskEvent {
  readonly event: string;
  readonly data: unknown;
}

/** What a task was asked to do, as `POST /tasks` takes it. */
export interface TaskOrder {
  readonly deviceId: string;
  readonly task: string;
  readonly maxSteps?: number | undefined;
  readonly outputSchema?: Readonly<Record<string, unknown>> | null | undefined;
}

export interface VirtualTask {
  readonly id: string;
  readonly deviceId: string;
  readonly order: TaskOrder;
  status: string;
  steps: number;
  succeeded: boolean | null;
  message: string | null;
  output: unknown;
  readonly createdAt: string;
  updatedAt: string;
  dispatchedAt: string | null;
  finishedAt: string | null;
  cancelRequestedAt: string | null;
  readonly trajectory: TaskEvent[];
  /** Messages that wait for the next step. */
  readonly messages: string[];
  /** Links to what was on the screen at each step: pictures, and UI trees. */
  readonly media: { readonly s: string[]; readonly u: string[] };
}

export interface Tasks {
  all(): readonly VirtualTask[];
  get(id: string): VirtualTask;
  run(order: TaskOrder): VirtualTask;
  cancel(task: VirtualTask): void;
  /** Takes a message, which the next step applies. */
  say(task: VirtualTask): void;
  ended(task: VirtualTask): boolean;
  /** Resolves at the next event of the task. */
  changed(task: VirtualTask): Promise<void>;
}

const STEP_MS = 1000;
const STEPS = 3;
/** How many tasks are kept once they ended. */
const KEPT = 1000;
/** How many tasks may wait for one device: a schedule gives more of them without end. */
const MAX_QUEUED = 100;
/** A task does not outlive its device, nor that it is parked. */
const GONE: ReadonlySet<string> = new Set(["terminated", "stopped"]);
const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

/**
 * Agents that need no model: a task takes three steps and completes; one whose text has the word `fail` fails, and one with fewer than
 * three steps allowed runs out of them. A device works on one task at a time, the others queue.
 */
export function createTasks(account: Account, devices: Devices): Tasks {
  const all = new Map<string, VirtualTask>();
  const ended: string[] = [];
  const waiting = new Map<VirtualTask, PromiseWithResolvers<void>>();

  const queuedOn = (deviceId: string) =>
    [...all.values()].filter((task) => task.deviceId === deviceId && task.status === "queued");

  function tell(task: VirtualTask, event: string, data: unknown): void {
    task.trajectory.push({ event, data });
    task.updatedAt = account.now();
    waiting.get(task)?.resolve();
    waiting.delete(task);
  }

  function begin(task: VirtualTask): void {
    const device = devices.get(task.deviceId);
    device.activeTaskId = task.id;
    task.status = "created";
    task.dispatchedAt = account.now();
    tell(task, "CreatedEvent", { id: task.id, streamUrl: streamUrl(task) });
    account.clock.after(STEP_MS, () => {
      if (task.status !== "created") return;
      task.status = "running";
      tell(task, "StartEvent", {});
      account.clock.after(STEP_MS, () => step(task));
    });
  }

  function step(task: VirtualTask): void {
    if (task.status !== "running") return;
    if (GONE.has(devices.get(task.deviceId).state)) return end(task, "failed", "The device is gone");
    task.steps += 1;
    toldOf(task, "applied");
    const index = task.steps - 1;
    tell(task, "FastAgentResponseEvent", { thought: `Step ${task.steps} of: ${task.order.task}`, code: null });
    const { phone } = devices.get(task.deviceId);
    const tree = Buffer.from(JSON.stringify(uiState(phone, false)));
    task.media.s.push(account.link(`${task.id}/s/${index}`, "image/png", screenshot(phone, false)));
    task.media.u.push(account.link(`${task.id}/u/${index}`, "application/json", tree));
    tell(task, "ScreenshotEvent", { index, url: task.media.s[index] });
    tell(task, "RecordUIStateEvent", { index, url: task.media.u[index] });
    tell(task, "ToolExecutionEvent", { tool_name: "tap", tool_args: {}, success: true, summary: "Tapped" });
    if (task.steps === STEPS) {
      const bad = /\bfail\b/i.test(task.order.task);
      end(task, bad ? "failed" : "completed", bad ? "The task was to fail" : "Done");
    } else if (task.steps >= (task.order.maxSteps ?? STEPS)) {
      end(task, "failed", "Out of steps");
    } else {
      account.clock.after(STEP_MS, () => step(task));
    }
  }

  /** What became of the messages that waited for the next step. */
  function toldOf(task: VirtualTask, action: "applied" | "dropped"): void {
    if (task.messages.length === 0) return;
    const message_ids = task.messages.splice(0);
    tell(task, "UserMessageEvent", { action, message_ids, step_number: task.steps });
  }

  function end(task: VirtualTask, status: "completed" | "failed" | "cancelled", message: string): void {
    task.status = status;
    task.message = message;
    task.succeeded = status === "cancelled" ? null : status === "completed";
    task.output = status === "completed" && task.order.outputSchema ? exampleOf(task.order.outputSchema) : null;
    task.finishedAt = account.now();
    toldOf(task, "dropped");
    const device = devices.get(task.deviceId);
    ended.push(task.id);
    if (ended.length > KEPT) all.delete(ended.shift() ?? "");
    tell(task, "ResultEvent", { success: task.succeeded, message, steps: task.steps, structured_output: task.output });
    account.publish({
      type: `task.${status}`,
      source: "tasks",
      deviceId: task.deviceId,
      payload: { taskId: task.id, deviceId: task.deviceId, status },
    });
    if (device.activeTaskId !== task.id) return;
    device.activeTaskId = "";
    const [next] = queuedOn(device.id);
    if (next !== undefined) begin(next);
  }

  const tasks: Tasks = {
    all: () => [...all.values()],
    get(id) {
      const task = all.get(id);
      if (task === undefined) throw notFound("Task", id);
      return task;
    },
    run(order) {
      const device = devices.ready(order.deviceId);
      if (queuedOn(device.id).length >= MAX_QUEUED)
        throw new Problem(429, `Device ${device.id} has too many tasks waiting`);
      const at = account.now();
      const task: VirtualTask = {
        id: account.mint("tsk"),
        deviceId: device.id,
        order,
        status: "queued",
        steps: 0,
        succeeded: null,
        message: null,
        output: null,
        createdAt: at,
        updatedAt: at,
        dispatchedAt: null,
        finishedAt: null,
        cancelRequestedAt: null,
        trajectory: [],
        messages: [],
        media: { s: [], u: [] },
      };
      all.set(task.id, task);
      device.taskCount += 1;
      if (device.activeTaskId === "") begin(task);
      else tell(task, "QueuedEvent", { id: task.id, status: "queued" });
      return task;
    },
    cancel(task) {
      if (ENDED.has(task.status)) throw new Problem(409, `Task ${task.id} has ended`);
      if (task.status === "cancelling") return;
      task.cancelRequestedAt = account.now();
      if (task.status === "queued") return end(task, "cancelled", "Cancelled");
      task.status = "cancelling";
      tell(task, "CancelEvent", { reason: "asked for" });
      account.clock.after(STEP_MS, () => end(task, "cancelled", "Cancelled"));
    },
    say(task) {
      if (ENDED.has(task.status)) throw new Problem(409, `Task ${task.id} has ended`);
      const id = account.mint("msg");
      task.messages.push(id);
      tell(task, "UserMessageEvent", { action: "queued", message_ids: [id] });
    },
    ended: (task) => ENDED.has(task.status),
    changed(task) {
      const known = waiting.get(task) ?? Promise.withResolvers<void>();
      waiting.set(task, known);
      return known.promise;
    },
  };
  return tasks;
}

export function streamUrl(task: VirtualTask): string {
  return `wss://stream.virtual.test/${task.id}`;
}

/** A value that fits the properties of an output schema, as far as their types say. */
function exampleOf(schema: Readonly<Record<string, unknown>>): unknown {
  switch (schema["type"]) {
    case "boolean":
      return true;
    case "number":
    case "integer":
      return 1;
    case "string":
      return "virtual";
    case "array":
      return [];
    default: {
      const properties = schema["properties"];
      if (typeof properties !== "object" || properties === null) return {};
      return Object.fromEntries(
        Object.entries(properties as Record<string, Record<string, unknown>>).map(([name, inner]) => [
          name,
          exampleOf(inner),
        ]),
      );
    }
  }
}
