import { z } from "zod";
import { SimlockError, badRequest } from "../contract/index.ts";
import { bothPolicies, type Policy } from "./policy.ts";
import { POLICY_PROFILES, policyForProfile } from "./profiles.ts";
import type { Tool } from "./tool.ts";

export const PROFILE_HINT =
  "docs/cloud.md says what a policy file holds, docs/tool-contract.md lists tools and operations.";

/** What a caller is asked about before it happens. */
export const CONFIRMABLE = ["destructive", "billed"] as const;
export type Confirmable = (typeof CONFIRMABLE)[number];

/**
 * A profile of one's own. It starts from a named one and only ever takes away from it: a tool, or an operation of a tool, that the base does
 * not allow cannot be listed.
 */
export const ProfileFile = z.strictObject({
  base: z.enum(POLICY_PROFILES).describe("The named profile that this one narrows."),
  tools: z
    .record(z.string(), z.union([z.literal("all"), z.array(z.string()).min(1)]))
    .optional()
    .describe(
      'The only tools allowed: "all" that the base allows of it, or a list of operations. All tools of the base without it.',
    ),
  devices: z.array(z.string().min(1)).min(1).optional().describe("The only devices that may be read or acted on."),
  billedCallsPerHour: z.int().min(0).max(10_000).optional().describe("Per credential, in any 60 minutes."),
  confirm: z
    .array(z.enum(CONFIRMABLE))
    .optional()
    .describe("Calls that the user must agree to. A client that cannot ask is refused them."),
});
export type ProfileFile = z.infer<typeof ProfileFile>;

export interface Profile {
  readonly policy: Policy;
  readonly devices?: ReadonlySet<string>;
  readonly billedCallsPerHour?: number;
  /** Nothing where the file does not say. */
  readonly confirm?: ReadonlySet<Confirmable>;
}

/**
 * Reads a profile file against the tools there are. To be called at the start: a name that is not known, or not open in the base, is refused
 * rather than passed over.
 * @throws {SimlockError} `CONFIG_INVALID`
 */
export function readProfile(
  content: unknown,
  tools: readonly Pick<Tool, "name" | "effects" | "operations">[],
): Profile {
  const parsed = ProfileFile.safeParse(content);
  if (!parsed.success) throw invalid(badRequest(parsed.error).message);
  const { base, tools: chosen, devices, billedCallsPerHour, confirm } = parsed.data;
  const allowed = policyForProfile(base, tools);
  return {
    policy: chosen === undefined ? allowed : bothPolicies(tools, allowed, policyOf(chosen, base, allowed, tools)),
    ...(devices === undefined ? {} : { devices: new Set(devices) }),
    ...(billedCallsPerHour === undefined ? {} : { billedCallsPerHour }),
    ...(confirm === undefined ? {} : { confirm: new Set(confirm) }),
  };
}

function policyOf(
  chosen: NonNullable<ProfileFile["tools"]>,
  base: string,
  allowed: Policy,
  tools: readonly Pick<Tool, "name" | "effects" | "operations">[],
): Policy {
  const operationAllowlist = new Map<string, ReadonlySet<string>>();
  for (const [name, operations] of Object.entries(chosen)) {
    const tool = tools.find((known) => known.name === name);
    if (tool === undefined) throw invalid(`tools.${name}: there is no such tool.`);
    if (!allowed.toolAllowlist.has(name)) throw invalid(`tools.${name}: the base ${base} does not allow it.`);
    if (operations === "all") continue;
    if (tool.operations === undefined)
      throw invalid(`tools.${name}: it has no operations to choose from; write "all".`);
    for (const operation of operations) {
      if (!Object.hasOwn(tool.operations.facts, operation)) {
        throw invalid(`tools.${name}: it has no operation ${operation}.`);
      }
      if (allowed.operationAllowlist?.get(name)?.has(operation) === false) {
        throw invalid(`tools.${name}: the base ${base} does not allow the operation ${operation}.`);
      }
    }
    operationAllowlist.set(name, new Set(operations));
  }
  return { toolAllowlist: new Set(Object.keys(chosen)), operationAllowlist };
}

function invalid(problem: string): SimlockError {
  return new SimlockError("CONFIG_INVALID", `The profile is not valid: ${problem}`, { hint: PROFILE_HINT });
}
