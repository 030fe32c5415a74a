import type { GateContext, Tool } from "../tool/index.ts";
import type { Notice } from "./notices.ts";
import type { FailureStyle } from "./tool-result.ts";

/** A text that a client can read by its address. */
export interface TextResource {
  readonly name: string;
  readonly uri: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
  readonly text: string;
}

/** What an MCP server offers: its tools in the order in which they are listed, what it says of itself, and the life behind them. */
export interface Toolset {
  readonly title: string;
  /** Clients cut it: the essentials stand in its first 2,048 characters. */
  readonly instructions: string;
  readonly tools: readonly Tool[];
  readonly resources: readonly TextResource[];
  /** Subscribes to news that nobody asked for; returns the end of the subscription. */
  readonly onNotice?: (listener: (notice: Notice) => void) => () => void;
  /** How tools' failures are written. JSON when left out. */
  readonly failures?: FailureStyle;
  /** Files that answers link to, for the caller whose they are. */
  readonly originals?: {
    read(subject: string, uri: string): { readonly bytes: Uint8Array; readonly mimeType: string } | undefined;
  };
  /** `ping` is answered in every era, though the revision of 2026-07-28 has none. */
  readonly pingsInEveryEra?: boolean;
  /** The client is gone: what is under way ends, what is held is given back. Bounded. */
  close(): Promise<void>;
}

/** A toolset with the policy, limits and audit of its one caller. Over HTTP each credential has its own. */
export interface GatedToolset extends Toolset {
  readonly gate: GateContext;
}

/** Several toolsets as one server, in their order. */
export function combined(toolsets: readonly Toolset[]): Toolset {
  const [only] = toolsets;
  if (only !== undefined && toolsets.length === 1) return only;
  return {
    title: "Simlock",
    instructions: toolsets.map((toolset) => toolset.instructions).join("\n"),
    tools: toolsets.flatMap((toolset) => toolset.tools),
    resources: toolsets.flatMap((toolset) => toolset.resources),
    onNotice: (listener) => {
      const ends = toolsets.map((toolset) => toolset.onNotice?.(listener));
      return () => ends.forEach((end) => end?.());
    },
    pingsInEveryEra: toolsets.some((toolset) => toolset.pingsInEveryEra === true),
    close: async () => {
      await Promise.all(toolsets.map((toolset) => toolset.close()));
    },
  };
}
