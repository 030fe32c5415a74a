import {
  callThroughPolicy,
  createAuthContext,
  policyForProfile,
  type GateContext,
  type PolicyProfile,
  type Tool,
  type ToolCallEvent,
  type ToolProgress,
} from "../../tool/index.ts";
import { recordingBackend } from "./backend.fixture.ts";
import { buildCloudTools, cloudTools, type Clock, type ToolCtx } from "./index.ts";

/** Time that passes only where somebody sleeps. */
export function fastClock(): Clock {
  let now = 0;
  return {
    now: () => now,
    async sleep(ms, signal) {
      signal.throwIfAborted();
      now += ms;
    },
  };
}

export interface ToolsetForTest {
  readonly profile?: PolicyProfile;
  readonly answers?: Parameters<typeof recordingBackend>[0];
  readonly gate?: Partial<GateContext>;
  readonly context?: Partial<ToolCtx>;
  readonly signal?: AbortSignal;
  /** The client asked for no progress. */
  readonly unheard?: boolean;
  readonly answerWithinMs?: number;
}

/** All the tools over a backend that records, called the way a server calls them. */
export function toolsetForTest(how: ToolsetForTest = {}) {
  const { profile = "full", answers, gate, context, signal, unheard, answerWithinMs } = how;
  const { backend, calls } = recordingBackend(answers);
  const auth = createAuthContext({ kind: "api_key", subject: "k1" });
  const policy = policyForProfile(profile, cloudTools);
  const tools = buildCloudTools({ backend, auth, policy, clock: fastClock(), ...context });
  const table = new Map<string, Tool>(tools.map((tool) => [tool.name, tool]));
  const events: ToolCallEvent[] = [];
  const progress: ToolProgress[] = [];
  const call = (name: string, input: Record<string, unknown> = {}) =>
    callThroughPolicy(
      table,
      name,
      input,
      { auth, policy, onToolCall: (event) => void events.push(event), ...gate },
      {
        signal: signal ?? new AbortController().signal,
        ...(answerWithinMs === undefined ? {} : { answerWithinMs }),
        ...(unheard === true ? {} : { progress: (report: ToolProgress) => void progress.push(report) }),
      },
    );
  return { call, calls, events, progress, tools, policy };
}

/** The input of a row, with the field that chooses its operation. */
export function inputOf(tool: string, operation: string | undefined, input: Readonly<Record<string, unknown>>) {
  const field = cloudTools.find(({ name }) => name === tool)?.operations?.field;
  return field === undefined ? { ...input } : { [field]: operation, ...input };
}
