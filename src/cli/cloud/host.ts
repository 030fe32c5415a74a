import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { LRUCache } from "lru-cache";
import { flagOf, SimlockError } from "../../contract/index.ts";
import {
  backendOverApi,
  buildCloudTools,
  CLOUD_INSTRUCTIONS,
  cloudTools,
  createCloudApi,
  createOriginals,
  sendOverHttp,
  type Originals,
} from "../../cloud/index.ts";
import type { CallContext, HttpEnvironment, Toolset } from "../../mcp/index.ts";
import {
  billedLimit,
  CONFIRMABLE,
  createAuthContext,
  policyForProfile,
  PROFILE_HINT,
  readProfile,
  type BilledLimit,
  type Confirmable,
  type GateContext,
  type Policy,
  type Tool,
  type ToolCallSink,
} from "../../tool/index.ts";
import { readDocumentText } from "../../state/index.ts";
import type { Context } from "../context.ts";
import { auditIn, type ErrorLines } from "../error-lines.ts";

/** How long the platform may take to say that it is there. */
const READY_MS = 2_000;
/** How many credentials' clients are kept ready; the one that was idle longest goes. */
const MOST_CREDENTIALS = 1_000;

/** Everything that the cloud tools of this process share: the API's address, the policy, the limits, the audit. */
export interface CloudHost {
  readonly toolset: Toolset;
  /** What a key may do, and with what: made once for each key, and kept while it is used. */
  contextOf(key: string): CallContext;
  /** Whether the platform can be reached now. */
  ready(): Promise<boolean>;
  close(): Promise<void>;
}

interface Rules {
  readonly policy: Policy;
  readonly devices: ReadonlySet<string> | undefined;
  readonly billed: BilledLimit | undefined;
  readonly mustConfirm: ReadonlySet<Confirmable> | undefined;
  readonly askAbout: ReadonlySet<Confirmable> | undefined;
}

/**
 * Starts what the cloud tools stand on. In a virtual home that is a platform of its own, on a free port of the loopback interface. Throws
 * `CONFIG_INVALID` for a profile file that is not valid.
 */
export async function cloudHost(context: Context, environment: HttpEnvironment, lines: ErrorLines): Promise<CloudHost> {
  const rules = await rulesOf(context, environment);
  const platform = context.home.virtual ? await startPlatform() : undefined;
  const baseUrl = platform?.url ?? environment.MOBILERUN_BASE_URL;
  const originals = createOriginals();
  const contexts = new LRUCache<string, CallContext>({ max: MOST_CREDENTIALS });
  const onToolCall = auditIn(lines);

  const contextOf = (key: string): CallContext => {
    const subject = subjectOf(key);
    const known = contexts.get(subject);
    if (known !== undefined) return known;
    const made = contextFor(key, subject, { baseUrl, rules, originals, onToolCall });
    contexts.set(subject, made);
    return made;
  };
  return {
    toolset: {
      title: "Simlock cloud phones",
      instructions: CLOUD_INSTRUCTIONS,
      // Their schemas are the process's; each credential's context brings the tools that are tied to it.
      tools: cloudTools.map(unbound),
      resources: [],
      originals,
      failures: "text",
      close: async () => platform?.close(),
    },
    contextOf,
    ready: async () => {
      const signal = AbortSignal.timeout(READY_MS);
      const { status, body } = await sendOverHttp({
        url: new URL(baseUrl),
        method: "HEAD",
        headers: {},
        body: undefined,
        signal,
      });
      body.resume();
      return status < 500;
    },
    close: async () => platform?.close(),
  };
}

function contextFor(
  key: string,
  subject: string,
  shared: {
    readonly baseUrl: string;
    readonly rules: Rules;
    readonly originals: Originals;
    readonly onToolCall: ToolCallSink;
  },
): CallContext {
  const { baseUrl, rules, originals, onToolCall } = shared;
  const auth = createAuthContext({ kind: "api_key", subject });
  const { policy, devices, billed, mustConfirm, askAbout } = rules;
  const backend = backendOverApi(createCloudApi({ baseUrl, key }));
  const tools = buildCloudTools({ backend, auth, policy, originals, ...(devices === undefined ? {} : { devices }) });
  const gate: GateContext = { auth, policy, onToolCall, devices, billed, mustConfirm, askAbout };
  return { gate, tools: new Map(tools.map((tool) => [tool.name, tool])) };
}

/** The tool as it is listed. It is never called: every call has a context. */
function unbound({ run: _run, devices: _devices, ...tool }: (typeof cloudTools)[number]): Tool {
  return {
    ...tool,
    handle: () => Promise.reject(new SimlockError("INTERNAL", `${tool.name} was called for nobody.`)),
  };
}

/**
 * Billed and destructive calls are asked about where the client can ask, unless `MCP_CONFIRM` is false. What a profile file lists to be
 * confirmed goes before that, and is refused to a client that can't ask.
 */
async function rulesOf({ io }: Context, environment: HttpEnvironment): Promise<Rules> {
  const { MCP_POLICY_FILE: file, MCP_POLICY_PROFILE: profile, MCP_CONFIRM: confirm } = environment;
  const asked = confirm ? new Set(CONFIRMABLE) : undefined;
  if (file === undefined) {
    const policy = policyForProfile(profile, cloudTools);
    return { policy, devices: undefined, billed: undefined, mustConfirm: undefined, askAbout: asked };
  }
  if (io.env["MCP_POLICY_PROFILE"] !== undefined) {
    throw new SimlockError("CONFIG_INVALID", "MCP_POLICY_FILE and MCP_POLICY_PROFILE are both set.", {
      hint: "Name the profile as `base` in the file, and unset MCP_POLICY_PROFILE.",
    });
  }
  const read = readProfile(await documentAt(file), cloudTools);
  return {
    policy: read.policy,
    devices: read.devices,
    billed: read.billedCallsPerHour === undefined ? undefined : billedLimit(read.billedCallsPerHour),
    mustConfirm: read.confirm,
    askAbout: read.confirm === undefined ? asked : undefined,
  };
}

async function documentAt(path: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? ` (${String(cause.code)})` : "";
    throw new SimlockError("CONFIG_INVALID", `MCP_POLICY_FILE: ${path} can't be read${code}.`, { cause });
  }
  try {
    return await readDocumentText(text, path);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "";
    throw new SimlockError("CONFIG_INVALID", `MCP_POLICY_FILE: ${why}`, { cause, hint: PROFILE_HINT });
  }
}

async function startPlatform(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { startVirtualMobilerun } = await import("../../virtual/index.ts");
  return startVirtualMobilerun();
}

/** Tells keys apart without being one. */
function subjectOf(key: string): string {
  return `key-${hash("sha256", key).slice(0, 32)}`;
}

/** `SIMLOCK_VIRTUAL` in the environment, or `--virtual`. Together with an address of a real platform it is refused. */
export function checkVirtual({ home, io }: Context): void {
  const asked = home.virtual || flagOf("SIMLOCK_VIRTUAL", io.env["SIMLOCK_VIRTUAL"]);
  if (!asked || io.env["MOBILERUN_BASE_URL"] === undefined) return;
  throw new SimlockError(
    "CONFIG_INVALID",
    "A virtual home and MOBILERUN_BASE_URL are both asked for: calls would go to a platform that is real.",
    { hint: "Leave out one of them." },
  );
}
