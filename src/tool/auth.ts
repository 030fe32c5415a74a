import { ToolFailure } from "./failure.ts";

/** Who calls, as policies and audit events know them. Never the credential itself. */
export interface AuthContext {
  readonly kind: "api_key" | "oauth" | "machine";
  /** Tells callers apart: for an API key a short hash of it. */
  readonly subject: string;
  /** The organisation. Known for `oauth` and `machine`; the owner of an API key is known to the platform alone. */
  readonly ownerId?: string;
  readonly clientId?: string;
  readonly scopes?: readonly string[];
  readonly tokenId?: string;
  readonly expiresAt?: Date;
}

/** @throws {ToolFailure} `invalid_input` without a subject, and without an `ownerId` for the kinds that always have one. */
export function createAuthContext(auth: AuthContext): AuthContext {
  if (auth.subject === "") throw new ToolFailure("invalid_input", "An auth context needs a subject.");
  if (auth.kind !== "api_key" && (auth.ownerId === undefined || auth.ownerId === "")) {
    throw new ToolFailure("invalid_input", `An auth context of the kind ${auth.kind} needs an ownerId.`);
  }
  return Object.freeze({
    ...auth,
    ...(auth.scopes === undefined ? {} : { scopes: Object.freeze([...auth.scopes]) }),
    ...(auth.expiresAt === undefined ? {} : { expiresAt: new Date(auth.expiresAt) }),
  });
}
