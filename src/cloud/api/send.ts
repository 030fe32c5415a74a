import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip } from "node:zlib";
import { BadAnswer, type HttpAnswer } from "./read-answer.ts";

export interface HttpRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | FormData | undefined;
  readonly signal: AbortSignal;
}

/** Sends a request once, as it is. Rejects when there is no answer; an error of the body comes out of the body. */
export type Send = (request: HttpRequest) => Promise<HttpAnswer>;

const DECODERS: Readonly<Record<string, () => NodeJS.ReadWriteStream & Readable>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  br: createBrotliDecompress,
};

/**
 * Over Node's own client, whose connections are kept for the next call and which obeys `NODE_USE_ENV_PROXY`. Its `fetch` does the same at
 * three times the cost: a call's headers and body pass through the web's streams there.
 */
export const sendOverHttp: Send = async ({ url, method, headers, body: given, signal }) => {
  const payload = given instanceof FormData ? await multipart(given) : { headers: {}, content: given };
  signal.throwIfAborted();
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    const { protocol, hostname, port, pathname, search } = url;
    const outgoing = (protocol === "https:" ? httpsRequest : httpRequest)({
      protocol,
      // A literal IPv6 address stands in brackets in a URL alone.
      hostname: hostname.replace(/^\[(.*)\]$/, "$1"),
      port,
      path: pathname + search,
      method,
      headers: {
        ...headers,
        "accept-encoding": "gzip, br",
        ...payload.headers,
        ...(payload.content === undefined ? {} : { "content-length": Buffer.byteLength(payload.content) }),
      },
    });
    // Its own option for a signal costs more than all else here. This one is the call's, and goes when the call has ended.
    signal.addEventListener("abort", () => outgoing.destroy(), { once: true });
    outgoing.once("response", resolve).on("error", reject).end(payload.content);
  });
  const body = hasBody(method, incoming) ? decoded(incoming) : incoming;
  // Whoever reads it hears of it as well. A body that nobody reads may break all the same, and an error that nobody hears ends the process.
  body.on("error", () => {});
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, body };
};

async function multipart(form: FormData) {
  const encoded = new Response(form);
  const headers = { "content-type": encoded.headers.get("content-type") ?? "" };
  return { headers, content: await encoded.bytes() };
}

const hasBody = (method: string, { statusCode }: IncomingMessage): boolean =>
  method !== "HEAD" && statusCode !== 204 && statusCode !== 304;

function decoded(incoming: IncomingMessage): Readable {
  const encoding = incoming.headers["content-encoding"]?.toLowerCase() ?? "identity";
  if (encoding === "identity") return incoming;
  const decoder = DECODERS[encoding]?.();
  if (decoder === undefined) {
    incoming.destroy();
    throw new BadAnswer("answered in an encoding that was not asked for");
  }
  // What goes wrong on either side destroys the decoder, and so reaches whoever reads it.
  return pipeline(incoming, decoder, () => {});
}
