import type { Handlers } from "../call.ts";
import type { Core } from "../core.ts";

type StateHandlers = Pick<Handlers, "state.snapshot" | "state.apply" | "state.recover">;

export function stateHandlers({ stateWork }: Core): StateHandlers {
  return {
    "state.snapshot": async (input, call) => ({ snapshot: { ...(await stateWork.snapshot(input, call)) } }),
    "state.apply": async (input, call) => ({ report: { ...(await stateWork.apply(input, call)) } }),
    "state.recover": async (input, call) => ({ report: { ...(await stateWork.recover(input, call)) } }),
  };
}
