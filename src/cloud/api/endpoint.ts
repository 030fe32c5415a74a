import type { z } from "zod";
import type { Effect } from "../../tool/index.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * When a call may be sent again after a failure that can pass: `safe` (it only reads), `withKey` (only when the caller gave an
 * idempotency key), `never` (a second tap, purchase or device is worse than an error).
 */
export type Retry = "safe" | "withKey" | "never";

/** Headers that a caller may set, by the names used here. No others: a caller can't reach the authorization. */
export const HEADERS = {
  /** Which display of the device is meant, an integer from 0. */
  displayId: "x-device-display-id",
  /** The same key makes the same write happen once. */
  idempotencyKey: "idempotency-key",
  /** Handed out with a media session. */
  mediaControlToken: "x-media-control-token",
} as const;
export type HeaderName = keyof typeof HEADERS;

export interface UploadedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly contentType?: string;
}

export type Body =
  { readonly kind: "json"; readonly schema: z.ZodObject } | { readonly kind: "multipart"; readonly field: string };

/**
 * What a good answer is. `binary` lists the beginnings of the content types that it may have, none for any. `events` is a stream of
 * server-sent events whose data is JSON.
 */
export type Answer =
  | { readonly kind: "json"; readonly schema: z.ZodType }
  | { readonly kind: "binary"; readonly types: readonly string[] }
  | { readonly kind: "events" }
  | { readonly kind: "empty" };

/** What the author of an endpoint writes down beside its method and path. */
export interface Declared {
  readonly query?: z.ZodObject;
  readonly body?: Body;
  readonly headers?: readonly HeaderName[];
  readonly answer: Answer;
  /** Read for GET, destructive for DELETE and write for the rest, unless said otherwise. */
  readonly effects?: readonly Effect[];
  /** `safe` for GET and `never` for the rest, unless said otherwise. */
  readonly retry?: Retry;
}

/** One endpoint of the API as data. Its path is below the base URL, with `{name}` where an id stands. */
export interface Endpoint<P extends string = string, D extends Declared = Declared> {
  /** `domain.operation`, unique in the table. */
  readonly name: string;
  readonly method: Method;
  readonly path: P;
  readonly declared: D;
  readonly effects: readonly Effect[];
  readonly retry: Retry;
}

type Unnamed<P extends string, D extends Declared> = Omit<Endpoint<P, D>, "name">;

function endpoint(method: Method, effects: readonly Effect[], retry: Retry) {
  return <const P extends string, const D extends Declared>(path: P, declared: D): Unnamed<P, D> => ({
    method,
    path,
    declared,
    effects: declared.effects ?? effects,
    retry: declared.retry ?? retry,
  });
}

export const get = endpoint("GET", ["read"], "safe");
export const post = endpoint("POST", ["write"], "never");
export const put = endpoint("PUT", ["write"], "never");
export const patch = endpoint("PATCH", ["write"], "never");
export const remove = endpoint("DELETE", ["destructive"], "never");

type Named<T> = { readonly [K in keyof T]: T[K] extends Unnamed<infer P, infer D> ? Endpoint<P, D> : never };

/** Gives each endpoint of a domain its name: `devices` and `list` make `devices.list`. */
export function domain<const T extends Readonly<Record<string, Unnamed<string, Declared>>>>(
  name: string,
  endpoints: T,
): Named<T> {
  const named = Object.entries(endpoints).map(([operation, rest]) => [
    operation,
    { name: `${name}.${operation}`, ...rest },
  ]);
  return Object.fromEntries(named) as Named<T>;
}

export function json<const S extends z.ZodType>(schema: S): { readonly kind: "json"; readonly schema: S } {
  return { kind: "json", schema };
}

/** The body of an upload: one part named `file`. */
export const upload = { kind: "multipart", field: "file" } as const;
export const empty = { kind: "empty" } as const;
export const events = { kind: "events" } as const;
export function binary(...types: readonly string[]): { readonly kind: "binary"; readonly types: readonly string[] } {
  return { kind: "binary", types };
}
