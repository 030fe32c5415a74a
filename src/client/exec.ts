import { PUSHES, SimlockError, type OperationInput, type OperationOutput } from "../contract/index.ts";
import { guarded } from "./announcements.ts";
import { answerOf, withAbort } from "./answer.ts";
import type { Connection } from "./connection.ts";
import { OutputFlow } from "./output-flow.ts";
import type { ExecOptions } from "./types.ts";

/** How long a command that was cancelled may take to end: the daemon gives it SIGINT, SIGTERM and SIGKILL within this. */
const CANCEL_LIMIT_MS = 30_000;

/**
 * `device.exec` with its output. It answers when the command has ended **and** its consumer has had all of the output. An abort, and a consumer
 * that throws, end the command: the call then waits for its end, so that a recording is closed when the caller goes on.
 */
export async function exec(
  connection: Connection,
  input: OperationInput<"device.exec">,
  { signal, onStarted, onOutput, onActivity }: ExecOptions,
): Promise<OperationOutput<"device.exec">> {
  if (signal?.aborted === true) throw ended(input);
  let stopped: { readonly why: unknown } | undefined;
  let limit: NodeJS.Timeout | undefined;

  const flow = new OutputFlow({
    onOutput,
    credit: (characters) => connection.tell("credit", { requestId: exchange.id, characters }),
    stop,
  });
  const exchange = connection.send("device.exec", input, (push, payload) => {
    if (push === "output") {
      const { data } = PUSHES.output.safeParse(payload);
      if (data !== undefined) flow.push(data.stream, data.chunk);
    } else if (push === "started") guarded(() => onStarted?.());
    else if (push === "activity") {
      const { data } = PUSHES.activity.safeParse(payload);
      if (data !== undefined) guarded(() => onActivity?.({ stdout: data.stdout, stderr: data.stderr }));
    }
  });

  function stop(why: unknown): void {
    if (stopped !== undefined) return;
    stopped = { why };
    flow.discard();
    if (exchange.withdraw(why)) return;
    connection.send("call.cancel", { callId: exchange.id }).answer.catch(() => undefined);
    limit = setTimeout(() => exchange.abandon(why), CANCEL_LIMIT_MS);
  }

  return withAbort(
    signal,
    () => stop(ended(input)),
    async () => {
      try {
        const result = answerOf("device.exec", await exchange.answer);
        await flow.drained();
        if (stopped === undefined) return result;
      } catch (error) {
        if (stopped === undefined || isLost(error)) throw error;
      } finally {
        clearTimeout(limit);
      }
      throw stopped.why;
    },
  );
}

function ended(input: OperationInput<"device.exec">): SimlockError {
  return new SimlockError("EXEC_CANCELLED", `The caller cancelled ${input.tool}, and the command was ended.`);
}

const isLost = (error: unknown): boolean => error instanceof SimlockError && error.code === "DAEMON_CONNECTION_LOST";
