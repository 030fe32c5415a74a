import { PUSHES, type OperationInput, type OperationOutput } from "../contract/index.ts";
import { guarded } from "./announcements.ts";
import { answerOf, cancelled, withAbort } from "./answer.ts";
import type { Connection } from "./connection.ts";
import type { ApplyStateOptions } from "./types.ts";

/** How long an apply that was cancelled may take to end what is under way, undo a temporary boot and answer with its report. */
const CANCEL_LIMIT_MS = 180_000;

/** Changes a leased simulator. An abort ends it in the daemon; the report of what was done by then is still the answer. */
export async function applyState<N extends "state.apply" | "state.recover">(
  connection: Connection,
  operation: N,
  input: OperationInput<N>,
  { signal, onProgress }: ApplyStateOptions,
): Promise<OperationOutput<N>> {
  if (signal?.aborted === true) throw cancelled(operation);
  let limit: NodeJS.Timeout | undefined;
  const exchange = connection.send(operation, input, (push, payload) => {
    const progress = push === "state-progress" ? PUSHES["state-progress"].safeParse(payload).data?.progress : undefined;
    if (progress !== undefined) guarded(() => onProgress?.(progress));
  });
  const abort = (): void => {
    if (exchange.withdraw(cancelled(operation))) return;
    connection.send("call.cancel", { callId: exchange.id }).answer.catch(() => undefined);
    limit = setTimeout(() => exchange.abandon(cancelled(operation)), CANCEL_LIMIT_MS);
  };
  return withAbort(signal, abort, async () => {
    try {
      return answerOf(operation, await exchange.answer);
    } finally {
      clearTimeout(limit);
    }
  });
}
