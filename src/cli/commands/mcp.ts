import { leaseToolset, runMcpStdio } from "../../mcp/index.ts";
import type { Context } from "../context.ts";
import { VERSION } from "../version.ts";

/** Serves one agent. The daemon is looked for, and the code for it loaded, only when a tool needs it: starting is what an agent waits for. */
export function mcp(context: Context): Promise<number> {
  const { env, cwd, stdin, stdout, stderr } = context.io;
  return runMcpStdio({
    toolset: () =>
      leaseToolset({
        connect: async ({ launch, principal }) =>
          (await import("../connect.ts")).connect({ ...context, principal }, { launch }),
        env,
        agentId: context.agentId,
        cwd,
      }),
    version: VERSION,
    stdin,
    stdout,
    stderr,
  });
}
