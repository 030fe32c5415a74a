import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { SimlockError } from "./errors.ts";

/** A home holds everything of one daemon. It is real or virtual for life. */
export interface Home {
  readonly path: string;
  readonly virtual: boolean;
}

/** Where things lie in a home. */
export function layoutOf(home: Home) {
  const at = (name: string) => join(home.path, name);
  return {
    /** `{schema, kind: "real" | "virtual", instanceId, createdAt}`, written once when the home is made. */
    record: at("home.json"),
    config: at("config.json"),
    socket: at("daemon.sock"),
    adminToken: at("admin.token"),
    /** The lock that proves the claim on the home. Nothing but the daemon's claim opens it. */
    claim: at("claim.db"),
    database: at("simlock.db"),
    log: at("daemon.log"),
    /** A file for each command that runs, so that a restarted daemon can end what its predecessor left. */
    runs: at("runs"),
    /** A folder for each lease: the working directory of commands that bring none. */
    scratch: at("scratch"),
    /** A file for each change of a simulator's state, so that one that was cut off can go on or be taken back. */
    stateJournals: at("state-journals"),
    virtualMac: at("virtual-mac"),
  } as const;
}

/** The longest path that a unix socket may have, in bytes, its end included (`sun_path`). */
export const MAX_SOCKET_PATH_BYTES = process.platform === "darwin" ? 104 : 108;

/** "false", "0", "no", "off" and nothing are false; "true", "1", "yes", "on" are true; anything else is refused. */
export function flagOf(name: string, text: string | undefined): boolean {
  const value = (text ?? "").trim().toLowerCase();
  if (["", "0", "false", "no", "off"].includes(value)) return false;
  if (["1", "true", "yes", "on"].includes(value)) return true;
  throw new SimlockError("USAGE", `${name} is "${text}": it must be 1 or 0, true or false.`);
}

/**
 * The home that a command means: `SIMLOCK_HOME`, else `~/.simlock`, and for a virtual one its sibling `~/.simlock-virtual`. `--virtual` and
 * `SIMLOCK_VIRTUAL=1` ask for a virtual home.
 */
export function homeOf(env: Readonly<Record<string, string | undefined>>, options: { virtual?: boolean } = {}): Home {
  const virtual = options.virtual === true || flagOf("SIMLOCK_VIRTUAL", env["SIMLOCK_VIRTUAL"]);
  const named = env["SIMLOCK_HOME"];
  if (named !== undefined && named !== "") return { path: resolve(named), virtual };
  return { path: join(env["HOME"] || homedir(), virtual ? ".simlock-virtual" : ".simlock"), virtual };
}
