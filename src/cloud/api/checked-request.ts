import type { z } from "zod";
import { CloudError } from "./cloud-error.ts";
import { HEADERS, type Endpoint, type HeaderName, type UploadedFile } from "./endpoint.ts";
import { requestUrl } from "./request-url.ts";

/** A request before its types are known to be right. */
export interface LooseRequest {
  readonly path?: Readonly<Record<string, unknown>> | undefined;
  readonly query?: unknown;
  readonly body?: unknown;
  readonly headers?: Readonly<Partial<Record<HeaderName, string | number | undefined>>> | undefined;
}

/** What goes out, the same at every attempt. The authorization is not part of it. */
export interface CheckedRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | FormData | undefined;
}

/** Checks a request against what its endpoint declares. Throws `invalid_input` before anything is sent. */
export function checkedRequest(base: URL, endpoint: Endpoint, request: LooseRequest): CheckedRequest {
  const { query: querySchema, body: declared } = endpoint.declared;
  const query = querySchema === undefined ? {} : parsed(endpoint, "query", querySchema, request.query ?? {});
  const url = requestUrl(base, endpoint, request.path ?? {}, query);
  const headers = {
    accept: accepted(endpoint),
    "user-agent": "simlock",
    ...ownHeaders(endpoint, request.headers ?? {}),
  };
  if (declared === undefined) return { url, headers, body: undefined };
  if (declared.kind === "multipart") {
    return { url, headers, body: form(endpoint, declared.field, request.body as UploadedFile) };
  }
  // An operation with a body has one even when there is nothing to say: `{}`.
  const body = JSON.stringify(parsed(endpoint, "body", declared.schema, request.body ?? {}));
  return { url, headers: { ...headers, "content-type": "application/json" }, body };
}

function parsed(endpoint: Endpoint, part: string, schema: z.ZodObject, value: unknown): Record<string, unknown> {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const issues = read.error.issues
    .slice(0, 10)
    .map((issue) => `${[part, ...issue.path].map(String).join(".")}: ${issue.message}`);
  throw new CloudError("invalid_input", `${endpoint.name} was not called: ${issues.join("; ")}`);
}

function accepted(endpoint: Endpoint): string {
  const { kind } = endpoint.declared.answer;
  return kind === "json" ? "application/json" : kind === "events" ? "text/event-stream" : "*/*";
}

function ownHeaders(endpoint: Endpoint, given: NonNullable<LooseRequest["headers"]>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of endpoint.declared.headers ?? []) {
    const value = given[name];
    if (value === undefined) continue;
    const text = String(value);
    const good = name === "displayId" ? /^\d{1,9}$/.test(text) : /^[\x21-\x7e]{1,255}$/.test(text);
    if (!good)
      throw new CloudError("invalid_input", `${endpoint.name} was not called: ${name} is not one that can be sent.`);
    headers[HEADERS[name]] = text;
  }
  return headers;
}

/** The API takes the file's name as its name on the device, so a missing one, or one with a path in it, is refused. */
function form(endpoint: Endpoint, field: string, file: UploadedFile): FormData {
  const { name } = file;
  if (name.trim() === "" || name === "." || name === ".." || name.length > 255 || /[/\\\p{Cc}]/u.test(name)) {
    throw new CloudError(
      "invalid_input",
      `${endpoint.name} was not called: the file needs a name without a path in it.`,
    );
  }
  const data = new FormData();
  const blob = new Blob([file.bytes as Uint8Array<ArrayBuffer>], {
    type: file.contentType ?? "application/octet-stream",
  });
  data.set(field, blob, name);
  return data;
}
