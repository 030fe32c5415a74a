import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

export type Credential =
  | { readonly kind: "api_key"; readonly key: string }
  /** A token of the authorization server. */
  | { readonly kind: "bearer"; readonly token: string };

export interface CredentialRules {
  /** The header, in lower case, for clients that cannot set `Authorization`. */
  readonly apiKeyHeader: string;
  /** What every API key begins with. */
  readonly apiKeyPrefix: string;
  /** Without an authorization server a bearer that is no API key is a mistake; with one it may be its token. */
  readonly acceptsTokens: boolean;
}

export const CLOUD_CREDENTIALS = { apiKeyHeader: "x-mobilerun-cloud-api-key", apiKeyPrefix: "dr_sk_" } as const;

export type Presented =
  | { readonly kind: "ok"; readonly credential: Credential; readonly hash: string }
  | { readonly kind: "missing"; readonly message: string }
  | { readonly kind: "malformed"; readonly message: string };

/** Visible ASCII: what may stand in a header, and nothing that could end one. */
const ONE_VALUE = /^[\x21-\x7e]+$/;

/** Reads the credential from its two headers, of which a request carries one. What it says never repeats a header's value. */
export function readCredential(headers: IncomingHttpHeaders, rules: CredentialRules): Presented {
  const authorization = headers.authorization;
  const own = joined(headers[rules.apiKeyHeader])?.trim();
  if (authorization !== undefined && own !== undefined) {
    return malformed(`Send the API key in Authorization or in ${rules.apiKeyHeader}, not both.`);
  }
  if (authorization === undefined && (own === undefined || own === "")) {
    return {
      kind: "missing",
      message: `No credential. Send the API key as "Authorization: Bearer <key>" or as ${rules.apiKeyHeader}.`,
    };
  }
  const value = own ?? /^bearer[ \t]+(.*)$/i.exec(authorization?.trim() ?? "")?.[1]?.trim() ?? "";
  if (value === "") return malformed('Authorization must be "Bearer <key>".');
  if (!ONE_VALUE.test(value)) return malformed("The credential must be one value of visible ASCII characters.");
  if (value.startsWith(rules.apiKeyPrefix)) {
    return { kind: "ok", credential: { kind: "api_key", key: value }, hash: hashOf(value) };
  }
  if (own === undefined && rules.acceptsTokens) {
    return { kind: "ok", credential: { kind: "bearer", token: value }, hash: hashOf(value) };
  }
  return malformed(`The credential is not an API key: those begin with ${rules.apiKeyPrefix}.`);
}

/** Tells credentials apart without being one. */
function hashOf(secret: string): string {
  return hash("sha256", secret).slice(0, 32);
}

const malformed = (message: string): Presented => ({ kind: "malformed", message });
const joined = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(", ") : value;
