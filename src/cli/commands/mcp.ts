import { identityOf } from "../../contract/index.ts";
import { combined, leaseToolset, openTo, runMcpStdio, type Toolset } from "../../mcp/index.ts";
import type { ToolCallEvent, ToolCallSink } from "../../tool/index.ts";
import type { Context } from "../context.ts";
import type { Invocation, ToolsetName } from "../invocation.ts";
import type { Io } from "../io.ts";
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
  const audit = new Audit(stderr);
  const exitCode = await runMcpStdio({
    toolset: async () => {
      const all = await Promise.all(toolsets.filter(isLocal).map(async (name) => TOOLSET_OF[name](context)));
      return openTo(callerOf(context), combined(all), (event) => audit.tell(event));
    },
    version: VERSION,
    stdin,
    stdout,
    stderr,
  });
  await audit.close();
  return exitCode;
}

/** The line of each call on standard error. Its writer is loaded with the first: starting is what an agent waits for. */
class Audit {
  readonly #stderr: Io["stderr"];
  #written: Promise<{ readonly tell: ToolCallSink; readonly close: () => Promise<void> }> | undefined;

  constructor(stderr: Io["stderr"]) {
    this.#stderr = stderr;
  }

  async tell(event: ToolCallEvent): Promise<void> {
    this.#written ??= import("../error-lines.ts").then(({ auditIn, errorLines }) => {
      const lines = errorLines(this.#stderr);
      return { tell: auditIn(lines), close: () => lines.close() };
    });
    await (await this.#written).tell(event);
  }

  async close(): Promise<void> {
    await (await this.#written)?.close();
  }
}

const callerOf = (context: Context): string =>
  identityOf(context.io.env, { explicit: context.agentId, fallback: `mcp:${process.pid}` });

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
    const principal = callerOf(context);
    const connect = async ({ launch }: { readonly launch: boolean }) =>
      (await import("../connect.ts")).connect({ ...context, principal }, { launch });
    return stateToolset({ context, connect });
  },
};
