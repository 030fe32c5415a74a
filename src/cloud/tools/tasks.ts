import { z } from "zod";
import {
  DEVICE_TASK_ORDERS,
  DeviceTask,
  StartedTask,
  TASK_ORDERS,
  TASK_STATUSES,
  TaskEvent,
  TaskListItem,
  TaskStatus,
  TaskSummary,
} from "../backend/tasks.ts";
import { PageMeta } from "../backend/fields.ts";
import { bundle, single, type DevicesOf } from "./declare.ts";
import { deviceId, flag, id, json, page, waitSeconds } from "./inputs.ts";
import { pageOf } from "./own-devices.ts";
import type { Use } from "./use.ts";
import { waitUntil } from "./waiting.ts";

const taskId = id.describe("Task id, from run_task or list_tasks.");
const ENDED = new Set(["completed", "failed", "cancelled"]);
const POLL_MS = 2000;

/** A task does not say in its id whose device it runs on. */
const deviceOfTask: DevicesOf = async ({ taskId: task }, { backend, within }) => {
  const { deviceId: device } = await backend.tasks.getTaskSummary(String(task), within);
  return [device ?? ""];
};

export const runTask = single({
  name: "run_task",
  title: "Run an agent task",
  description:
    "Give a device's own agent a task in plain words. It costs credits. Returns at once with the task's id; with waitSeconds it waits for the end and tells the outcome. A wait that ends, or is cancelled, leaves the task running: see get_task, stop_task.",
  input: z.strictObject({
    deviceId,
    task: z.string().min(1),
    llmModel: z.string().optional().describe("From platform_catalog catalog=models."),
    maxSteps: z.int().positive().optional(),
    outputSchema: json.nullable().optional().describe("A JSON Schema that the task's output shall meet."),
    stealth: flag.optional(),
    vision: flag.optional(),
    apps: z.array(z.string()).optional(),
    credentials: z
      .array(z.strictObject({ packageName: id, credentialNames: z.array(id) }))
      .optional()
      .describe("Stored credentials, by app and name; their values never pass through here."),
    files: z.array(z.string()).optional(),
    waitSeconds: waitSeconds.optional(),
  }),
  answer: StartedTask.extend({
    finished: z.boolean().optional().describe("Only with waitSeconds: whether it ended in time."),
    ...TaskStatus.pick({ steps: true, succeeded: true, message: true, output: true }).shape,
  }),
  effects: ["write"],
  billed: true,
  async run({ waitSeconds: seconds = 0, ...task }, use) {
    const started = await use.backend.tasks.runTask(task, use.within);
    if (seconds === 0) return { ...started };
    const { finished, status } = await untilEnded(started.id, seconds, use);
    const { steps, succeeded, message, output } = status;
    return { ...started, status: status.status, finished, steps, succeeded, message, output: output ?? null };
  },
});

/** The last status seen, ended or not. */
async function untilEnded(task: string, seconds: number, use: Use) {
  let status = await use.backend.tasks.getTaskStatus(task, use.within);
  if (ENDED.has(status.status)) return { finished: true, status };
  const ended = await waitUntil(use, {
    seconds,
    everyMs: POLL_MS,
    message: () => `Task ${task} is ${status.status}${status.steps ? `, step ${status.steps}` : ""}.`,
    async look() {
      status = await use.backend.tasks.getTaskStatus(task, use.within);
      return ENDED.has(status.status) ? true : undefined;
    },
  });
  return { finished: ended === true, status };
}

const TRAJECTORY_BYTES = 24_000;
const MAX_EVENTS = 50;

