import type { z } from "zod";

/** What a call can do. Several may hold; annotations and policies are computed from them. */
export type Effect = "read" | "write" | "destructive" | "commerce";

export interface ToolProgress {
  /** Strictly rises within a call; lower values are lifted by the sender. */
  readonly progress: number;
  readonly total?: number;
  readonly message: string;
}

export interface ToolCall {
  /** Aborted when the client cancels the call or the server closes. */
  readonly signal: AbortSignal;
  /** Present only when the client sent a progress token. Not to be called after the tool has answered. */
  readonly progress?: (report: ToolProgress) => void;
}

/**
 * One tool, declared once: its names and schemas, what it can do, and its handler side by side. Inputs are strict. What the handler returns
 * is sent as structured content and, as the same JSON, as text; a `SimlockError` that it throws becomes `isError` with `{code, message}`.
 */
export interface Tool<I extends z.ZodObject = z.ZodObject, O extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: I;
  readonly output: O;
  readonly effects: readonly Effect[];
  readonly idempotent?: boolean;
  /** Its calls that change the session wait for each other; a tool that is not `serial` runs beside them. */
  readonly serial?: boolean;
  handle(input: z.output<I>, call: ToolCall): Promise<z.input<O>>;
}

/** Keeps input and output types of a declaration while it stands in a list. */
export function defineTool<I extends z.ZodObject, O extends z.ZodObject>(tool: Tool<I, O>): Tool<I, O> {
  return tool;
}

/** A tool whose effects nobody has named counts as one that may destroy. */
export function annotationsOf(tool: Pick<Tool, "effects" | "idempotent">): {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
} {
  const classified = tool.effects.length > 0;
  const readOnly = classified && tool.effects.every((effect) => effect === "read");
  return {
    readOnlyHint: readOnly,
    destructiveHint: !classified || tool.effects.includes("destructive"),
    idempotentHint: readOnly || tool.idempotent === true,
    openWorldHint: false,
  };
}
