import { request } from "node:http";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { anyBody, anyHeaders } from "./fuzz.fixture.ts";
import { HEADERS, KEY, legacy, modern, served } from "./server.fixture.ts";

let server: Awaited<ReturnType<typeof served>>;
beforeAll(async () => {
  server = await served({ MCP_RATE_LIMIT_PER_IP_PER_MIN: "1000000", MCP_RATE_LIMIT_PER_KEY_PER_MIN: "1000000" });
});
afterAll(() => server.close());
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

interface Answer {
  readonly id?: unknown;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Record<string, unknown> };
}

async function ask(body: unknown, headers: Readonly<Record<string, string>> = {}) {
  const response = await server.post(body, headers);
  const text = await response.text();
  return { status: response.status, headers: response.headers, ...(text === "" ? {} : (JSON.parse(text) as Answer)) };
}

/** Sends what `fetch` would not let through. */
function raw(headers: Readonly<Record<string, string | string[]>>, body: string, method = "POST", path = "/mcp") {
  return new Promise<number>((resolve, reject) => {
    const { port } = new URL(server.url);
    const outgoing = request({ host: "127.0.0.1", port, path, method, headers }, (incoming) => {
      incoming.resume().on("end", () => resolve(incoming.statusCode ?? 0));
    });
    outgoing.on("error", reject).end(body);
  });
}

test("what is neither JSON nor one message is refused before any server sees it", async () => {
  expect(await ask("{")).toMatchObject({ status: 400, id: null, error: { code: -32700 } });
  expect(await ask([legacy("ping"), legacy("ping")])).toMatchObject({ status: 400, id: null, error: { code: -32600 } });
  expect(await ask([])).toMatchObject({ status: 400, error: { code: -32600 } });
  expect(await ask("null")).toMatchObject({ status: 400, error: { code: -32600 } });
  expect(await ask({ jsonrpc: "1.0", id: 1, method: "ping" })).toMatchObject({ status: 400, error: { code: -32600 } });
  expect(await ask({ jsonrpc: "2.0", id: 1.5, method: "ping" })).toMatchObject({
    status: 400,
    error: { code: -32600 },
  });
  expect(await ask({ jsonrpc: "2.0", id: "i".repeat(1001), method: "ping" })).toMatchObject({ status: 400 });
});

test("the media types of request and answer must be those of the protocol", async () => {
  const ping = legacy("ping");
  expect(await ask(ping, { accept: "application/json" })).toMatchObject({ status: 406, error: { code: -32000 } });
  expect(await ask(ping, { accept: "application/json, text/event-stream;q=0" })).toMatchObject({ status: 406 });
  expect(await ask(ping, { accept: "*/*" })).toMatchObject({ status: 200 });
  expect(await ask(ping, { "content-type": "text/plain" })).toMatchObject({ status: 415, error: { code: -32000 } });
  expect(await ask(ping, { "content-type": "application/json; charset=utf-8" })).toMatchObject({ status: 200 });
});

test.each(["2025-11-25", "2025-06-18", "2024-11-05"])(
  "the legacy version %s is spoken without a session",
  async (version) => {
    const clientInfo = { name: "test", version: "1" };
    const initialized = await ask(legacy("initialize", { protocolVersion: version, capabilities: {}, clientInfo }));
    expect(initialized).toMatchObject({
      status: 200,
      result: { protocolVersion: version, serverInfo: { name: "simlock" } },
    });
    expect(initialized.headers.get("mcp-session-id")).toBeNull();
    const headers = { "mcp-protocol-version": version };
    expect(await ask({ jsonrpc: "2.0", method: "notifications/initialized" }, headers)).toMatchObject({ status: 202 });
    const call = legacy("tools/call", { name: "echo", arguments: { text: "hi" } }, "same");
    expect(await ask(call, headers)).toMatchObject({
      status: 200,
      id: "same",
      result: { structuredContent: { text: "hi" } },
    });
  },
);

test("a version that we do not speak is refused with those that we do", async () => {
  const old = await ask(legacy("ping"), { "mcp-protocol-version": "2025-03-26" });
  expect(old).toMatchObject({ status: 400, error: { code: -32000 } });
  expect(old.error?.message).toContain("2026-07-28, 2025-11-25, 2025-06-18, 2024-11-05");
  const { body, headers } = modern("tools/list", {
    _meta: { "io.modelcontextprotocol/protocolVersion": "2027-01-01" },
  });
  expect(await ask(body, { ...headers, "mcp-protocol-version": "2027-01-01" })).toMatchObject({
    status: 400,
    error: { code: -32022, data: { supported: ["2026-07-28"], requested: "2027-01-01" } },
  });
});

