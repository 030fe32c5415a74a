import { CloudError } from "./cloud-error.ts";
import type { Endpoint } from "./endpoint.ts";

/** Longer than any id of the API, and short enough for every server's limit on a line. */
const MAX_ID = 512;

/**
 * The address of a call. An id that is empty, `.`, `..`, too long or holds a slash or a control character is refused: it would reach another
 * endpoint than the one that was asked for.
 */
export function requestUrl(
  base: URL,
  endpoint: Endpoint,
  path: Readonly<Record<string, unknown>>,
  query: Readonly<Record<string, unknown>>,
): URL {
  const filled = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => segment(endpoint, name, path[name]));
  return new URL(`${base.origin}${base.pathname.replace(/\/+$/, "")}${filled}${queryText(query)}`);
}

function segment(endpoint: Endpoint, name: string, value: unknown): string {
  const why = typeof value === "string" ? badId(value) : "is missing";
  if (typeof value === "string" && why === undefined) return encodeURIComponent(value);
  throw new CloudError("invalid_input", `${endpoint.name} was not called: ${name} ${why}.`, {
    hint: `Give ${name} as the API named it.`,
  });
}

function badId(value: string): string | undefined {
  if (value.trim() === "") return "is empty";
  if (value.length > MAX_ID) return `is longer than ${MAX_ID} characters`;
  if (value === "." || value === "..") return `must not be ${JSON.stringify(value)}`;
  if (/[/\\]/.test(value)) return "must not hold a slash";
  if (/\p{Cc}/u.test(value)) return "must not hold control characters";
  return value.isWellFormed() ? undefined : "is not well-formed text";
}

/** Lists are joined by commas and blanks are `%20`, as the API reads them. */
function queryText(query: Readonly<Record<string, unknown>>): string {
  const text = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const text = Array.isArray(value) ? value.map(String).join(",") : String(value);
      return `${encodeURIComponent(name)}=${encodeURIComponent(text.toWellFormed())}`;
    })
    .join("&");
  return text === "" ? "" : `?${text}`;
}

/**
 * The base URL, checked once. The key travels in every request, so it goes over TLS or stays on this machine.
 * Throws `invalid_input`.
 */
export function checkedBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const why =
    url === undefined
      ? "is not a URL"
      : url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== ""
        ? "must have no login, query or fragment"
        : url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname))
          ? undefined
          : "must be https, or http on this machine";
  if (url !== undefined && why === undefined) return url;
  throw new CloudError("invalid_input", `The base URL of the API ${why}.`, {
    hint: "Give it as in https://api.mobilerun.ai/v1.",
  });
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}
