import type { Handlers } from "../call.ts";
import type { Core } from "../core.ts";
import { commandHandlers } from "./commands.ts";
import { deviceHandlers } from "./devices.ts";
import { doctorHandlers } from "./doctor.ts";
import { leaseHandlers } from "./leases.ts";
import { machineHandlers } from "./machine.ts";
import { stateHandlers } from "./state.ts";

/** What answers each operation once its caller was found to be allowed to ask. */
export function createHandlers(core: Core): Handlers {
  return {
    ...machineHandlers(core),
    ...leaseHandlers(core),
    ...commandHandlers(core),
    ...stateHandlers(core),
    ...deviceHandlers(core),
    ...doctorHandlers(core),
  };
}
