import { setImmediate } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { HEADERS, KEY, legacy, modern, served } from "./server.fixture.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function server(env: Readonly<Record<string, string>> = {}, more: Parameters<typeof served>[1] = {}) {
  const started = await served(env, more);
  closers.push(started.close);
  return started;
}

const ping = legacy("ping");
const messageOf = async (response: Response) =>
  ((await response.json()) as { error: { message: string } }).error.message;

test("a request without a credential is told where to learn who gives them out", async () => {
  const { url } = await server({ MCP_RESOURCE_URL: "https://phones.example/v1/mcp" });
  const response = await fetch(url, {
    method: "POST",
    headers: { accept: HEADERS.accept, "content-type": "application/json", "x-forwarded-host": "evil.example" },
    body: JSON.stringify(ping),
  });
  expect(response.status).toBe(401);
  expect(response.headers.get("www-authenticate")).toBe(
    'Bearer resource_metadata="https://phones.example/v1/mcp/.well-known/oauth-protected-resource"',
  );
  expect(await messageOf(response)).toContain("No credential");
});

test.each([
  ["Basic abc", {}, "Bearer <key>"],
  ["Bearer", {}, "Bearer <key>"],
  ["Bearer eyJhbGciOi", {}, "dr_sk_"],
  [`Bearer ${KEY} more`, {}, "one value"],
  [`Bearer ${KEY}`, { "x-mobilerun-cloud-api-key": KEY }, "not both"],
])("a credential that is not one is a mistake: %s", async (authorization, more, why) => {
  const { post, audit } = await server();
  const response = await post(ping, { authorization, ...more });
  expect(response.status).toBe(400);
  const message = await messageOf(response);
  expect(message).toContain(why);
  expect(message).not.toContain("eyJhbGciOi");
  expect(audit).toEqual([]);
});

test.each([[{ authorization: `bearer   ${KEY}  ` }], [{ authorization: "", "x-mobilerun-cloud-api-key": ` ${KEY} ` }]])(
  "either header carries the key: %o",
  async (given) => {
    const { url } = await server();
    const headers: Record<string, string> = { accept: HEADERS.accept, "content-type": "application/json", ...given };
    if (headers["authorization"] === "") delete headers["authorization"];
    expect((await fetch(url, { method: "POST", headers, body: JSON.stringify(ping) })).status).toBe(200);
  },
);

test("with an authorization server a foreign token is refused as a token, and the metadata stands where clients look", async () => {
  const { post, url } = await server({
    MCP_AUTH_SERVER_URL: "https://login.example",
    MCP_RESOURCE_URL: "https://phones.example/v1/mcp",
  });
  const response = await post(ping, { authorization: "Bearer eyJhbGciOi" });
  expect(response.status).toBe(401);
  expect(response.headers.get("www-authenticate")).toBe(
    'Bearer error="invalid_token", resource_metadata="https://phones.example/.well-known/oauth-protected-resource"',
  );
  for (const place of ["", "/mcp", "/v1/mcp"]) {
    const found = await fetch(new URL(`/.well-known/oauth-protected-resource${place}`, url));
    expect(await found.json()).toEqual({
      resource: "https://phones.example/v1/mcp",
      authorization_servers: ["https://login.example"],
      bearer_methods_supported: ["header"],
      scopes_supported: ["openid", "profile", "email", "offline_access"],
    });
  }
});

test("without an authorization server there is no metadata", async () => {
  const { url } = await server();
  expect((await fetch(new URL("/.well-known/oauth-protected-resource", url))).status).toBe(404);
});

test("a body over the limit is refused, whether or not it says its length", async () => {
  const { post, url } = await server({ MCP_BODY_LIMIT_BYTES: "1000" });
  const large = JSON.stringify(legacy("tools/call", { name: "echo", arguments: { text: "x".repeat(1000) } }));
  expect((await post(large)).status).toBe(413);
  const stream = new ReadableStream({
    start(controller) {
      for (const part of large.match(/.{1,100}/g) ?? []) controller.enqueue(new TextEncoder().encode(part));
      controller.close();
    },
  });
  const chunked = await fetch(url, { method: "POST", headers: HEADERS, body: stream, duplex: "half" });
  expect(chunked.status).toBe(413);
  expect(await messageOf(chunked)).toContain("1000 bytes");
  expect((await post(ping)).status).toBe(200);
});

test("an address has as many requests as its limit, and one more when a token has come back", async () => {
  const { post, clock } = await server({ MCP_RATE_LIMIT_PER_IP_PER_MIN: "6", MCP_RATE_LIMIT_PER_KEY_PER_MIN: "100" });
  for (let sent = 0; sent < 6; sent += 1) expect((await post(ping)).status).toBe(200);
  const over = await post(ping);
  expect([over.status, over.headers.get("retry-after")]).toEqual([429, "10"]);
  await clock.advance(9_999);
  const still = await post(ping);
  expect([still.status, still.headers.get("retry-after")]).toEqual([429, "1"]);
  await clock.advance(1);
  expect((await post(ping)).status).toBe(200);
  expect((await post(ping)).status).toBe(429);
});

test("a credential has a limit of its own, which what is no credential does not touch", async () => {
  const { post } = await server({ MCP_RATE_LIMIT_PER_KEY_PER_MIN: "2" });
  for (let sent = 0; sent < 3; sent += 1)
    expect((await post(ping, { authorization: "Bearer other" })).status).toBe(400);
  expect((await post(ping)).status).toBe(200);
  expect((await post(ping)).status).toBe(200);
  expect((await post(ping)).status).toBe(429);
  expect((await post(ping, { authorization: "Bearer dr_sk_another" })).status).toBe(200);
});

