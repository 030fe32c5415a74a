import { SimlockError } from "../contract/index.ts";

export interface Failure {
  readonly code: string;
  /** What was refused or went wrong, and why. */
  readonly message: string;
  /** The next safe step. */
  readonly hint?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Why a tool gives no answer. Its codes are the toolset's own contract; those of the gate are listed at `GateCode`. */
export class ToolFailure extends Error implements Failure {
  readonly code: string;
  readonly hint?: string;
  readonly details?: Readonly<Record<string, unknown>>;

  constructor(code: string, message: string, more: Pick<Failure, "hint" | "details"> & { cause?: unknown } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = "ToolFailure";
    this.code = code;
    if (more.hint !== undefined) this.hint = more.hint;
    if (more.details !== undefined) this.details = more.details;
  }
}

/** What a caller is told of anything that a tool threw. The text of what nobody expected stays with us. */
export function failureOf(thrown: unknown): Failure {
  if (thrown instanceof ToolFailure) return failure(thrown.code, thrown.message, thrown.hint, thrown.details);
  if (thrown instanceof SimlockError) return failure(thrown.code, thrown.message, thrown.hint, thrown.details);
  return { code: "internal", message: "Simlock failed in a way it did not expect." };
}

/** The text of an `isError` result: `[code] message`, and the hint in a line of its own. */
export function failureText({ code, message, hint }: Failure): string {
  return hint === undefined ? `[${code}] ${message}` : `[${code}] ${message}\n${hint}`;
}

function failure(code: string, message: string, hint?: string, details?: Failure["details"]): Failure {
  return {
    code,
    message,
    ...(hint === undefined ? {} : { hint }),
    ...(details === undefined ? {} : { details }),
  };
}
