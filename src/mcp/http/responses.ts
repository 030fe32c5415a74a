/** On every answer: nothing of it is kept, framed, or taken for something else. */
export const HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

export function json(status: number, body: object, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...HEADERS, "content-type": "application/json", ...headers },
  });
}

/** What is refused before MCP. */
export function failure(status: number, message: string, headers?: Readonly<Record<string, string>>): Response {
  return json(status, { error: { message } }, headers);
}
