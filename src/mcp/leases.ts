import type { Clock } from "./clock.ts";
import { INSTRUCTIONS_URI, instructionsText } from "./instructions.ts";
import { leaseTools } from "./lease-tools.ts";
import type { McpSession } from "./session.ts";
import type { Toolset } from "./toolset.ts";

/** The toolset `leases`: five tools, the agents' rules, and news of the lease that the session holds. */
export function leasesOf(session: McpSession, clock: Clock): Toolset {
  return {
    title: "Simlock",
    instructions: instructionsText,
    tools: leaseTools(session, clock),
    resources: [
      {
        name: "instructions",
        uri: INSTRUCTIONS_URI,
        title: "Rules for agents",
        description: "How to lease a device and run commands on it.",
        mimeType: "text/markdown",
        text: instructionsText,
      },
    ],
    onNotice: (listener) => session.onNotice(listener),
    close: () => session.close(),
  };
}
