/**
 * cloud-tools: the tools for cloud phones as a library (`simlock/cloud-tools`), for a host with a backend, an authentication and a transport of its own.
 * Nothing in it talks to the platform or listens. docs/cloud-tools.md is its manual.
 */
import type { McpServer } from "@modelcontextprotocol/server";
import { buildCloudTools, CLOUD_INSTRUCTIONS, cloudTools, type ToolCtx } from "../cloud/index.ts";
// Not through the door of that room, which loads nothing of the SDK: a server that starts from there waits for it only once its output is guarded.
import { createMcpServer } from "../mcp/server.ts";
import {
  CONFIRMABLE,
  fullAccessPolicy as fullAccessPolicyOf,
  policyForProfile as policyForProfileOf,
  ToolFailure,
  type GateContext,
  type Policy,
  type PolicyProfile,
  type ToolCallSink,
} from "../tool/index.ts";

export { ALL_TOOL_NAMES, BackendError, createOriginals } from "../cloud/index.ts";
/** `ports.DevicesBackend`, `ports.Device`, …: what a backend is made of. */
export type { Backend, BackendCode, Clock, Original, Originals, ports, ToolCtx } from "../cloud/index.ts";
export { billedLimit, createAuthContext, POLICY_PROFILES, ToolFailure } from "../tool/index.ts";
export type {
  AuthContext,
  BilledLimit,
  Confirmable,
  Policy,
  PolicyProfile,
  ToolCallEvent,
  ToolCallSink,
} from "../tool/index.ts";

export interface BuildMcpServerOpts extends Pick<GateContext, "billed" | "mustConfirm" | "askAbout"> {
  /** What the server calls itself. Default: `simlock`, `0`. */
  readonly name?: string;
  readonly version?: string;
  /** One event for each call, whether it ran or not; never arguments, results, tokens or secrets. What it throws changes no result. */
  readonly onToolCall?: ToolCallSink;
  /** Called before any tool is registered: it may replace the server's `registerTool`, to see or wrap what is registered through it. */
  readonly wrapRegisterTool?: (server: McpServer) => void;
  /** Told of what nobody expected, of which the client learns that it happened and no more. */
  readonly onFault?: (tool: string, fault: unknown) => void;
}

/**
 * An MCP server for one caller, to be connected to a transport of the SDK. Its tools are those that `ctx.policy` opens: the others are absent from the list, a
 * call of one is answered like that of a tool that does not exist, and an operation that is not open is refused before the backend hears of it. Cheap
 * enough to be made for each request: schemas are made once for the process.
 * @throws {ToolFailure} `invalid_input` for what would leave a rule out without a word
 */
export function buildMcpServer(ctx: ToolCtx, opts: BuildMcpServerOpts = {}): McpServer {
  refuseMistakes(ctx, opts);
  const { name, version, onToolCall, wrapRegisterTool, onFault, billed, mustConfirm, askAbout } = opts;
  const { auth, policy, devices, originals } = ctx;
  return createMcpServer(
    {
      title: "Simlock cloud phones",
      instructions: CLOUD_INSTRUCTIONS,
      tools: buildCloudTools(ctx),
      resources: [],
      gate: { auth, policy, devices, billed, mustConfirm, askAbout, onToolCall },
      failures: "text",
      ...(originals === undefined ? {} : { originals }),
      close: async () => {},
    },
    {
      ...(name === undefined ? {} : { name }),
      ...(version === undefined ? {} : { version }),
      ...(wrapRegisterTool === undefined ? {} : { wrapRegisterTool }),
      ...(onFault === undefined ? {} : { onFault }),
    },
  );
}

/** A host in plain JavaScript has no types to tell it. */
function refuseMistakes({ policy, devices, backend }: Partial<ToolCtx>, opts: BuildMcpServerOpts): void {
  const isSet = (value: unknown): value is ReadonlySet<unknown> => value instanceof Set;
  const confirmable = (value: unknown) =>
    value === undefined || (isSet(value) && [...value].every((cause) => CONFIRMABLE.some((known) => known === cause)));
  const causes = `a Set of ${CONFIRMABLE.join(" and ")}`;
  const mistakes = [
    isSet(policy?.toolAllowlist) ? "" : "policy has no toolAllowlist, a Set of tools: see policyForProfile",
    devices === undefined || isSet(devices) ? "" : "devices is no Set of ids",
    typeof backend === "object" ? "" : "there is no backend",
    confirmable(opts.mustConfirm) ? "" : `mustConfirm is not ${causes}`,
    confirmable(opts.askAbout) ? "" : `askAbout is not ${causes}`,
  ].filter((mistake) => mistake !== "");
  if (mistakes.length > 0) throw new ToolFailure("invalid_input", `buildMcpServer: ${mistakes.join("; ")}.`);
}

/** Every tool and every operation. There is no policy by default: who wants this says so. */
export function fullAccessPolicy(): Policy {
  return fullAccessPolicyOf(cloudTools);
}

/** `readonly`, `safe-writes`, `no-commerce` or `full`, computed from what the operations do. */
export function policyForProfile(profile: PolicyProfile): Policy {
  return policyForProfileOf(profile, cloudTools);
}