test("addresses come from a proxy only where there is one, and then what it wrote itself", async () => {
  const limit = { MCP_RATE_LIMIT_PER_IP_PER_MIN: "1" };
  const plain = await server(limit);
  expect((await plain.post(ping, { "x-forwarded-for": "203.0.113.1" })).status).toBe(200);
  expect((await plain.post(ping, { "x-forwarded-for": "203.0.113.2" })).status).toBe(429);
  const behind = await server({ ...limit, MCP_TRUST_PROXY: "true" });
  expect((await behind.post(ping, { "x-forwarded-for": "203.0.113.1" })).status).toBe(200);
  expect((await behind.post(ping, { "x-forwarded-for": "203.0.113.2" })).status).toBe(200);
  expect((await behind.post(ping, { "x-forwarded-for": "6.6.6.6, 203.0.113.1" })).status).toBe(429);
});

test("a call that has no answer in time is aborted, and is told before how long that is", async () => {
  const { post, clock, arrived, audit } = await server({ MCP_REQUEST_TIMEOUT_MS: "5000" });
  const answer = post(legacy("tools/call", { name: "wait_for_it", arguments: {} }));
  const call = await arrived();
  expect(call.answerWithinMs).toBe(5000);
  await clock.advance(4_999);
  expect(call.signal.aborted).toBe(false);
  await clock.advance(1);
  const response = await answer;
  expect(response.status).toBe(504);
  expect(await messageOf(response)).toContain("5000 ms");
  expect(call.signal.aborted).toBe(true);
  expect(audit).toMatchObject([{ toolName: "wait_for_it", outcome: "error" }]);
});

test("a body that does not come is not waited for", async () => {
  const { url, clock } = await server({ MCP_REQUEST_TIMEOUT_MS: "5000" });
  const begun = Promise.withResolvers<void>();
  const stream = new ReadableStream({
    pull: (controller) => {
      controller.enqueue(new TextEncoder().encode("{"));
      begun.resolve();
      return new Promise(() => {});
    },
  });
  const answer = fetch(url, { method: "POST", headers: HEADERS, body: stream, duplex: "half" });
  await begun.promise;
  // Whether the request has arrived shows in the timer that it set.
  while (clock.pending === 0) await setImmediate();
  await clock.advance(5000);
  expect((await answer).status).toBe(504);
});

test("a stream that has begun is past the time limit and has one of its own", async () => {
  const { post, clock, arrived } = await server({ MCP_REQUEST_TIMEOUT_MS: "5000", MCP_STREAM_TIMEOUT_MS: "60000" });
  const wait = { name: "wait_for_it", arguments: {}, _meta: { progressToken: "t" } };
  const answer = post(legacy("tools/call", wait, 7));
  const call = await arrived();
  call.progress?.({ progress: 1, message: "begun" });
  const response = await answer;
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  await clock.advance(59_999);
  expect(call.signal.aborted).toBe(false);
  await clock.advance(1);
  const text = await response.text();
  expect(call.signal.aborted).toBe(true);
  expect(text).toContain(": keepalive\n\n");
  expect(text.trim().split("\n").at(-1)).toBe(
    'data: {"jsonrpc":"2.0","id":7,"error":{"code":-32001,"message":"Request timed out"}}',
  );
});

test("a call that takes a stream gets one before the time is up, though it has nothing to tell", async () => {
  const { post, clock, arrived } = await server({ MCP_REQUEST_TIMEOUT_MS: "5000" });
  const answer = post(legacy("tools/call", { name: "wait_for_it", arguments: {}, _meta: { progressToken: 1 } }));
  const call = await arrived();
  await clock.advance(6_000);
  call.finish();
  const response = await answer;
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  expect(await response.text()).toContain('"waited":true');
});

test("so many requests are served at once and no more", async () => {
  const { post, arrived } = await server({ MCP_MAX_IN_FLIGHT: "1" });
  const first = post(legacy("tools/call", { name: "wait_for_it", arguments: {} }));
  const call = await arrived();
  const second = await post(ping);
  expect([second.status, second.headers.get("retry-after")]).toEqual([503, "1"]);
  call.finish();
  expect((await first).status).toBe(200);
});

test("a client that goes away ends its call", async () => {
  const { post, arrived } = await server();
  const abort = new AbortController();
  const answer = post(
    modern("tools/call", { name: "wait_for_it" }).body,
    modern("tools/call", { name: "wait_for_it" }).headers,
    abort.signal,
  );
  const call = await arrived();
  const ended = new Promise((resolve) => call.signal.addEventListener("abort", resolve));
  abort.abort();
  await expect(answer).rejects.toThrow();
  await ended;
});

test("closing lets calls finish, refuses new ones, and calls off what lasts too long", async () => {
  const first = await served({ MCP_DRAIN_MS: "3000" });
  const answer = first.post(legacy("tools/call", { name: "wait_for_it", arguments: {} }));
  const call = await first.arrived();
  const closed = first.close();
  call.finish();
  expect((await answer).status).toBe(200);
  await closed;
  await expect(first.post(ping)).rejects.toThrow();

  const second = await served({ MCP_DRAIN_MS: "3000" });
  const lost = second.post(legacy("tools/call", { name: "wait_for_it", arguments: {} }));
  const gone = lost.then(
    (response) => response.status,
    () => "broken",
  );
  const hanging = await second.arrived();
  const closing = second.close();
  await second.clock.advance(2_999);
  expect(hanging.signal.aborted).toBe(false);
  await second.clock.advance(1);
  await closing;
  expect(hanging.signal.aborted).toBe(true);
  expect(await gone).not.toBe(200);
});