test("the headers of a modern request say what its body says", async () => {
  const { body, headers } = modern("tools/call", { name: "echo", arguments: { text: "hi" } });
  expect(await ask(body, headers)).toMatchObject({ status: 200, result: { structuredContent: { text: "hi" } } });
  const mismatch = { status: 400, id: 1, error: { code: -32020 } };
  const without = (name: keyof typeof headers) =>
    Object.fromEntries(Object.entries(headers).filter(([header]) => header !== name));
  for (const name of ["mcp-protocol-version", "mcp-method", "mcp-name"] as const) {
    expect(await ask(body, without(name as never))).toMatchObject(mismatch);
    expect(await ask(body, { ...headers, [name]: "other" })).toMatchObject(mismatch);
  }
  const encoded = `=?base64?${Buffer.from("echo").toString("base64")}?=`;
  expect(await ask(body, { ...headers, "mcp-name": encoded })).toMatchObject({ status: 200 });
  expect(await ask(body, { ...headers, "mcp-name": "=?base64?!?=" })).toMatchObject(mismatch);
});

test("methods that a revision does not have are not found", async () => {
  for (const method of ["initialize", "logging/setLevel", "ping", "nothing/such"]) {
    const { body, headers } = modern(method);
    expect(await ask(body, headers)).toMatchObject({ status: 404, id: 1, error: { code: -32601 } });
  }
  expect(await ask(legacy("nothing/such"))).toMatchObject({ status: 200, error: { code: -32601 } });
});

test("a tool that there is not is the SDK's own error, and arguments that do not fit are the tool's", async () => {
  expect(await ask(legacy("tools/call", { name: "nothing", arguments: {} }))).toMatchObject({
    status: 200,
    error: { code: -32602, message: "Tool nothing not found" },
  });
  const wrong = await ask(legacy("tools/call", { name: "echo", arguments: { text: "hi", more: 1 } }));
  expect(wrong).toMatchObject({ status: 200, result: { isError: true } });
  expect(JSON.stringify(wrong.result)).toContain("[invalid_input]");
});

test("what fails unexpectedly is told to the operator by its place, and to nobody by its text", async () => {
  const failed = await ask(legacy("tools/call", { name: "break", arguments: {} }));
  expect(failed).toMatchObject({ status: 200, result: { isError: true } });
  expect(JSON.stringify(failed)).not.toContain(KEY);
  const line = server.lines.find(({ event }) => event === "tool_failed_unexpectedly");
  expect(line).toMatchObject({ level: "error", fields: { tool: "break", at: expect.stringContaining("TypeError") } });
  expect(JSON.stringify(server.lines)).not.toContain(KEY);
});

test("subscribing to changes is acknowledged and over, since nothing here ever changes", async () => {
  const { body, headers } = modern("subscriptions/listen", { notifications: { toolsListChanged: true } });
  const response = await server.post(body, headers);
  const text = await response.text();
  expect(text).toContain("notifications/subscriptions/acknowledged");
  expect(text).toContain('"resultType":"complete"');
});

test("nobody answers for somebody else what the server asks", async () => {
  const clientInfo = { name: "test", version: "1" };
  const initialized = await ask(
    legacy("initialize", { protocolVersion: "2025-11-25", capabilities: { elicitation: {} }, clientInfo }),
  );
  const session = initialized.headers.get("mcp-session-id") ?? "";
  expect(session).toMatch(/^elicits-/);
  const response = await server.post(legacy("tools/call", { name: "delete_it", arguments: {} }), {
    "mcp-session-id": session,
  });
  const reader = (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader();
  const question = JSON.parse((await reader.read()).value?.split("data: ")[1] ?? "") as { id: string; method: string };
  expect(question.method).toBe("elicitation/create");
  const yes = { jsonrpc: "2.0", id: question.id, result: { action: "accept", content: {} } };
  expect(await ask(yes, { authorization: "Bearer dr_sk_somebody_else" })).toMatchObject({ status: 202 });
  expect(await ask({ ...yes, id: 0 })).toMatchObject({ status: 202 });
  expect(server.audit.filter(({ toolName }) => toolName === "delete_it")).toEqual([]);
  expect(await ask(yes)).toMatchObject({ status: 202 });
  expect((await reader.read()).value).toContain('"deleted":true');
});

test("what one client says of itself is not known of another", async () => {
  const clientInfo = { name: "test", version: "1" };
  await ask(legacy("initialize", { protocolVersion: "2025-11-25", capabilities: { elicitation: {} }, clientInfo }));
  const mute = await ask(legacy("tools/call", { name: "delete_it", arguments: {} }));
  expect(JSON.stringify(mute.result)).toContain("cannot ask");
});

test("pages of other sites, and names that are not ours, are kept out", async () => {
  const ping = JSON.stringify(legacy("ping"));
  const host = new URL(server.url).host;
  const port = host.split(":")[1];
  expect(await raw({ ...HEADERS, host: "evil.example" }, ping)).toBe(403);
  expect(await raw({ ...HEADERS, host: `localhost:${port}` }, ping)).toBe(200);
  expect(await raw({ ...HEADERS, host: "10.1.2.3" }, ping)).toBe(200);
  expect(await raw({ ...HEADERS, host, origin: "https://evil.example" }, ping)).toBe(403);
  expect(await raw({ ...HEADERS, host, origin: "http://6.6.6.6" }, ping)).toBe(403);
  expect(await raw({ ...HEADERS, host, origin: "null" }, ping)).toBe(403);
  expect(await raw({ ...HEADERS, host, origin: "http://localhost:5173" }, ping)).toBe(200);
});

test("a browser is told which pages may call", async () => {
  const preflight = (origin: string) =>
    fetch(server.url, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "authorization" },
    });
  const ours = await preflight("http://localhost:6274");
  expect(ours.status).toBe(204);
  expect(ours.headers.get("access-control-allow-origin")).toBe("http://localhost:6274");
  expect(ours.headers.get("access-control-allow-headers")).toBe("authorization");
  expect((await preflight("https://evil.example")).headers.get("access-control-allow-origin")).toBeNull();
  const answer = await server.post(legacy("ping"), { origin: "http://localhost:6274" });
  expect(answer.headers.get("access-control-allow-origin")).toBe("http://localhost:6274");
  expect(answer.headers.get("access-control-expose-headers")).toContain("x-request-id");
});

