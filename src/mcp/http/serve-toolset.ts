import type { ToolCallEvent } from "../../tool/index.ts";
import type { FailureStyle } from "../tool-result.ts";
import type { Toolset } from "../toolset.ts";
import { createMetrics } from "./metrics.ts";
import { serveHttp, type HttpService, type HttpSettings } from "./serve.ts";
import { toolsetServer, type CallContext } from "./toolset-server.ts";

export interface McpHttpOptions extends Pick<
  HttpSettings<CallContext>,
  "environment" | "credentials" | "contextOf" | "ready" | "log" | "clock"
> {
  readonly toolset: Toolset;
  readonly version: string;
  /** How tools' failures are written. */
  readonly failures?: FailureStyle;
}

/** Serves a toolset over MCP's Streamable HTTP. The toolset is closed with it. */
export async function serveMcpOverHttp(options: McpHttpOptions): Promise<HttpService> {
  const { toolset, version, contextOf, log } = options;
  const metrics = createMetrics();
  const counted = new WeakMap<CallContext, CallContext>();
  const service = await serveHttp<CallContext>({
    ...options,
    metrics,
    build: toolsetServer({
      toolset,
      version,
      failures: options.failures ?? "text",
      answerWithinMs: options.environment.MCP_REQUEST_TIMEOUT_MS,
      onFault: (tool, fault) => log("error", "tool_failed_unexpectedly", { tool, at: placeOf(fault) }),
    }),
    contextOf: async (credential, trace) => {
      const context = await contextOf(credential, trace);
      if (context === undefined) return undefined;
      const known = counted.get(context);
      if (known !== undefined) return known;
      const onToolCall = (event: ToolCallEvent) => {
        metrics.toolCalled(event);
        return context.gate.onToolCall?.(event);
      };
      const counting = { ...context, gate: { ...context.gate, onToolCall } };
      counted.set(context, counting);
      return counting;
    },
    ...(toolset.pingsInEveryEra === true ? { pingVersion: version } : {}),
  });
  return {
    url: service.url,
    close: async () => {
      await service.close();
      await toolset.close();
    },
  };
}

/** The kind of an error and where it was thrown. Its message is left out: it may hold what the client sent. */
function placeOf(fault: unknown): string {
  if (!(fault instanceof Error)) return typeof fault;
  const frame = fault.stack?.split("\n").find((line) => line.trimStart().startsWith("at "));
  return `${fault.name} ${frame?.trim() ?? ""}`;
}
