import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { Endpoint } from "./endpoint.ts";

/** An answer whose body is still to come: it is read to its end or let go of, or its connection is held. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Decompressed. */
  readonly body: Readable;
}

/** An answer that can't be taken, with the reason as the end of a sentence. */
export class BadAnswer extends Error {}

/** A body's bytes, counted while they come: the connection is closed at the first byte beyond the limit. */
export async function readBytes({ headers, body }: HttpAnswer, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const declared = Number(headers["content-length"] ?? 0);
  const tooLong = () => {
    body.destroy();
    return new BadAnswer(`answered with more than ${maxBytes} bytes`);
  };
  if (declared > maxBytes && headers["content-encoding"] === undefined) throw tooLong();
  const chunks: Uint8Array[] = [];
  let size = 0;
  await new Promise<void>((resolve, reject) => {
    body.on("data", (chunk: Uint8Array) => {
      size += chunk.byteLength;
      if (size > maxBytes) reject(tooLong());
      else chunks.push(chunk);
    });
    body.on("end", resolve).on("error", reject);
    body.on("close", () => reject(new Error("The connection was closed within the body.")));
  });
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}

/** Beyond it a new connection costs less than the rest of a body. */
const MAX_UNREAD_BYTES = 64 * 1024;
const MAX_UNREAD_MS = 1000;

/** Lets go of a body that nobody wants: a short one is read, so that its connection serves the next call. */
export function letGo({ status, headers, body }: HttpAnswer): void {
  const left = status === 204 ? 0 : Number(headers["content-length"] ?? Number.NaN);
  if (!(left <= MAX_UNREAD_BYTES)) {
    body.destroy();
    return;
  }
  const timer = setTimeout(() => body.destroy(), MAX_UNREAD_MS).unref();
  body.once("close", () => clearTimeout(timer)).resume();
}

/** The type without its parameters, in small letters; empty when none was said. */
export function contentType({ headers }: HttpAnswer): string {
  return (headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** One for all: each holds memory outside the heap, which is given back late. */
const utf8 = new TextDecoder();

export function jsonOf(bytes: Uint8Array): unknown {
  return JSON.parse(utf8.decode(bytes));
}

export function isJson(type: string): boolean {
  return type === "application/json" || type.endsWith("+json");
}

/** The JSON of an answer; null where the body is empty, as after 204. */
export async function readJson(answer: HttpAnswer, maxBytes: number): Promise<unknown> {
  const type = contentType(answer);
  if (answer.status !== 204 && type !== "" && !isJson(type)) {
    letGo(answer);
    throw new BadAnswer(`answered with ${type.slice(0, 80)} instead of JSON`);
  }
  const bytes = await readBytes(answer, maxBytes);
  if (bytes.length === 0) return null;
  try {
    return jsonOf(bytes);
  } catch {
    throw new BadAnswer("answered with JSON that can't be read");
  }
}

/** Up to three places where an answer is not what the endpoint declares; the values stay out. */
export function checkShape(endpoint: Endpoint, value: unknown): unknown {
  const { answer } = endpoint.declared;
  if (answer.kind !== "json") return undefined;
  const read = answer.schema.safeParse(value);
  if (read.success) return read.data;
  const places = read.error.issues
    .slice(0, 3)
    .map((issue) => issue.path.map(String).join(".").slice(0, 80) || "the whole");
  throw new BadAnswer(`answered with a shape that it does not have (${places.join(", ")})`);
}
