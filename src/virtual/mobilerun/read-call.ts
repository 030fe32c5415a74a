import type { IncomingMessage } from "node:http";
import type { z } from "zod";
import { HEADERS, type Endpoint, type HeaderName } from "../../cloud/index.ts";
import type { Received, ReceivedFile } from "./handler.ts";
import { Problem } from "./problem.ts";
import { readQuery } from "./read-query.ts";

/** The largest request that is read, an uploaded file included. */
const MAX_BYTES = 64 * 1024 * 1024;

/** A request read through its endpoint's schemas. Throws 400 where it is not what they say, and 413 where it is too long. */
export async function readCall(
  request: IncomingMessage,
  endpoint: Endpoint,
  path: Readonly<Record<string, string>>,
  params: URLSearchParams,
  signal: AbortSignal,
): Promise<Received> {
  const { query, body, headers = [] } = endpoint.declared;
  const bytes = await wholeBody(request);
  const call = {
    path,
    query: query === undefined ? undefined : checked("query", query, readQuery(query, params)),
    body:
      body === undefined
        ? undefined
        : body.kind === "json"
          ? jsonBody(body.schema, bytes)
          : await file(request, bytes, body.field),
    headers: given(request, headers),
    signal,
  };
  return call as unknown as Received;
}

async function wholeBody(request: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Problem(413, `A request has ${MAX_BYTES} bytes at most`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function jsonBody(schema: z.ZodObject, bytes: Buffer): unknown {
  try {
    return checked("body", schema, JSON.parse(bytes.length === 0 ? "{}" : bytes.toString()));
  } catch (thrown) {
    if (thrown instanceof Problem) throw thrown;
    throw new Problem(400, "The body is not JSON");
  }
}

function checked(part: string, schema: z.ZodObject, value: unknown): unknown {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new Problem(400, `${[part, ...(issue?.path ?? [])].map(String).join(".")}: ${issue?.message ?? "is wrong"}`);
}

async function file(request: IncomingMessage, bytes: Buffer<ArrayBuffer>, field: string): Promise<ReceivedFile> {
  const type = request.headers["content-type"] ?? "";
  if (!type.startsWith("multipart/form-data")) throw new Problem(415, "Send multipart/form-data");
  const form = await new Response(bytes, { headers: { "content-type": type } }).formData().catch(() => undefined);
  const part = form?.get(field);
  if (!(part instanceof File)) throw new Problem(400, `The part ${field} is missing`);
  if (/[/\\]/.test(part.name) || part.name === "" || part.name === "..")
    throw new Problem(400, "The file has no usable name");
  return { name: part.name, bytes: new Uint8Array(await part.arrayBuffer()) };
}

function given(request: IncomingMessage, names: readonly HeaderName[]): Received["headers"] {
  const entries = names.flatMap((name) => {
    const value = request.headers[HEADERS[name]];
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  return Object.fromEntries(entries);
}
