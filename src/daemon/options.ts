import type { Config, Home, HostFacts } from "../contract/index.ts";
import type { Driver } from "../devices/index.ts";
import type { OpenStoreOptions, Store } from "../store/index.ts";
import type { SocketLimits } from "./limits.ts";
import type { Log, LogDestination } from "./log.ts";

/** What drivers are made from. */
export interface DriverContext {
  readonly home: Home;
  /** Names this home: drivers write it into the marks of the devices they make. */
  readonly instanceId: string;
  readonly config: Config;
  readonly log: (module: string) => Log;
}

export interface DaemonOptions {
  readonly home: Home;
  readonly version: string;
  readonly drivers: (context: DriverContext) => readonly Driver[];
  /** Stands in for what the host says of itself: a virtual Mac has 8 processors and 32 GiB. */
  readonly hostFacts?: Partial<HostFacts>;
  /** The home's `daemon.log`, rotated, when left out. */
  readonly log?: LogDestination;
  /** SIGTERM, SIGINT and SIGHUP stop the daemon, and what nobody caught ends it: for a process that is nothing but the daemon. */
  readonly signals?: boolean;
  /** Ends the process at once, with nothing said, when what was decided can't be stored. `process.exit` when left out. */
  readonly exit?: (code: number) => void;
  /** Smaller bounds of the socket, for tests. */
  readonly limits?: Partial<SocketLimits>;
  /** A port for tests of a database that fails. */
  readonly openStore?: (options: OpenStoreOptions) => Store;
}
