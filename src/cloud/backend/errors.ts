import { ToolFailure } from "../../tool/index.ts";

export type BackendCode =
  | "not_found"
  | "forbidden"
  | "rate_limited"
  | "upstream_error"
  | "invalid_input"
  | "conflict"
  | "payment_required"
  | "timeout"
  | "cancelled";

/** The one error that a backend, or a tool built on it, fails with. */
export class BackendError extends ToolFailure {
  declare readonly code: BackendCode;
  /** Of HTTP, where there was an answer. */
  readonly status: number | undefined;

  constructor(
    code: BackendCode,
    message: string,
    more: { hint?: string; details?: Readonly<Record<string, unknown>>; status?: number; cause?: unknown } = {},
  ) {
    super(code, message, more);
    this.name = "BackendError";
    this.status = more.status;
  }
}

/** The same error about a named thing. */
export function about(what: string, thrown: unknown): unknown {
  if (!(thrown instanceof BackendError)) return thrown;
  return new BackendError(thrown.code, `${what}: ${thrown.message}`, {
    ...(thrown.hint === undefined ? {} : { hint: thrown.hint }),
    ...(thrown.status === undefined ? {} : { status: thrown.status }),
    cause: thrown,
  });
}

export function hasCode(thrown: unknown, ...codes: readonly BackendCode[]): boolean {
  return thrown instanceof BackendError && codes.includes(thrown.code);
}
