import { createHmac } from "node:crypto";

export interface Attempt {
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly responseStatus: number | null;
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly responseSnippet: string | null;
  readonly error: string | null;
  readonly durationMs: number;
}

const TIMEOUT_MS = 5000;
const SNIPPET = 500;

/** `v1` and the hex HMAC-SHA256 of `<id>.<timestamp>.<body>` under the webhook's secret. */
export function signature(secret: string, id: string, timestamp: number, body: string): string {
  return `v1=${createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`).digest("hex")}`;
}

/** Posts one signed delivery. To this machine only, unless the server was told otherwise: a stand-in must not call strangers. */
export async function post(
  url: string,
  secret: string,
  id: string,
  timestamp: number,
  body: string,
  anywhere: boolean,
  closing: AbortSignal,
): Promise<Attempt> {
  const requestHeaders = {
    "content-type": "application/json",
    "x-mobilerun-delivery": id,
    "x-mobilerun-timestamp": String(timestamp),
    "x-mobilerun-signature": signature(secret, id, timestamp, body),
  };
  const failed = (error: string, durationMs = 0): Attempt => ({
    requestHeaders,
    responseStatus: null,
    responseHeaders: {},
    responseSnippet: null,
    error,
    durationMs,
  });
  if (!anywhere && !isHere(url)) return failed("Not sent: the virtual API posts to this machine only");
  const began = performance.now();
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: requestHeaders,
      body,
      redirect: "manual",
      signal: AbortSignal.any([closing, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    const responseSnippet = await beginning(response);
    return {
      requestHeaders,
      responseStatus: response.status,
      responseHeaders: Object.fromEntries(response.headers),
      responseSnippet,
      error: response.ok ? null : `The receiver answered ${response.status}`,
      durationMs: Math.round(performance.now() - began),
    };
  } catch {
    return failed("The receiver could not be reached", Math.round(performance.now() - began));
  }
}

function isHere(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

async function beginning(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length >= SNIPPET) break;
  }
  return text.slice(0, SNIPPET);
}
