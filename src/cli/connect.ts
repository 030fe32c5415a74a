import { watch } from "node:fs";
import { connectSimlock, type SimlockClient } from "../client/index.ts";
import { SimlockError } from "../contract/index.ts";
import type { Context } from "./context.ts";
import { adminCredential } from "./credential.ts";
import { writeJson } from "./io.ts";
import { launchDaemon } from "./launch.ts";
import { VERSION } from "./version.ts";

export interface ConnectHow {
  /** Start the daemon where nothing listens. Never on a refused handshake. */
  readonly launch: boolean;
  /** Present the admin secret. Agent commands never do. */
  readonly admin?: boolean;
}

/** Starting, losing the race to another starter and waiting for the winner: all of it. */
const REACH_LIMIT_MS = 45_000;
const PAUSE_MS = 100;

/** A connection to the home's daemon, started on demand. Throws what the client throws, and `DAEMON_STARTUP_FAILED`. */
export async function connect(context: Context, how: ConnectHow): Promise<SimlockClient> {
  const deadline = performance.now() + REACH_LIMIT_MS;
  for (;;) {
    try {
      return await dial(context, how);
    } catch (thrown) {
      if (!how.launch || !nothingListens(thrown) || performance.now() > deadline) throw thrown;
    }
    // Two commands that start at once both try; the daemon's claim on its home lets one through, and the other waits for it here.
    if ((await launchDaemon(context)) === "already-running") await homeChange(context.home.path);
  }
}

async function dial(context: Context, how: ConnectHow): Promise<SimlockClient> {
  const base = {
    socketPath: context.layout.socket,
    principal: context.principal,
    virtual: context.home.virtual,
    clientVersion: VERSION,
  };
  if (how.admin !== true) return connectSimlock(base);
  // The secret is made anew at each start: read before the socket is known to answer, it could be the last daemon's.
  await (await connectSimlock(base)).close();
  const credential = await adminCredential(context);
  if (credential === undefined) {
    const notice = `No admin secret in ${context.layout.adminToken}: going on as an agent. Pass --token, or set SIMLOCK_ADMIN_TOKEN.`;
    await writeJson(context.io.stderr, { notice });
  }
  return connectSimlock({ ...base, credential });
}

export function nothingListens(thrown: unknown): boolean {
  return thrown instanceof SimlockError && thrown.code === "DAEMON_UNREACHABLE";
}

/** Waits for something to change in a folder, a short while at most: a socket that appears is such a change. */
function homeChange(path: string): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      watcher?.close();
      resolve();
    };
    const timer = setTimeout(done, PAUSE_MS);
    let watcher: ReturnType<typeof watch> | undefined;
    try {
      watcher = watch(path, done);
      watcher.once("error", done);
    } catch {
      // Not there yet: the timer looks again.
    }
  });
}

/** Connects, does the work, and hangs up, however it ends. */
export async function withClient<T>(
  context: Context,
  how: ConnectHow,
  work: (client: SimlockClient) => Promise<T>,
): Promise<T> {
  const client = await connect(context, how);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}
