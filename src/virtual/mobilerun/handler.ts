import type { z } from "zod";
import type { Endpoint, HeaderName, PathParameters } from "../../cloud/index.ts";

export interface ReceivedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

type Read<D, Key extends string> = D extends { readonly [K in Key]: infer S extends z.ZodType }
  ? z.output<S>
  : undefined;
type BodyOf<D> = D extends { body: { kind: "json"; schema: infer S extends z.ZodType } }
  ? z.output<S>
  : D extends { body: { kind: "multipart" } }
    ? ReceivedFile
    : undefined;

/** A call as a handler sees it: read through the endpoint's own schemas. */
export interface Received<E extends Endpoint = Endpoint> {
  readonly path: PathParameters<E["path"]>;
  readonly query: Read<E["declared"], "query">;
  readonly body: BodyOf<E["declared"]>;
  readonly headers: Readonly<Partial<Record<HeaderName, string>>>;
  /** Aborted when the caller is gone. */
  readonly signal: AbortSignal;
}

/** A good answer beside plain JSON. */
export class Special {
  readonly status: number;
  readonly type: string | undefined;
  readonly body: Uint8Array | AsyncIterable<string> | undefined;
  constructor(status: number, type?: string, body?: Uint8Array | AsyncIterable<string>) {
    this.status = status;
    this.type = type;
    this.body = body;
  }
}

export const accepted = (body: unknown) => new Special(202, "application/json", Buffer.from(JSON.stringify(body)));
export const bytes = (type: string, body: Uint8Array) => new Special(200, type, body);

/** One handler for each endpoint of a domain; a missing one is an error of types. */
export type Handlers<T> = {
  readonly [K in keyof T]: T[K] extends Endpoint ? (call: Received<T[K]>) => unknown : never;
};
