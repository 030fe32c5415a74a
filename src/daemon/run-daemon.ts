import { layoutOf, mintId } from "../contract/index.ts";
import { findLease } from "../leasing/index.ts";
import { openStore as openSqliteStore } from "../store/index.ts";
import { createAdminSecret } from "./admin-secret.ts";
import { assemble, disposeAll } from "./assemble.ts";
import { claimHome } from "./claim.ts";
import { loadConfig } from "./config-file.ts";
import { createDispatcher } from "./dispatcher.ts";
import { createHandlers } from "./handlers/index.ts";
import { claimedHomeRecord, openHomeFolder } from "./home.ts";
import { Life } from "./life.ts";
import { SOCKET_LIMITS } from "./limits.ts";
import { createLog, fileDestination } from "./log.ts";
import type { DaemonOptions } from "./options.ts";
import { authorizer } from "./ownership.ts";
import { serveSocket } from "./server.ts";

export interface RunningDaemon {
  readonly socketPath: string;
  readonly instanceId: string;
  /** Resolves when calls are answered; rejects with what kept the daemon from it, which then stops by itself. */
  readonly running: Promise<void>;
  /** The exit code: 0 when it was told to stop. */
  readonly stopped: Promise<number>;
  /** Ends commands, lets driver work end within bounds, and closes everything. Leases stand. */
  stop(reason: string): Promise<number>;
}

/**
 * Claims the home and serves it. Resolves when the socket answers: calls that come before the machine was read wait. Throws `HOME_UNUSABLE`,
 * `HOME_MISMATCH`, `DAEMON_ALREADY_RUNNING`, `CONFIG_INVALID`, `DATABASE_UNUSABLE`.
 */
export async function runDaemon(options: DaemonOptions): Promise<RunningDaemon> {
  const undo: (() => void | Promise<void>)[] = [];
  try {
    return await start(options, undo);
  } catch (error) {
    for (const step of undo.reverse()) await step();
    throw error;
  }
}

async function start(options: DaemonOptions, undo: (() => void | Promise<void>)[]): Promise<RunningDaemon> {
  const { home, version } = options;
  const layout = layoutOf(home);
  const startedAt = Date.now();

  openHomeFolder(home);
  const claim = claimHome(layout.claim);
  undo.push(() => claim.release());
  const { instanceId } = claimedHomeRecord(home, startedAt);
  const { config, unknownKeys } = loadConfig(layout.config);
  const log = createLog(config.log.level, options.log ?? fileDestination(layout.log, config.log.rotateBytes));
  undo.push(async () => log.close());
  const own = log.of("daemon");
  own.info({ version, pid: process.pid, home: home.path, virtual: home.virtual, instanceId }, "starting");
  if (unknownKeys.length > 0) own.warn({ keys: unknownKeys }, "config.json has keys that this version does not know");
  const store = (options.openStore ?? openSqliteStore)({ path: layout.database, mintEventId: () => mintId("evt") });
  undo.push(() => store.close());
  const drivers = options.drivers({ home, instanceId, config, log: (module) => log.of(module) });
  undo.push(async () => disposeAll(drivers));
  const secret = createAdminSecret(layout.adminToken);
  undo.push(() => secret.remove());

  const daemon = assemble({ options, config, log, store, drivers, startedAt });
  const dispatch = createDispatcher({
    handlers: createHandlers(daemon.core),
    authorize: authorizer((id) => findLease(daemon.core.state, id)),
    ready: () => daemon.core.health.ready(),
    log: log.of("operations"),
  });
  const life = new Life(daemon, {
    async after() {
      await disposeAll(drivers);
      secret.remove();
      store.close();
      own.info("stopped");
      await log.close();
      claim.release();
    },
    exit: options.exit ?? ((code) => process.exit(code)),
  });
  const server = await serveSocket({
    socketPath: layout.socket,
    version,
    instanceId,
    virtual: home.virtual,
    verifyAdmin: (credential) => secret.verify(credential),
    dispatch,
    stop: (why) => void life.stop(why),
    stopping: () => daemon.core.health.stopping,
    credit: (connection, callId, characters) => daemon.core.commands.credit(connection, callId, characters),
    limits: { ...SOCKET_LIMITS, ...options.limits },
    log: log.of("socket"),
  });
  life.serve(server);
  if (options.signals === true) life.heedSignals();
  return {
    socketPath: layout.socket,
    instanceId,
    running: life.begin(version, home.virtual),
    stopped: life.stopped,
    stop: async (reason) => life.stop(reason),
  };
}