export const getTask = bundle(
  {
    name: "get_task",
    title: "Show a task",
    description:
      "One task: its summary, its status (with waitSeconds: once it has ended), or its trajectory, the events of its run in pages.",
    by: "view",
    devices: deviceOfTask,
    fields: {
      taskId,
      offset: z.int().min(0).describe("For trajectory: nextOffset of the answer before."),
      limit: z.int().min(1).max(MAX_EVENTS).describe(`For trajectory: events, ${MAX_EVENTS} when left out.`),
      waitSeconds,
    },
  },
  (operation) => ({
    summary: operation({
      effects: ["read"],
      anyDevice: true,
      needs: ["taskId"],
      answer: TaskSummary,
      run: ({ taskId: task }, { backend, within }) => backend.tasks.getTaskSummary(task, within),
    }),
    status: operation({
      effects: ["read"],
      anyDevice: true,
      needs: ["taskId"],
      may: ["waitSeconds"],
      answer: TaskStatus,
      async run({ taskId: task, waitSeconds: seconds = 0 }, use) {
        if (seconds === 0) return use.backend.tasks.getTaskStatus(task, use.within);
        return (await untilEnded(task, seconds, use)).status;
      },
    }),
    trajectory: operation({
      effects: ["read"],
      anyDevice: true,
      needs: ["taskId"],
      may: ["offset", "limit"],
      answer: z.object({
        total: z.int(),
        offset: z.int(),
        eventCount: z.int(),
        hasMore: z.boolean(),
        nextOffset: z.int().optional(),
        events: z.array(TaskEvent),
      }),
      async run({ taskId: task, offset = 0, limit = MAX_EVENTS }, { backend, within }) {
        const { events } = await backend.tasks.getTaskTrajectory(task, within);
        const page = withinBytes(events.slice(offset, offset + limit).map(withoutScreen));
        const next = offset + page.length;
        const hasMore = next < events.length;
        const more = hasMore ? { nextOffset: next } : {};
        return { total: events.length, offset, eventCount: page.length, hasMore, ...more, events: page };
      },
    }),
  }),
);

/**
 * What a task recorded of a screen, or the link to it, holds what was typed into password fields. The event says that there is one: the way to it is
 * get_task_media with kind=ui_state, for whom that is open.
 */
function withoutScreen({ event, data }: z.input<typeof TaskEvent>): z.input<typeof TaskEvent> {
  if (!/ui_?states?/i.test(event)) return { event, data };
  const index: unknown = typeof data === "object" && data !== null ? Reflect.get(data, "index") : undefined;
  return { event, data: typeof index === "number" ? { index } : {} };
}

const EVENT_BYTES = 8000;

/** As many as fit; at least one, and of one that is too big itself only its beginning. */
function withinBytes(events: readonly z.input<typeof TaskEvent>[]): z.input<typeof TaskEvent>[] {
  const page: z.input<typeof TaskEvent>[] = [];
  let used = 0;
  for (const { event, data } of events) {
    const text = JSON.stringify(data) ?? "null";
    const small = text.length > EVENT_BYTES ? { clipped: `${text.slice(0, EVENT_BYTES)}…`, length: text.length } : data;
    used += Math.min(text.length, EVENT_BYTES) + event.length;
    if (page.length > 0 && used > TRAJECTORY_BYTES) break;
    page.push({ event, data: small });
  }
  return page;
}

export const listTasks = single({
  name: "list_tasks",
  title: "List tasks",
  description:
    "List tasks, newest first unless ordered otherwise. With deviceId: the tasks of one device, which cannot be filtered by query or status.",
  input: z
    .strictObject({
      deviceId: deviceId.optional(),
      orderBy: z.enum([...new Set([...TASK_ORDERS, ...DEVICE_TASK_ORDERS])]).optional(),
      orderByDirection: z.enum(["asc", "desc"]).optional(),
      page: page.optional(),
      pageSize: z.int().positive().optional(),
      query: z.string().optional(),
      status: z.enum(TASK_STATUSES).optional(),
    })
    .superRefine((filter, context) => {
      const wrong = wrongFilter(filter);
      if (wrong !== undefined) context.addIssue({ code: "custom", message: wrong });
    }),
  answer: z.object({
    items: z.array(z.union([TaskListItem, DeviceTask])).nullable(),
    pagination: PageMeta,
    deviceScoped: z.boolean(),
  }),
  effects: ["read"],
  async run({ deviceId: device, orderBy, query, status, ...rest }, { backend, within, devices }) {
    if (device !== undefined) {
      const order = DEVICE_TASK_ORDERS.find((known) => known === orderBy);
      const found = await backend.tasks.listDeviceTasks({ ...rest, deviceId: device, orderBy: order }, within);
      return { ...found, items: found.items ?? [], deviceScoped: true };
    }
    const order = TASK_ORDERS.find((known) => known === orderBy);
    const found = await backend.tasks.listTasks({ ...rest, orderBy: order, query, status }, within);
    const all = found.items ?? [];
    if (devices === undefined) return { ...found, items: all, deviceScoped: false };
    const items = all.filter(({ deviceId: of }) => devices.has(of ?? ""));
    return { items, pagination: pageOf(items, found.pagination), deviceScoped: false };
  },
});

