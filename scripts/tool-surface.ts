/** What the cloud tools promise as they stand in the source. */
import { cloudTools, type BackendCode } from "../src/cloud/index.ts";
import {
  allowedOperations,
  annotationsOf,
  listedSchemas,
  POLICY_PROFILES,
  policyForProfile,
  type Facts,
  type GateCode,
} from "../src/tool/index.ts";
import type { OperationSurface, Surface, ToolSurface } from "./tool-changes.ts";

/** Every code that a tool's error begins with. The types see to it that none is left out. */
export const TOOL_ERRORS: Readonly<Record<BackendCode | GateCode | "internal", string>> = {
  invalid_input: "The arguments are not what the tool takes, or the platform refuses them (400, 413, 422).",
  not_found: "There is no such thing (404, 410), or no such tool for this credential.",
  forbidden:
    "Not open to this credential: by the policy, the list of devices, the user who was asked, or the platform (401, 403).",
  rate_limited: "Too many calls: of the platform (429), or billed ones of this credential within an hour.",
  payment_required: "The account can't pay for it (402).",
  conflict: "What it is about is not in a state in which that can be done (409).",
  timeout: "No answer in time (408, 504). Where it may have had an effect, the hint says so.",
  cancelled: "The client called it off.",
  upstream_error: "The platform failed, could not be reached, or answered with what can't be read.",
  internal: "A fault of Simlock's own. Its text is in the log, not in the answer.",
};

export function currentSurface(version: string): Surface {
  return { version, codes: Object.keys(TOOL_ERRORS), tools: cloudTools.map(toolSurface) };
}

const MARKS = ["reveals", "dials", "billed", "anyDevice"] as const;

function toolSurface(tool: (typeof cloudTools)[number]): ToolSurface {
  const { name, title, description, operations } = tool;
  const facts: Readonly<Record<string, Facts>> = operations?.facts ?? { "": tool };
  return {
    name,
    title,
    description,
    ...(operations === undefined ? {} : { by: operations.field }),
    operations: Object.fromEntries(
      Object.entries(facts).map(([operation, { effects, ...more }]): [string, OperationSurface] => {
        const marks = MARKS.filter((mark) => more[mark] === true);
        return [operation, { effects, marks, profiles: profilesOf(tool, operation) }];
      }),
    ),
    annotations: annotationsOf(tool),
    ...listedSchemas(tool),
  };
}

const POLICIES = POLICY_PROFILES.map((profile) => [profile, policyForProfile(profile, cloudTools)] as const);

function profilesOf(tool: (typeof cloudTools)[number], operation: string): string[] {
  const opens = ([, policy]: (typeof POLICIES)[number]) =>
    allowedOperations(policy, tool)?.includes(operation) ?? policy.toolAllowlist.has(tool.name);
  return POLICIES.filter(opens).map(([profile]) => profile);
}
