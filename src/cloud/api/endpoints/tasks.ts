import { z } from "zod";
import { domain, events, get, json, post } from "../endpoint.ts";
import {
  direction,
  flag,
  flagFields,
  given,
  list,
  mine,
  number,
  numberFields,
  opaque,
  optionalFlag,
  optionalText,
  page,
  paging,
  text,
  textFields,
  texts,
} from "../shapes.ts";

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
/** Countries that a task's VPN can leave from. */
export const VPN_COUNTRIES = ["US", "BR", "FR", "DE", "IN", "JP", "KR", "ZA"] as const;

export const TaskEvent = z.object({ event: z.string(), data: z.unknown().optional() });
export type TaskEvent = z.infer<typeof TaskEvent>;

export const Task = z.object({
  id: z.string(),
  deviceId: text,
  displayId: number,
  ...textFields("llmModel", "task", "status", "message", "streamUrl", "subagentModel", "memoryNamespace", "vpnCountry"),
  ...flagFields("tmpDevice", "reasoning", "vision", "stealth", "accessibility", "continueOnFailure", "succeeded"),
  ...numberFields("agentId", "maxSteps", "executionTimeout", "temperature", "steps", "creditsUsed"),
  apps: texts,
  files: texts,
  credentials: z.array(z.object({ packageName: z.string(), credentialNames: texts })).nullish(),
  outputSchema: opaque,
  output: z.unknown().optional(),
  ...textFields("createdAt", "dispatchedAt", "claimedAt", "finishedAt", "cancelRequestedAt", "updatedAt"),
  ...textFields("ownerId", "createdBy"),
});
export type Task = z.infer<typeof Task>;

const TaskStatus = z.object({
  status: z.string(),
  steps: number,
  succeeded: flag,
  message: text,
  output: z.unknown().optional(),
  lastResponse: TaskEvent.nullish(),
  /** How it ended when it ended badly. */
  execution: z
    .object({
      ...textFields("terminationReason", "retrySafety"),
      checkpoint: z.object({ steps: number, ...textFields("currentSubgoal", "plan", "progressSummary") }).nullish(),
    })
    .nullish(),
});

export const TaskRequest = z.strictObject({
  deviceId: given,
  task: given,
  apps: z.array(z.string()).optional(),
  credentials: z.array(z.strictObject({ packageName: given, credentialNames: z.array(given) })).optional(),
  files: z.array(z.string()).optional(),
  llmModel: optionalText,
  maxSteps: z.int().positive().optional(),
  outputSchema: z.record(z.string(), z.unknown()).nullable().optional(),
  stealth: optionalFlag,
  vision: optionalFlag,
  accessibility: optionalFlag,
  agentId: z.number().optional(),
  continueOnFailure: optionalFlag,
  displayId: z.int().min(0).optional(),
  /** Seconds. */
  executionTimeout: z.number().positive().optional(),
  memoryNamespace: optionalText,
  reasoning: optionalFlag,
  subagentModel: optionalText,
  temperature: z.number().optional(),
  vpnCountry: z.enum(VPN_COUNTRIES).nullable().optional(),
});

const urls = json(z.object({ urls: list(z.string()) }));
const url = json(z.object({ url: z.string() }));

export const tasks = domain("tasks", {
  /** Costs credits. With an idempotency key it is made once, however often it is sent. */
  run: post("/tasks", {
    body: json(TaskRequest),
    headers: ["idempotencyKey"],
    answer: json(z.object({ id: z.string(), status: text, streamUrl: text })),
    effects: ["write", "commerce"],
    retry: "withKey",
  }),
  list: get("/tasks", {
    query: z.strictObject({
      orderBy: z.enum(["id", "createdAt", "finishedAt", "status"]).optional(),
      orderByDirection: direction,
      query: optionalText,
      status: z.enum(TASK_STATUSES).optional(),
      ...paging,
      ...mine,
    }),
    answer: json(page(Task)),
  }),
  get: get("/tasks/{taskId}", { answer: json(z.object({ task: Task })) }),
  status: get("/tasks/{taskId}/status", { answer: json(TaskStatus) }),
  trajectory: get("/tasks/{taskId}/trajectory", { answer: json(z.object({ trajectory: list(TaskEvent) })) }),
  /** An error when it has ended. */
  cancel: post("/tasks/{taskId}/cancel", { answer: json(z.object({ cancelled: flag })), effects: ["destructive"] }),
  message: post("/tasks/{taskId}/message", {
    body: json(z.strictObject({ message: given })),
    answer: json(z.object({ sent: flag })),
  }),
  /** Links that are good for a short while. */
  screenshots: get("/tasks/{taskId}/screenshots", { answer: urls }),
  screenshot: get("/tasks/{taskId}/screenshots/{index}", { answer: url }),
  uiStates: get("/tasks/{taskId}/ui_states", { answer: urls }),
  uiState: get("/tasks/{taskId}/ui_states/{index}", { answer: url }),
  /** Runs a task and tells its events; letting go of the stream cancels it. */
  stream: post("/tasks/stream", { body: json(TaskRequest), answer: events, effects: ["write", "commerce"] }),
  /** The events of a task that runs; letting go changes nothing. */
  attach: get("/tasks/{taskId}/attach", { answer: events }),
});
