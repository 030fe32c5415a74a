import { PUSHES, SimlockError, type OperationInput, type OperationOutput } from "../contract/index.ts";
import { guarded } from "./announcements.ts";
import { answerOf, cancelled, withAbort } from "./answer.ts";
import type { Connection } from "./connection.ts";
import type { RequestLeaseOptions } from "./types.ts";

/**
 * `lease.request` and what an abort means at each point of it: not sent yet, and the daemon never hears of it; waiting, and it is taken back;
 * too late for that, and the grant that lands is given back at once. Either way no device is left leased to nobody.
 */
export async function requestLease(
  connection: Connection,
  input: OperationInput<"lease.request">,
  { signal, onProgress }: RequestLeaseOptions,
): Promise<OperationOutput<"lease.request">> {
  if (signal?.aborted === true) throw cancelled("lease.request");
  let aborted = false;
  const takeBack = (): void => {
    const requester = input.requesterId === undefined ? {} : { requesterId: input.requesterId };
    // Its own answer does not matter: the request's tells how it ended.
    connection.send("lease.cancel", requester).answer.catch(() => undefined);
  };
  const exchange = connection.send("lease.request", input, (push, payload) => {
    const progress = push === "progress" ? PUSHES.progress.safeParse(payload).data?.progress : undefined;
    if (progress === undefined) return;
    if (!aborted) guarded(() => onProgress?.(progress));
    // The device that was under way failed, and the request waits again: now it can be taken back.
    else if (progress.stage === "queued") takeBack();
  });
  const abort = (): void => {
    aborted = true;
    if (!exchange.withdraw(cancelled("lease.request"))) takeBack();
  };
  return withAbort(signal, abort, async () => {
    try {
      const grant = answerOf("lease.request", await exchange.answer);
      if (!aborted) return grant;
      await giveBack(connection, grant.lease.id);
    } catch (error) {
      if (!aborted || isLost(error)) throw error;
    }
    throw cancelled("lease.request");
  });
}

/** As well as can be: where it fails, the lease ends at its deadline. */
async function giveBack(connection: Connection, leaseId: string): Promise<void> {
  try {
    await connection.send("lease.release", { leaseId }).answer;
  } catch {
    // Nobody is left who could do anything about it.
  }
}

/** Then how the request ended is not known, which the caller should hear. */
const isLost = (error: unknown): boolean => error instanceof SimlockError && error.code === "DAEMON_CONNECTION_LOST";
