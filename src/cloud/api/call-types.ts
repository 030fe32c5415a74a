import type { z } from "zod";
import type { Endpoint, HeaderName, UploadedFile } from "./endpoint.ts";

/** Bytes as they came, and what the API called them. */
export interface BinaryAnswer {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
}

/** One event of a stream: its name (`message` when it has none) and its data, read as JSON where it is JSON. */
export interface StreamedEvent {
  readonly event: string;
  readonly data: unknown;
}

type ParameterOf<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterOf<Rest>
  : never;

/** The ids in a path, by name. */
export type PathParameters<P extends string> = { readonly [Name in ParameterOf<P>]: string };

type PathPart<P extends string> = [ParameterOf<P>] extends [never]
  ? { readonly path?: undefined }
  : { readonly path: PathParameters<P> };

/** A part that may be left out when nothing in it must be given. */
type Part<Key extends string, Value> =
  Record<never, never> extends Value ? { readonly [K in Key]?: Value } : { readonly [K in Key]: Value };

type QueryPart<D> = D extends { query: infer Q extends z.ZodObject }
  ? Part<"query", z.input<Q>>
  : { readonly query?: undefined };

type BodyPart<D> = D extends { body: { kind: "json"; schema: infer B extends z.ZodObject } }
  ? Part<"body", z.input<B>>
  : D extends { body: { kind: "multipart" } }
    ? { readonly body: UploadedFile }
    : { readonly body?: undefined };

type HeaderPart<D> = D extends { headers: readonly (infer H extends HeaderName)[] }
  ? { readonly headers?: { readonly [K in H]?: (K extends "displayId" ? number : string) | undefined } }
  : { readonly headers?: undefined };

export interface CallOptions {
  /** Ends the request, its retries and the reading of its answer. */
  readonly signal?: AbortSignal | undefined;
  /** For the whole call with its retries; the client's limit when it is left out. */
  readonly timeoutMs?: number | undefined;
  /** Of the answer, decompressed; the client's limit when it is left out. */
  readonly maxBytes?: number | undefined;
  /** W3C trace context: sent as it is, with each attempt. */
  readonly traceparent?: string | undefined;
}

export type RequestOf<E extends Endpoint> = CallOptions &
  PathPart<E["path"]> &
  QueryPart<E["declared"]> &
  BodyPart<E["declared"]> &
  HeaderPart<E["declared"]>;

export type AnswerOf<E extends Endpoint> = E["declared"]["answer"] extends infer A
  ? A extends { kind: "json"; schema: infer S extends z.ZodType }
    ? z.output<S>
    : A extends { kind: "binary" }
      ? BinaryAnswer
      : A extends { kind: "events" }
        ? AsyncIterable<StreamedEvent>
        : undefined
  : never;

/** The request's own argument, which may be left out when the endpoint needs nothing. */
export type RequestArgument<E extends Endpoint> =
  Record<never, never> extends RequestOf<E> ? [request?: RequestOf<E>] : [request: RequestOf<E>];
