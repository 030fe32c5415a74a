import type { z } from "zod";
import type { Attachment } from "./attachment.ts";

/** What a call can do. Several may hold; annotations and policies are computed from them. */
export type Effect = "read" | "write" | "destructive" | "commerce";

/** What a call does, and what a policy wants to know of it beyond its effects. No effects means that nobody has classified it. */
export interface Facts {
  readonly effects: readonly Effect[];
  /** Its answer holds a secret, or what identifies a person or a device, on purpose. */
  readonly reveals?: boolean;
  /** It makes somebody else's machine connect to a host that the caller names. */
  readonly dials?: boolean;
  /** It costs money or credits, or sets going what does. */
  readonly billed?: boolean;
  /** It acts on devices without naming them in `deviceId` or `deviceIds`. */
  readonly anyDevice?: boolean;
}

/** A tool that does one of several things: which input field chooses, and what each of its values does. */
export interface Operations {
  readonly field: string;
  readonly facts: Readonly<Record<string, Facts>>;
}

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
  /** After so long the server gives up on a call that has no progress to send. Missing where it never does. */
  readonly answerWithinMs?: number;
  /** W3C trace context of the request that the call came with, for what is called in turn. */
  readonly traceparent?: string;
  /** Sends something beside the structured content. Not to be called after the tool has answered. */
  readonly attach?: (attachment: Attachment) => void;
}

/**
 * One tool, declared once: its names and schemas, what it can do, and its handler side by side. Inputs are strict. What the handler returns
 * is sent as structured content and, as the same JSON, as text; a `SimlockError` that it throws becomes `isError` with `{code, message}`.
 */
export interface Tool<I extends z.ZodObject = z.ZodObject, O extends z.ZodObject = z.ZodObject> extends Facts {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: I;
  readonly output: O;
  /** What each of its operations does. Its own effects are then those of all of them together. */
  readonly operations?: Operations;
  /** Finds out which devices a call acts on that does not name them, for operations that are marked with `anyDevice`. */
  devicesOf?(input: z.output<I>, call: ToolCall): Promise<readonly string[]>;
  /** It deals with a world outside the machine that Simlock runs on. */
  readonly openWorld?: boolean;
  readonly idempotent?: boolean;
  /** Its calls that change the session wait for each other; a tool that is not `serial` runs beside them. */
  readonly serial?: boolean;
  /** Whether a whole answer tells of a failure: it is then sent as it is, and marked as an error. */
  failed?(output: z.output<O>): boolean;
  handle(input: z.output<I>, call: ToolCall): Promise<z.input<O>>;
}

/** Keeps input and output types of a declaration while it stands in a list. */
export function defineTool<I extends z.ZodObject, O extends z.ZodObject>(tool: Tool<I, O>): Tool<I, O> {
  return tool;
}

/** A tool whose effects nobody has named counts as one that may destroy. */
export function annotationsOf(tool: Pick<Tool, "effects" | "idempotent" | "openWorld">): {
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
    openWorldHint: tool.openWorld === true,
  };
}
