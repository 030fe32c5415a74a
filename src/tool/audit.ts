import type { AuthContext } from "./auth.ts";

/** One for each call that was asked for, whether it ran or not. Never arguments, results, tokens or secrets. */
export interface ToolCallEvent {
  /** `(unknown)` when there is no such tool: what the caller wrote in its place could be anything. */
  readonly toolName: string;
  /** Set for bundles. `(unknown)` when the tool has no such operation. */
  readonly operation?: string;
  readonly outcome: "ok" | "error" | "denied";
  /** Why it is not `ok`. */
  readonly code?: string;
  readonly durationMs: number;
  readonly requestId?: string;
  readonly auth: Pick<AuthContext, "kind" | "subject" | "ownerId" | "clientId">;
}

export type ToolCallSink = (event: ToolCallEvent) => void | Promise<void>;

export function auditedAuth(auth: AuthContext): ToolCallEvent["auth"] {
  return {
    kind: auth.kind,
    subject: auth.subject,
    ...(auth.ownerId === undefined ? {} : { ownerId: auth.ownerId }),
    ...(auth.clientId === undefined ? {} : { clientId: auth.clientId }),
  };
}

/** The call is over when this is said: whatever the sink does, its result stands. */
export function tell(sink: ToolCallSink | undefined, event: ToolCallEvent): void {
  try {
    sink?.(event)?.catch(() => {});
  } catch {
    // A sink that fails has lost its event, nothing else.
  }
}
