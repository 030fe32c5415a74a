import { allowedOperations, allowsTool, type Policy } from "./policy.ts";
import { annotationsOf, type Effect, type Tool } from "./tool.ts";

/** What `tools/list` says of a tool besides its schemas. */
export interface ToolListing {
  readonly tool: Tool;
  /** Names the operations that are open, where not all are. The schema keeps all of them: see `callThroughPolicy`. */
  readonly description: string;
  /** Of what is open. */
  readonly annotations: ReturnType<typeof annotationsOf>;
}

/** The tools that a policy opens, in their order, each as this credential sees it. */
export function listingOf(tools: readonly Tool[], policy: Policy): readonly ToolListing[] {
  return tools.filter((tool) => allowsTool(policy, tool)).map((tool) => listed(tool, policy));
}

function listed(tool: Tool, policy: Policy): ToolListing {
  const open = allowedOperations(policy, tool);
  if (open === undefined || tool.operations === undefined) {
    return { tool, description: tool.description, annotations: annotationsOf(tool) };
  }
  const { facts } = tool.operations;
  const effects = [...new Set(open.flatMap((operation): readonly Effect[] => facts[operation]?.effects ?? []))];
  const narrowed = open.length < Object.keys(facts).length;
  return {
    tool,
    description: narrowed ? `${tool.description} Available for this credential: ${open.join(", ")}.` : tool.description,
    annotations: annotationsOf({ ...tool, effects }),
  };
}
