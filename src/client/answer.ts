import { OPERATIONS, SimlockError, type OperationName, type OperationOutput } from "../contract/index.ts";

/** An answer in the form of its operation. Fields that this version doesn't know are dropped; one that it needs and can't read is refused. */
export function answerOf<N extends OperationName>(operation: N, payload: unknown): OperationOutput<N>;
// The table pairs each name with its schema; within the function only their union is known.
export function answerOf(operation: OperationName, payload: unknown): unknown {
  const parsed = OPERATIONS[operation].output.safeParse(payload);
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues[0]?.path.map(String).join(".") ?? "";
  throw new SimlockError(
    "UNKNOWN_DAEMON_ERROR",
    `The daemon answered ${operation} in a form that this version can't read${where === "" ? "" : ` (${where})`}.`,
    { cause: parsed.error },
  );
}

export function cancelled(operation: OperationName): SimlockError {
  return new SimlockError("CANCELLED", `The caller cancelled ${operation}.`);
}

/** Runs `work` with `onAbort` listening on the signal. */
export async function withAbort<T>(
  signal: AbortSignal | undefined,
  onAbort: () => void,
  work: () => Promise<T>,
): Promise<T> {
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    return await work();
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}
