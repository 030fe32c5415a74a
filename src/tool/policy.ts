import type { Facts, Tool } from "./tool.ts";

/**
 * What one credential may call. There is no default: an empty allow-list allows nothing. A tool with an entry in `operationAllowlist` may be
 * called only with the operations in it; one without may be called with each operation that is classified.
 */
export interface Policy {
  readonly toolAllowlist: ReadonlySet<string>;
  readonly operationAllowlist?: ReadonlyMap<string, ReadonlySet<string>>;
}

type Classified = Pick<Tool, "name" | "effects" | "operations"> & Facts;

/** What a call of this operation does; nothing when the tool has no such operation. */
export function factsOf(tool: Classified, operation: string | undefined): Facts | undefined {
  if (tool.operations === undefined) return tool;
  if (operation === undefined || !Object.hasOwn(tool.operations.facts, operation)) return undefined;
  return tool.operations.facts[operation];
}

/** The operations of a bundle that may be called, in their order; `undefined` for a tool that does one thing. */
export function allowedOperations(policy: Policy, tool: Classified): readonly string[] | undefined {
  if (tool.operations === undefined) return undefined;
  if (!policy.toolAllowlist.has(tool.name)) return [];
  const allowed = policy.operationAllowlist?.get(tool.name);
  return Object.entries(tool.operations.facts)
    .filter(([operation, { effects }]) => effects.length > 0 && (allowed?.has(operation) ?? true))
    .map(([operation]) => operation);
}

/** Whether anything of the tool may be called: if not, it is as if it did not exist. */
export function allowsTool(policy: Policy, tool: Classified): boolean {
  if (!policy.toolAllowlist.has(tool.name)) return false;
  const operations = allowedOperations(policy, tool);
  return operations === undefined ? tool.effects.length > 0 : operations.length > 0;
}

/** The policy that allows each operation of which the rule approves. What nobody has classified is never asked about. */
export function policyWhere(tools: readonly Classified[], approves: (facts: Facts) => boolean): Policy {
  const toolAllowlist = new Set<string>();
  const operationAllowlist = new Map<string, ReadonlySet<string>>();
  for (const tool of tools) {
    if (tool.operations === undefined) {
      if (tool.effects.length > 0 && approves(tool)) toolAllowlist.add(tool.name);
      continue;
    }
    const all = Object.entries(tool.operations.facts);
    const approved = all.filter(([, facts]) => facts.effects.length > 0 && approves(facts)).map(([name]) => name);
    if (approved.length === 0) continue;
    toolAllowlist.add(tool.name);
    if (approved.length < all.length) operationAllowlist.set(tool.name, new Set(approved));
  }
  return { toolAllowlist, operationAllowlist };
}

/** Every tool and every operation that is classified. */
export function fullAccessPolicy(tools: readonly Classified[]): Policy {
  return policyWhere(tools, () => true);
}

/** What both policies allow. */
export function bothPolicies(tools: readonly Classified[], one: Policy, other: Policy): Policy {
  const toolAllowlist = new Set<string>();
  const operationAllowlist = new Map<string, ReadonlySet<string>>();
  for (const tool of tools) {
    if (!allowsTool(one, tool) || !allowsTool(other, tool)) continue;
    toolAllowlist.add(tool.name);
    const first = allowedOperations(one, tool);
    const second = new Set(allowedOperations(other, tool));
    if (first !== undefined) operationAllowlist.set(tool.name, new Set(first.filter((name) => second.has(name))));
  }
  return { toolAllowlist, operationAllowlist };
}