test("there is no stream to get and no session to delete", async () => {
  for (const path of ["/mcp", "/"]) {
    for (const method of ["GET", "DELETE"]) {
      const response = await fetch(new URL(path, server.url), { method });
      expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
    }
    expect((await fetch(new URL(path, server.url), { method: "PUT" })).status).toBe(404);
  }
  expect((await fetch(new URL("/other", server.url))).status).toBe(404);
  const mirrored = await fetch(new URL("/", server.url), {
    method: "POST",
    headers: HEADERS,
    body: JSON.stringify(legacy("ping")),
  });
  expect(mirrored.status).toBe(200);
});

test("health, readiness and figures", async () => {
  let isReady = false;
  const other = await served({}, { ready: () => isReady });
  closers.push(other.close);
  const get = async (path: string) => {
    const response = await fetch(new URL(path, other.url));
    return [response.status, await response.text()] as const;
  };
  expect(await get("/health")).toEqual([200, '{"status":"ok"}']);
  expect((await get("/ready"))[0]).toBe(503);
  isReady = true;
  expect(await get("/ready")).toEqual([200, '{"status":"ready"}']);
  await other.post(legacy("tools/call", { name: "echo", arguments: { text: "hi" } }));
  await other.post(legacy("tools/call", { name: `secret-${KEY}`, arguments: {} }));
  const [, figures] = await get("/metrics");
  expect(figures).toMatch(/simlock_mcp_tool_call_seconds_count\{tool="echo",outcome="ok"\} 1/);
  expect(figures).toMatch(/simlock_mcp_tool_call_seconds_count\{tool="\(unknown\)",outcome="denied"\} 1/);
  expect(figures).not.toContain(KEY);
  const quiet = await served({ MCP_METRICS: "false" });
  closers.push(quiet.close);
  expect((await fetch(new URL("/metrics", quiet.url))).status).toBe(404);
});

test("each answer carries its request id, and a trace goes on under a span of ours", async () => {
  const seen: string[] = [];
  const other = await served(
    {},
    {
      contextOf: (_credential, { requestId, traceparent }) => {
        seen.push(requestId, traceparent);
        return undefined;
      },
    },
  );
  closers.push(other.close);
  const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  const given = { "x-request-id": "req-1", traceparent: `00-${trace}-00f067aa0ba902b7-01` };
  const response = await other.post(legacy("ping"), given);
  expect([response.status, response.headers.get("x-request-id")]).toEqual([401, "req-1"]);
  expect(seen[0]).toBe("req-1");
  expect(seen[1]).toMatch(new RegExp(`^00-${trace}-(?!00f067aa0ba902b7)[0-9a-f]{16}-01$`));
  const bare = await other.post(legacy("ping"), { "x-request-id": "no good id", traceparent: "nonsense" });
  expect(bare.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  expect(seen[3]).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
});

test("a ping is answered in every era where the toolset wants it", async () => {
  const toolset = {
    title: "T",
    instructions: "",
    tools: [],
    resources: [],
    pingsInEveryEra: true,
    close: async () => {},
  };
  const other = await served({}, { toolset });
  closers.push(other.close);
  const { body, headers } = modern("ping");
  expect(await (await other.post(body, headers)).json()).toMatchObject({ id: 1, result: { resultType: "complete" } });
});

test("nothing that anybody sends is answered with a failure of ours", async () => {
  await fc.assert(
    fc.asyncProperty(
      anyBody(["echo", "nothing", "delete_it"]),
      anyHeaders,
      fc.boolean(),
      async (body, given, proper) => {
        const host = new URL(server.url).host;
        const status = await raw({ host, ...(proper ? HEADERS : {}), ...given }, body);
        expect(status).toBeGreaterThanOrEqual(200);
        expect(status).toBeLessThan(500);
      },
    ),
    { numRuns: 400 },
  );
  expect(await ask(legacy("ping"))).toMatchObject({ status: 200, result: {} });
}, 30_000);
