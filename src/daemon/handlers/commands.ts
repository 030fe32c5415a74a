import type { Handlers } from "../call.ts";
import type { Core } from "../core.ts";

type CommandHandlers = Pick<Handlers, "device.exec" | "call.cancel" | "driver.passthrough" | "run.start" | "run.end">;

export function commandHandlers({ commands, passthroughs, stateWork }: Core): CommandHandlers {
  return {
    "device.exec": async (input, call) => commands.run(input, call),
    "call.cancel": ({ callId }, { peer }) => ({
      found: commands.cancel(peer, callId) || stateWork.cancel(peer, callId),
    }),
    "driver.passthrough": async (input, call) => passthroughs.open(input, call),
    "run.start": async ({ runId, pid }, { peer }) => {
      await passthroughs.start(runId, pid, peer);
      return { runId };
    },
    "run.end": ({ runId }, { peer }) => {
      passthroughs.end(runId, peer);
      return { runId };
    },
  };
}
