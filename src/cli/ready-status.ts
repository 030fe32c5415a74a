import type { SimlockClient } from "../client/index.ts";
import { SimlockError, type Status } from "../contract/index.ts";

/** How long a daemon that has just been started may take to read its machine before we show what it knows so far. */
const LIMIT_MS = 20_000;

/** The daemon's status, once it knows its machine. Every operation but `status.get` waits for that in the daemon: the shortest of them is our bell. */
export async function readyStatus(client: SimlockClient): Promise<Status> {
  const first = await client.call("status.get", {});
  if (first.daemon.health !== "starting") return first;
  try {
    await client.call("lease.list", {}, { signal: AbortSignal.timeout(LIMIT_MS) });
  } catch (thrown) {
    // Still starting, or it failed to: the status itself says which. A lost connection is the caller's to tell.
    if (thrown instanceof SimlockError && thrown.code === "DAEMON_CONNECTION_LOST") throw thrown;
  }
  return client.call("status.get", {});
}
