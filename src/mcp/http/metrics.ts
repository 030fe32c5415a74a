import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { ToolCallEvent } from "../../tool/index.ts";

const SECONDS = [0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300];

export interface Metrics {
  answered(status: number, seconds: number): void;
  refused(why: string): void;
  toolCalled(event: ToolCallEvent): void;
  inFlight(count: number): void;
  text(): Promise<{ readonly contentType: string; readonly body: string }>;
}

/** Figures of one server. Labels are names that we know ourselves: what callers write never becomes one. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: "simlock_mcp_request_seconds",
    help: "MCP requests until the first byte of their answer, by HTTP status.",
    labelNames: ["status"],
    buckets: SECONDS,
    registers,
  });
  const refusals = new Counter({
    name: "simlock_mcp_refused_total",
    help: "Requests that reached no tool, by reason.",
    labelNames: ["why"],
    registers,
  });
  const calls = new Histogram({
    name: "simlock_mcp_tool_call_seconds",
    help: "Tool calls, by tool and outcome.",
    labelNames: ["tool", "outcome"],
    buckets: SECONDS,
    registers,
  });
  const flying = new Gauge({ name: "simlock_mcp_in_flight", help: "Requests being served.", registers });
  return {
    answered: (status, seconds) => requests.observe({ status }, seconds),
    refused: (why) => refusals.inc({ why }),
    toolCalled: ({ toolName, outcome, durationMs }) => calls.observe({ tool: toolName, outcome }, durationMs / 1000),
    inFlight: (count) => flying.set(count),
    text: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
}