function wrongFilter(filter: {
  deviceId?: string | undefined;
  orderBy?: string | undefined;
  query?: unknown;
  status?: unknown;
}) {
  const scoped = filter.deviceId !== undefined;
  const orders: readonly string[] = scoped ? DEVICE_TASK_ORDERS : TASK_ORDERS;
  const where = scoped ? "with deviceId" : "without deviceId";
  if (filter.orderBy !== undefined && !orders.includes(filter.orderBy)) {
    return `orderBy ${filter.orderBy} is not valid ${where}; allowed: ${orders.join(", ")}`;
  }
  const refused = (["query", "status"] as const).filter((field) => scoped && filter[field] !== undefined);
  return refused.length > 0 ? `filter ${refused.join(", ")} is not valid with deviceId` : undefined;
}

export const stopTask = single({
  name: "stop_task",
  title: "Stop a task",
  description: "Cancel a task that has not ended.",
  input: z.strictObject({ taskId }),
  answer: z.object({ cancelled: z.boolean().nullish() }),
  effects: ["destructive"],
  anyDevice: true,
  devices: deviceOfTask,
  run: (input, { backend, within }) => backend.tasks.stopTask(input.taskId, within),
});

export const sendTaskMessage = single({
  name: "send_task_message",
  title: "Tell a running task something",
  description:
    "Queue a message for the agent of a running task. Whether it was taken up shows in the trajectory, as a UserMessageEvent.",
  input: z.strictObject({ taskId, message: z.string().min(1) }),
  answer: z.object({ sent: z.boolean().nullish() }),
  effects: ["write"],
  billed: true,
  anyDevice: true,
  devices: deviceOfTask,
  run: (input, { backend, within }) => backend.tasks.sendTaskMessage(input.taskId, input.message, within),
});

const index = z.int().min(0);
const Links = z.object({ url: z.string().optional(), urls: z.array(z.string()).nullable().optional() });

export const getTaskMedia = bundle(
  {
    name: "get_task_media",
    title: "Show a task's pictures and screens",
    description:
      "Links to the screenshots or UI states of a task's steps; with index to one of them. They expire soon.",
    by: "kind",
    devices: deviceOfTask,
    fields: { taskId, index },
  },
  (operation) => ({
    screenshot: operation({
      effects: ["read"],
      anyDevice: true,
      needs: ["taskId"],
      may: ["index"],
      answer: Links,
      run: ({ taskId: task, index: which }, use) => media("screenshot", task, which, use),
    }),
    ui_state: operation({
      effects: ["read"],
      // The link leads to the tree as the platform has it, with what was typed into password fields.
      reveals: true,
      anyDevice: true,
      needs: ["taskId"],
      may: ["index"],
      answer: Links,
      run: ({ taskId: task, index: which }, use) => media("ui_state", task, which, use),
    }),
  }),
);

async function media(
  kind: "screenshot" | "ui_state",
  task: string,
  which: number | undefined,
  { backend, within }: Use,
) {
  if (which === undefined) return backend.tasks.listTaskMedia(kind, task, within);
  return backend.tasks.getTaskMedia(kind, task, which, within);
}
