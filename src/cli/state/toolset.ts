import type { Toolset } from "../../mcp/index.ts";
import { createStateTools, STATE_INSTRUCTIONS } from "../../state/index.ts";
import { stateMachine, type StateMachineOptions } from "./machine.ts";

/** The toolset `state`: seven tools over the simulators of this machine, the caller's leased one among them. */
export function stateToolset(options: StateMachineOptions): Toolset {
  const machine = stateMachine(options);
  return {
    title: "Simlock simulator state",
    instructions: STATE_INSTRUCTIONS,
    tools: createStateTools({
      reader: machine.reader,
      leased: async () => (await machine.leased())?.device.driverDeviceId,
      apply: (request) => machine.apply(request),
    }),
    resources: [],
    pingsInEveryEra: true,
    close: () => machine.close(),
  };
}
