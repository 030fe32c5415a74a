import type { Endpoint } from "./endpoint.ts";

/** An answer that can't be taken, with the reason as the end of a sentence. */
export class BadAnswer extends Error {}

/** A body's bytes, counted while they come: the connection is closed at the first byte beyond the limit. */
export async function readBytes(response: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const declared = Number(response.headers.get("content-length") ?? 0);
  if (response.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const tooLarge = declared > maxBytes && response.headers.get("content-encoding") === null;
  if (tooLarge) {
    await response.body.cancel();
    throw new BadAnswer(`answered with more than ${maxBytes} bytes`);
  }
  // Leaving the loop by a throw cancels the stream, and with it the connection.
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new BadAnswer(`answered with more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}

/** The type without its parameters, in small letters; empty when none was said. */
export function contentType(response: Response): string {
  return (response.headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
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
export async function readJson(response: Response, maxBytes: number): Promise<unknown> {
  const type = contentType(response);
  if (response.status !== 204 && type !== "" && !isJson(type)) {
    await response.body?.cancel();
    throw new BadAnswer(`answered with ${type.slice(0, 80)} instead of JSON`);
  }
  const bytes = await readBytes(response, maxBytes);
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
