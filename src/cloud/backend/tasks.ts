import { z } from "zod";
import {
  anything,
  flag,
  flagFields,
  number,
  numberFields,
  opaque,
  page,
  stamps,
  text,
  textFields,
  texts,
  type Paging,
  type Within,
} from "./fields.ts";

export const TASK_STATUSES = [
  "queued",
  "created",
  "running",
  "cancelling",
  "paused",
  "completed",
  "failed",
  "cancelled",
] as const;
export type TaskStatusName = (typeof TASK_STATUSES)[number];

/** Without the credentials that it was given, and without what concerns the agent's inside. */
export const TaskSummary = z.object({
  id: text,
  ...textFields("deviceId", "llmModel", "task", "status", "message", "streamUrl"),
  displayId: number,
  apps: texts,
  files: texts,
  ...numberFields("maxSteps", "steps", "creditsUsed"),
  outputSchema: opaque,
  output: anything,
  ...flagFields("succeeded", "stealth", "vision"),
  ...textFields("dispatchedAt", "claimedAt", "finishedAt", "cancelRequestedAt"),
  ...stamps,
});
export type TaskSummary = z.input<typeof TaskSummary>;
export const TaskListItem = z.object({
  id: z.string(),
  ...textFields("deviceId", "llmModel", "status", "task", "message", "createdAt", "finishedAt"),
  displayId: number,
  ...flagFields("tmpDevice", "succeeded"),
  output: anything,
  ...numberFields("steps", "creditsUsed"),
});
export const DeviceTask = z.object({ taskId: z.string(), ...stamps });
export const TaskPage = page(TaskListItem);
export const DeviceTaskPage = page(DeviceTask);
export const TaskEvent = z.object({ event: z.string(), data: anything });
export type TaskEvent = z.input<typeof TaskEvent>;
export const TaskStatus = z.object({
  status: z.string(),
  steps: number,
  succeeded: flag,
  message: text,
  output: anything,
  lastResponse: TaskEvent.nullish(),
  execution: z
    .object({
      ...textFields("terminationReason", "retrySafety"),
      checkpoint: z.object({ steps: number, ...textFields("currentSubgoal", "plan", "progressSummary") }).nullish(),
    })
    .nullish(),
});
export type TaskStatus = z.input<typeof TaskStatus>;
export const StartedTask = z.object({ id: z.string(), status: text, streamUrl: text });

export interface TaskRequest {
  readonly deviceId: string;
  readonly task: string;
  readonly llmModel?: string | undefined;
  readonly maxSteps?: number | undefined;
  readonly outputSchema?: Record<string, unknown> | null | undefined;
  readonly stealth?: boolean | undefined;
  readonly vision?: boolean | undefined;
  readonly apps?: string[] | undefined;
  readonly credentials?: { packageName: string; credentialNames: string[] }[] | undefined;
  readonly files?: string[] | undefined;
}
export const TASK_ORDERS = ["id", "createdAt", "finishedAt", "status"] as const;
export const DEVICE_TASK_ORDERS = ["id", "createdAt", "updatedAt", "assignedAt"] as const;
export interface TaskFilter extends Paging {
  readonly orderBy?: (typeof TASK_ORDERS)[number] | undefined;
  readonly orderByDirection?: "asc" | "desc" | undefined;
  readonly query?: string | undefined;
  readonly status?: TaskStatusName | undefined;
}
export interface DeviceTaskFilter extends Paging {
  readonly deviceId: string;
  readonly orderBy?: (typeof DEVICE_TASK_ORDERS)[number] | undefined;
  readonly orderByDirection?: "asc" | "desc" | undefined;
}
export type MediaKind = "screenshot" | "ui_state";

export interface TasksBackend {
  runTask(task: TaskRequest, within?: Within): Promise<z.input<typeof StartedTask>>;
  getTaskSummary(taskId: string, within?: Within): Promise<TaskSummary>;
  getTaskStatus(taskId: string, within?: Within): Promise<TaskStatus>;
  getTaskTrajectory(taskId: string, within?: Within): Promise<{ events: TaskEvent[] }>;
  listTasks(filter: TaskFilter, within?: Within): Promise<z.input<typeof TaskPage>>;
  listDeviceTasks(filter: DeviceTaskFilter, within?: Within): Promise<z.input<typeof DeviceTaskPage>>;
  stopTask(taskId: string, within?: Within): Promise<{ cancelled?: boolean | null | undefined }>;
  sendTaskMessage(taskId: string, message: string, within?: Within): Promise<{ sent?: boolean | null | undefined }>;
  listTaskMedia(kind: MediaKind, taskId: string, within?: Within): Promise<{ urls: string[] | null }>;
  getTaskMedia(kind: MediaKind, taskId: string, index: number, within?: Within): Promise<{ url: string }>;
}
