import { identityOf } from "../../contract/index.ts";
import { combined, leaseToolset, runMcpStdio, type Toolset } from "../../mcp/index.ts";
import type { Context } from "../context.ts";
import type { Invocation, ToolsetName } from "../invocation.ts";
import { VERSION } from "../version.ts";

/** Serves one agent. The daemon is looked for, and the code for it loaded, only when a tool needs it: starting is what an agent waits for. */
export async function mcp(
  context: Context,
  { toolsets, http }: Extract<Invocation, { command: "mcp" }>,
): Promise<number> {
  if (toolsets.includes("cloud")) {
    const { cloudOverHttp, cloudOverStdio } = await import("./cloud-mcp.ts");
    return http ? cloudOverHttp(context) : cloudOverStdio(context);
  }
  const { stdin, stdout, stderr } = context.io;
  return runMcpStdio({
    toolset: async () =>
      combined(await Promise.all(toolsets.filter(isLocal).map(async (name) => TOOLSET_OF[name](context)))),
    version: VERSION,
    stdin,
    stdout,
    stderr,
  });
}

type LocalToolset = Exclude<ToolsetName, "cloud">;
const isLocal = (name: ToolsetName): name is LocalToolset => name !== "cloud";

const TOOLSET_OF: Readonly<Record<LocalToolset, (context: Context) => Promise<Toolset>>> = {
  leases: (context) =>
    leaseToolset({
      connect: async ({ launch, principal }) =>
        (await import("../connect.ts")).connect({ ...context, principal }, { launch }),
      env: context.io.env,
      agentId: context.agentId,
      cwd: context.io.cwd,
    }),
  state: async (context) => {
    const { stateToolset } = await import("../state/toolset.ts");
    const principal = identityOf(context.io.env, { explicit: context.agentId, fallback: `mcp:${process.pid}` });
    const connect = async ({ launch }: { readonly launch: boolean }) =>
      (await import("../connect.ts")).connect({ ...context, principal }, { launch });
    return stateToolset({ context, connect });
  },
};
