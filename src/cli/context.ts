import { userInfo } from "node:os";
import { homeOf, identityOf, layoutOf, SimlockError, type Home } from "../contract/index.ts";
import type { Globals } from "./globals.ts";
import type { Io } from "./io.ts";

/** What every command knows: where it runs, which home it means, and who asks. */
export interface Context {
  readonly io: Io;
  readonly home: Home;
  readonly layout: ReturnType<typeof layoutOf>;
  /** The caller, fixed for all connections of this command. */
  readonly principal: string;
  /** `--agent-id`, where it was given. */
  readonly agentId: string | undefined;
  /** `--token` or `SIMLOCK_ADMIN_TOKEN`. Only admin commands present it. */
  readonly token: string | undefined;
  /** Machine form was asked for. */
  readonly json: boolean;
}

export function contextOf(io: Io, globals: Globals & { readonly json?: boolean }): Context {
  const home = homeFrom(io.env, globals);
  return {
    io,
    home,
    layout: layoutOf(home),
    principal: identityOf(io.env, { explicit: globals.agentId, fallback: `user:${userInfo().uid}` }),
    agentId: globals.agentId,
    token: globals.token ?? (io.env["SIMLOCK_ADMIN_TOKEN"] || undefined),
    json: globals.json === true,
  };
}

/** `--home` goes before `SIMLOCK_HOME`. Throws `USAGE`. */
export function homeFrom(env: Io["env"], globals: Globals): Home {
  if (globals.home === "") throw new SimlockError("USAGE", "--home is empty: it must name a folder.");
  const named = globals.home === undefined ? env : { ...env, SIMLOCK_HOME: globals.home };
  return homeOf(named, globals.virtual === true ? { virtual: true } : {});
}
