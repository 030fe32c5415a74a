/**
 * The bounds of the daemon that are not configuration. Times are milliseconds, sizes bytes. A connection that passes one is answered or cut off,
 * and no other connection notices.
 */

/** The bounds of the socket. A test hands in smaller ones. */
export interface SocketLimits {
  /** Connections at once: agents on one machine are tens, so a thousand is a leak somewhere. */
  readonly maxConnections: number;
  /** A client that connects and does not say `hello` within this is cut off. */
  readonly helloTimeoutMs: number;
  /** A frame whose first byte has come must be whole within this. */
  readonly frameTimeoutMs: number;
  /** What may wait in memory for a client that does not read. Beyond it the client is cut off. */
  readonly maxOutgoingBytes: number;
  /** Calls of one connection that wait for their answer: more than `lease.maxWaiting` is by default, for a client that speaks for many. */
  readonly maxCalls: number;
  /** Frames that are not frames, in a row, before a client is cut off. */
  readonly maxBadFrames: number;
}

export const SOCKET_LIMITS: SocketLimits = {
  maxConnections: 1024,
  helloTimeoutMs: 10_000,
  frameTimeoutMs: 60_000,
  maxOutgoingBytes: 32 * 1024 * 1024,
  maxCalls: 32_768,
  maxBadFrames: 1000,
};

/** A command's output waits while this much is already under way to its client, so that a flood never gets the client cut off. */
export const OUTPUT_HIGH_WATER_BYTES = 1024 * 1024;
/** How much credit a client may pile up for one command, in characters. */
export const MAX_CREDIT_CHARACTERS = 64 * 1024 * 1024;
/** Commands that a terminal of its own runs (`driver.passthrough`), reserved or running, of one connection. */
export const MAX_PASSTHROUGHS_PER_CONNECTION = 256;
/** How long a caller may take from `driver.passthrough` to `run.start`. */
export const PASSTHROUGH_START_MS = 30_000;

/** Inputs that are decided and committed together at most. */
export const MAX_BATCH = 512;
/** Positions in the queue are told at most this often. */
export const PROGRESS_INTERVAL_MS = 250;

/** The reading of one kind of device, at start and while devices are leased. */
export const READ_TIMEOUT_MS = 60_000;
/** The reading of one catalog. A cold Mac takes minutes for its first listing; the start does not wait for that. */
export const CATALOG_TIMEOUT_MS = 300_000;
/** A request that can't be resolved has the catalog read anew when it is older than this. */
export const CATALOG_FRESH_MS = 10_000;
/** Versions of the host's tools are read anew, in the background, when they are older than this. */
export const HOST_FACTS_FRESH_MS = 60_000;
export const HOST_FACTS_TIMEOUT_MS = 30_000;
/** The prerequisites of one driver. */
export const PREREQUISITES_TIMEOUT_MS = 60_000;
/** Finding the device of a command. */
export const TARGET_TIMEOUT_MS = 30_000;
/** After a decision, what is to be watched is looked for once in this time. */
export const SURVEY_PAUSE_MS = 50;
/** Processes that leases are bound to are looked at this often. */
export const BOUND_POLL_MS = 1000;

/** The hard bound of each kind of driver work; a boot has its configured time and this on top. */
export const EFFECT_TIMEOUT_MS = {
  create: 180_000,
  boot: 60_000,
  clean: 300_000,
  shutdown: 120_000,
  destroy: 180_000,
} as const;
/** And of any, however much runs beside it. */
export const MAX_EFFECT_MS = 3_600_000;
/** How long driver work may take to end once it was told to. Then it counts as failed, and a late result is dropped. */
export const EFFECT_ABORT_GRACE_MS = 15_000;

/** A stopping daemon lets driver work end by itself for this long, then ends it. */
export const STOP_WORK_MS = 5000;
/** How long a stopping daemon waits for each thing that it has told to end. */
export const STOP_STEP_MS = 8000;
/** A stopping daemon lets its last answers reach their clients for this long. */
export const STOP_FLUSH_MS = 1000;

/** Events beyond the retention are removed in the background, this many at a time. */
export const TRIM_INTERVAL_MS = 10 * 60_000;
export const TRIM_PAUSE_MS = 250;
