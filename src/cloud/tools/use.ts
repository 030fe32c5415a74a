import type { AuthContext, Policy, ToolCall } from "../../tool/index.ts";
import type { Backend } from "../backend/index.ts";
import type { Within } from "../backend/fields.ts";
import type { Originals } from "./originals.ts";

/** Time, so that a test need not wait for it. */
export interface Clock {
  /** Milliseconds that only rise. */
  now(): number;
  /** Rejects when the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** What the tools are given by whoever serves them. */
export interface ToolCtx {
  readonly backend: Backend;
  readonly auth: AuthContext;
  readonly policy: Policy;
  /** The only devices of which lists may tell. The gate refuses calls that name another. */
  readonly devices?: ReadonlySet<string> | undefined;
  /** Keeps what is too big for an answer, to be read through a resource link. */
  readonly originals?: Originals | undefined;
  readonly clock?: Clock | undefined;
}

/** What a handler works with during one call. */
export interface Use extends Pick<ToolCall, "progress" | "attach" | "answerWithinMs"> {
  readonly backend: Backend;
  readonly subject: string;
  readonly signal: AbortSignal;
  /** Ends a backend's call together with this one. */
  readonly within: Within;
  readonly devices: ReadonlySet<string> | undefined;
  readonly originals: Originals | undefined;
  readonly clock: Clock;
}
