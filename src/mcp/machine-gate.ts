import type { ErrorCode } from "../contract/index.ts";
import {
  createAuthContext,
  fullAccessPolicy,
  type GateCode,
  type GateContext,
  type Tool,
  type ToolCallSink,
} from "../tool/index.ts";

/** The gate's failures under the names that all of Simlock has for them. Arguments that no schema takes keep theirs: MCP has words of its own for them. */
const CODES: Readonly<Partial<Record<GateCode | "internal", ErrorCode>>> = {
  forbidden: "FORBIDDEN",
  cancelled: "CANCELLED",
  internal: "INTERNAL",
};

/** The gate of a process that serves whoever has started it: everything that is classified is open to them. */
export function machineGate(caller: string, tools: readonly Tool[], onToolCall?: ToolCallSink): GateContext {
  const auth = createAuthContext({ kind: "machine", subject: caller, ownerId: caller });
  return { auth, policy: fullAccessPolicy(tools), onToolCall, codes: CODES };
}
