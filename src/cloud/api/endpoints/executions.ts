import { z } from "zod";
import { domain, get, json, post } from "../endpoint.ts";
import {
  data,
  direction,
  number,
  numberFields,
  opaque,
  optionalText,
  page,
  paging,
  text,
  textFields,
} from "../shapes.ts";

export const EXECUTION_STATUSES = [
  "pending",
  "running",
  "success",
  "failed",
  "cancelled",
  "skipped",
  "invalid",
] as const;

export const Execution = z.object({
  id: z.string(),
  ...textFields("flowId", "flowName", "triggerId", "triggerName", "status", "kind", "error", "eventId"),
  ...textFields("startedAt", "finishedAt", "createdBy"),
  result: opaque,
  /** Only when one execution is asked for. */
  files: z.array(z.object({ fileId: z.string(), ...textFields("filename", "mimeType"), sizeBytes: number })).nullish(),
});
export type Execution = z.infer<typeof Execution>;

const Metrics = z.object({
  ...numberFields("total", "avgDurationMs"),
  lastExecutionAt: text,
  byStatus: z.object(numberFields(...EXECUTION_STATUSES)).nullish(),
});

const range = { flowId: optionalText, triggerId: optionalText, from: optionalText, to: optionalText };

export const executions = domain("executions", {
  list: get("/executions", {
    query: z.strictObject({
      ...range,
      status: z.enum(EXECUTION_STATUSES).optional(),
      search: optionalText,
      orderBy: z.enum(["startedAt", "finishedAt", "status"]).optional(),
      orderByDirection: direction,
      ...paging,
    }),
    answer: json(page(Execution)),
  }),
  metrics: get("/executions/metrics", { query: z.strictObject(range), answer: json(data(Metrics)) }),
  get: get("/executions/{executionId}", { answer: json(data(Execution)) }),
  /** A conflict when it has ended. */
  abort: post("/executions/{executionId}/abort", { answer: json(data(Execution)), effects: ["destructive"] }),
});
