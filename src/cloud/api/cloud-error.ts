export type CloudErrorCode =
  | "not_found"
  | "forbidden"
  | "rate_limited"
  | "upstream_error"
  | "invalid_input"
  | "conflict"
  | "payment_required"
  | "timeout"
  | "cancelled";

const HINTS: Readonly<Partial<Record<CloudErrorCode, string>>> = {
  not_found: "Check what the call names, and list what there is.",
  forbidden: "Check the API key and what it may reach.",
  conflict: "Look what state it is in: a device may not be ready yet, a field may not have the focus.",
  payment_required: "Check the balance and the plan of the account.",
};

/**
 * The one error of calls to the API. The message says which endpoint refused, with which status, and what the API said about it in one cleaned
 * line; it holds neither the key nor a body as it came.
 */
export class CloudError extends Error {
  readonly code: CloudErrorCode;
  /** The HTTP status, when there was an answer. */
  readonly status: number | undefined;
  /** How long the API asks to be left alone. */
  readonly retryAfterMs: number | undefined;
  /** True when a write may have been carried out although it failed here: look before doing it again. */
  readonly mayHaveHappened: boolean;
  readonly hint: string | undefined;

  constructor(
    code: CloudErrorCode,
    message: string,
    more: { status?: number; retryAfterMs?: number | undefined; mayHaveHappened?: boolean; hint?: string } = {},
  ) {
    super(message);
    this.name = "CloudError";
    this.code = code;
    this.status = more.status;
    this.retryAfterMs = more.retryAfterMs;
    this.mayHaveHappened = more.mayHaveHappened ?? false;
    this.hint =
      more.hint ??
      (this.mayHaveHappened
        ? "It may have been carried out all the same: read the state before trying again."
        : HINTS[code]);
  }
}

/** What a status of 400 and above means. */
export function codeOfStatus(status: number): CloudErrorCode {
  switch (status) {
    case 400:
    case 413:
    case 422:
      return "invalid_input";
    case 401:
    case 403:
      return "forbidden";
    case 402:
      return "payment_required";
    case 404:
    case 410:
      return "not_found";
    case 408:
    case 504:
      return "timeout";
    case 409:
      return "conflict";
    case 429:
      return "rate_limited";
    default:
      return "upstream_error";
  }
}
