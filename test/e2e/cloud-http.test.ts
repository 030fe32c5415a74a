import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, request, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cloudTools } from "../../src/cloud/index.ts";
import { anyBody, anyHeaders } from "../../src/mcp/http/fuzz.fixture.ts";
import { createManualClock } from "../../src/virtual/mobilerun/clock.ts";
import { startVirtualMobilerun, type VirtualClock, type VirtualMobilerun } from "../../src/virtual/index.ts";
import { auditOf, CloudTest, type CloudServer, type Env } from "../support/cloud-server.ts";
import { until } from "../support/until.ts";

/** The HTTP server as a process: what clients without an MCP library meet, and what its operator does. */

const cloud = new CloudTest();
const time = createManualClock();
/** A call of the platform that a fault holds up until it is let go. */
interface Held {
  readonly letGo: () => void;
  calledOff: boolean;
}
const held: Held[] = [];
const HELD_MS = 600_000;
const clock: VirtualClock = {
  now: () => time.now(),
  after: (ms, work) => {
    if (ms !== HELD_MS) return time.after(ms, work);
    const call: Held = { letGo: work, calledOff: false };
    held.push(call);
    return () => void (call.calledOff = true);
  },
};
let platform: VirtualMobilerun;
/** Has the limits of this file's own. */
let server: CloudServer;
/** Behind a proxy: each test that has to do with limits comes from an address of its own. */
let guarded: CloudServer;
beforeAll(async () => {
  platform = await startVirtualMobilerun({ clock });
  cloud.also(() => platform.close());
  const base = { MOBILERUN_BASE_URL: platform.url };
  server = await cloud.http({
    ...base,
    // Each is false: the word is not true because there is one.
    SIMLOCK_VIRTUAL: "false",
    MCP_TRUST_PROXY: "false",
    MCP_BODY_LIMIT_BYTES: "4000",
    MCP_POLICY_PROFILE: "full",
    MCP_RATE_LIMIT_PER_KEY_PER_MIN: "100000",
    MCP_RATE_LIMIT_PER_IP_PER_MIN: "100000",
  });
  guarded = await cloud.http({
    ...base,
    MCP_TRUST_PROXY: "true",
    MCP_REQUEST_TIMEOUT_MS: "1000",
    MCP_RATE_LIMIT_PER_KEY_PER_MIN: "3",
    MCP_RATE_LIMIT_PER_IP_PER_MIN: "5",
    MCP_METRICS: "false",
    MCP_AUTH_SERVER_URL: "https://login.example",
    MCP_RESOURCE_URL: "https://phones.example/v1/mcp",
  });
});
afterAll(() => cloud.close());

const KEY = "dr_sk_0123";
const BEARER = { authorization: `Bearer ${KEY}` };
const BASIC = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const rpc = (method: string, params: object = {}, id: number | string = 1) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });
const callOf = (name: string, input: object = {}, meta: object = {}) =>
  rpc("tools/call", { name, arguments: input, _meta: meta });
const LIST_DEVICES = callOf("list_devices");

function post(url: string, body: string, headers: Readonly<Record<string, string>> = BEARER) {
  return fetch(url, { method: "POST", headers: { ...BASIC, ...headers }, body });
}

interface Raw {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}
/** Sends what `fetch` would not let through. */
function raw(url: string, body: string, headers: OutgoingHttpHeaders): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: "POST", headers }, (incoming) => {
      text(incoming).then(
        (said) => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: said }),
        reject,
      );
    });
    outgoing.on("error", reject).end(body);
  });
}

/** Makes the platform hold the next call of `list_devices` up, and waits until it does. */
async function heldCall(): Promise<Held> {
  const before = held.length;
  await until(() => held.length > before);
  const [call] = held.slice(before);
  if (call === undefined) throw new Error("no call is held");
  return call;
}
const holdNext = () => platform.faults.add({ endpoint: "devices.list", delayMs: HELD_MS });
/** The head of a request with something in it that does not belong there, or no request at all. */
const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc
    .tuple(
      fc.constantFrom(
        "POST /mcp",
        "POST //mcp",
        "POST http://x/mcp",
        "POST /%ff",
        "OPTIONS *",
        "GET /ready?%",
        "FOO /",
      ),
      fc.string({ unit: "binary", maxLength: 40 }),
      fc.constantFrom(
        "Content-Length: -1",
        "Content-Length: 9e9",
        "Transfer-Encoding: chunked",
        "Expect: x",
        "Upgrade: h2c",
      ),
    )
    .map(([start, noise, header]) => `${start} HTTP/1.1\r\nHost: localhost\r\n${header}\r\nX-Noise: ${noise}\r\n\r\n`),
);
const ERROR = { error: { message: expect.any(String) } };

describe("routes", () => {
  test("both paths take a post, and have no stream and no session", async () => {
    for (const path of ["/mcp", "/"]) {
      const url = new URL(path, server.url).href;
      const answer = await post(url, rpc("tools/list", {}, "mine"));
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json"]);
      const { id, result } = (await answer.json()) as { id: unknown; result: { tools: unknown[] } };
      expect([id, result.tools.length]).toEqual(["mine", 34]);
      for (const method of ["GET", "DELETE"]) {
        const refused = await fetch(url, { method });
        expect([refused.status, refused.headers.get("allow"), await refused.json()]).toEqual([405, "POST", ERROR]);
      }
      expect((await fetch(url, { method: "PUT" })).status).toBe(404);
    }
    expect((await fetch(new URL("/other", server.url))).status).toBe(404);
  });

  test("it is alive without a key whatever becomes of the platform, and ready only while calls can be served", async () => {
    const own = await startVirtualMobilerun({ clock });
    const { url, stop } = await cloud.http({ MOBILERUN_BASE_URL: own.url });
    const status = async (path: string) => (await fetch(new URL(path, url))).status;
    expect([await status("/health"), await status("/ready")]).toEqual([200, 200]);
    await own.close();
    expect([await status("/health"), await status("/ready")]).toEqual([200, 503]);
    expect(await (await fetch(new URL("/health", url))).json()).toEqual({ status: "ok" });
    expect(await stop()).toBe(0);
  });

  test("figures count calls by tool, and can be left out", async () => {
    await post(server.url, callOf("get_device", { deviceId: "figures" }));
    const figures = await (await fetch(new URL("/metrics", server.url))).text();
    expect(figures).toMatch(/simlock_mcp_tool_call_seconds_count\{tool="get_device",outcome="error"\} \d/);
    expect(figures).not.toContain(KEY);
    expect((await fetch(new URL("/metrics", guarded.url))).status).toBe(404);
  });

  test("with an authorization server its metadata stands where clients look, and nowhere without one", async () => {
    const place = "/.well-known/oauth-protected-resource";
    for (const path of [place, `${place}/mcp`, `${place}/v1/mcp`]) {
      const found = await fetch(new URL(path, guarded.url));
      expect([found.status, await found.json()]).toEqual([
        200,
        {
          resource: "https://phones.example/v1/mcp",
          authorization_servers: ["https://login.example"],
          bearer_methods_supported: ["header"],
          scopes_supported: ["openid", "profile", "email", "offline_access"],
        },
      ]);
      expect((await fetch(new URL(path, server.url))).status).toBe(404);
    }
  });
});

describe("what is refused before MCP", () => {
  test.each([
    ["no credential", {}, 401, /No credential/],
    ["an empty header", { "x-mobilerun-cloud-api-key": "" }, 401, /No credential/],
    ["both headers", { ...BEARER, "x-mobilerun-cloud-api-key": KEY }, 400, /not both/],
    ["another scheme", { authorization: `Basic ${KEY}` }, 400, /Bearer/],
    ["a scheme and nothing", { authorization: "Bearer" }, 400, /Bearer/],
    ["two keys", { authorization: `Bearer ${KEY} ${KEY}` }, 400, /one value/],
    ["a bearer that is no API key", { authorization: "Bearer eyJhbGciOi" }, 400, /dr_sk_/],
    ["a header that holds no API key", { "x-mobilerun-cloud-api-key": "sk_1" }, 400, /dr_sk_/],
  ])("%s", async (_, headers, status, message) => {
    const forged = { "x-forwarded-host": "evil.example", forwarded: "host=evil.example" };
    const answer = await post(server.url, rpc("tools/list"), { ...headers, ...forged });
    expect([answer.status, await answer.json()]).toEqual([
      status,
      { error: { message: expect.stringMatching(message) } },
    ]);
    expect(answer.headers.get("www-authenticate")).toBe(
      status === 401 ? 'Bearer resource_metadata="http://localhost:8080/.well-known/oauth-protected-resource"' : null,
    );
  });

  test("where tokens are given out, a foreign bearer is one that is not valid", async () => {
    const headers = { authorization: "Bearer eyJhbGciOi", "x-forwarded-for": "203.0.113.1" };
    const answer = await post(guarded.url, rpc("tools/list"), headers);
    expect([answer.status, await answer.json()]).toEqual([401, ERROR]);
    expect(answer.headers.get("www-authenticate")).toBe(
      'Bearer error="invalid_token", resource_metadata="https://phones.example/.well-known/oauth-protected-resource"',
    );
  });

  test("a body above the limit, whether or not it says its length", async () => {
    const large = rpc("tools/list", { padding: "x".repeat(4_000) });
    const declared = await post(server.url, large);
    expect([declared.status, await declared.json()]).toEqual([413, ERROR]);
    const chunked = { ...BASIC, ...BEARER, "transfer-encoding": "chunked" };
    expect((await raw(server.url, large, chunked)).status).toBe(413);
  });

  test("a name in Host that is not ours, and a page of another site", async () => {
    const status = async (headers: OutgoingHttpHeaders) =>
      (await raw(server.url, rpc("ping"), { ...BASIC, ...BEARER, ...headers })).status;
    expect(await status({ host: "evil.example" })).toBe(403);
    expect(await status({ origin: "https://evil.example" })).toBe(403);
    expect(await status({ origin: "null" })).toBe(403);
    expect(await status({ host: "localhost:8080", origin: "http://localhost:5173" })).toBe(200);
    const figures = await fetch(new URL("/metrics", server.url), { headers: { origin: "https://evil.example" } });
    expect(figures.status).toBe(403);
  });

  test("each key has its own limit, each address another, and both are told when to come back", async () => {
    const asked = async (key: string, address: string) => {
      const answer = await post(guarded.url, rpc("ping"), {
        authorization: `Bearer ${key}`,
        "x-forwarded-for": address,
      });
      const body: unknown = await answer.json();
      return { status: answer.status, seconds: Number(answer.headers.get("retry-after")), body };
    };
    const statuses: number[] = [];
    for (let n = 0; n < 4; n += 1) statuses.push((await asked("dr_sk_many", "203.0.113.10")).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    // Whatever address the key comes from; a token of it comes back every twenty seconds.
    const byKey = await asked("dr_sk_many", "203.0.113.11");
    expect(byKey).toMatchObject({ status: 429, body: { error: { message: expect.stringContaining("credential") } } });
    expect(byKey.seconds).toBeGreaterThanOrEqual(1);
    expect(byKey.seconds).toBeLessThanOrEqual(20);
    // Five requests came from the first address; one every twelve seconds comes back.
    expect((await asked("dr_sk_other", "203.0.113.10")).status).toBe(200);
    const byAddress = await asked("dr_sk_another", "203.0.113.10");
    expect(byAddress).toMatchObject({ status: 429, body: { error: { message: expect.stringContaining("address") } } });
    expect(byAddress.seconds).toBeGreaterThanOrEqual(1);
    expect(byAddress.seconds).toBeLessThanOrEqual(12);
    expect((await asked("dr_sk_another", "203.0.113.12")).status).toBe(200);
  });
});

describe("what MCP refuses", () => {
  test.each<[string, string, Record<string, string>, number, number]>([
    ["a batch", `[${rpc("ping")},${rpc("ping")}]`, {}, 400, -32600],
    ["an empty batch", "[]", {}, 400, -32600],
    ["what is no JSON", "{", {}, 400, -32700],
    ["another content type", rpc("ping"), { "content-type": "text/plain" }, 415, -32000],
    ["a client that takes no stream", rpc("ping"), { accept: "application/json" }, 406, -32000],
    ["a version that nobody speaks", rpc("ping"), { "mcp-protocol-version": "1999-01-01" }, 400, -32000],
  ])("%s", async (_, body, headers, status, code) => {
    const answer = await post(server.url, body, { ...BEARER, ...headers });
    expect([answer.status, await answer.json()]).toMatchObject([status, { jsonrpc: "2.0", error: { code } }]);
  });

  test("a notification has no answer", async () => {
    const body = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
    const answer = await post(server.url, body);
    expect([answer.status, await answer.text()]).toEqual([202, ""]);
  });
});

describe("calls", () => {
  test("the key may come in the platform's own header, and one that the platform refuses is the tool's error", async () => {
    const own = await post(server.url, LIST_DEVICES, { "x-mobilerun-cloud-api-key": KEY });
    expect(await own.json()).toMatchObject({ result: { structuredContent: { items: [] } } });
    const refused = await post(server.url, LIST_DEVICES, { authorization: "Bearer dr_sk_forbidden" });
    expect([refused.status, await refused.json()]).toMatchObject([
      200,
      { result: { isError: true, content: [{ text: expect.stringMatching(/^\[forbidden\]/) }] } },
    ]);
  });

  test("each answer carries the id of its request, and so does its audit line", async () => {
    const sent = await post(server.url, LIST_DEVICES, { ...BEARER, "x-request-id": "req-of-mine" });
    expect(sent.headers.get("x-request-id")).toBe("req-of-mine");
    const bare = await post(server.url, LIST_DEVICES);
    const made = bare.headers.get("x-request-id");
    expect(made).toMatch(/^[0-9a-f-]{36}$/);
    const lines = () =>
      auditOf(server.errors).filter(({ requestId }) => requestId === made || requestId === "req-of-mine");
    await until(() => lines().length === 2);
    expect(lines()).toMatchObject([
      { requestId: "req-of-mine", toolName: "list_devices", outcome: "ok" },
      { requestId: made, toolName: "list_devices", outcome: "ok" },
    ]);
    const refused = await post(server.url, LIST_DEVICES, { "x-request-id": "req-refused" });
    expect([refused.status, refused.headers.get("x-request-id")]).toEqual([401, "req-refused"]);
  });

  test("listings that do not wait for each other come whole, in their order, on one connection", async () => {
    const { hostname, port, host } = new URL(server.url);
    const asked = ["a", "b", "c"].map((id, at) => {
      const body = rpc("tools/list", {}, id);
      const headers = {
        ...BASIC,
        ...BEARER,
        host,
        "content-length": body.length,
        connection: at < 2 ? "keep-alive" : "close",
      };
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      return `POST /mcp HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
    });
    const socket = connect(Number(port), hostname, () => socket.write(asked.join("")));
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    const ids: unknown[] = [];
    for (let rest = Buffer.concat(chunks); rest.length > 0;) {
      const bodyAt = rest.indexOf("\r\n\r\n") + 4;
      const length = Number(/content-length: (\d+)/i.exec(rest.toString("latin1", 0, bodyAt))?.[1]);
      const { id, result } = JSON.parse(rest.toString("utf8", bodyAt, bodyAt + length)) as {
        id: string;
        result: { tools: unknown[] };
      };
      ids.push([id, result.tools.length]);
      rest = rest.subarray(bodyAt + length);
    }
    expect(ids).toEqual([
      ["a", 34],
      ["b", 34],
      ["c", 34],
    ]);
  });

  test("a trace goes on to the platform, under a span of ours", async () => {
    const seen: unknown[] = [];
    const upstream = createServer((incoming, outgoing) => {
      seen.push(incoming.headers["traceparent"]);
      outgoing.writeHead(200, { "content-type": "application/json" }).end("{}");
    }).listen(0, "127.0.0.1");
    await once(upstream, "listening");
    cloud.also(async () => void upstream.close());
    const { url } = await cloud.http({
      MOBILERUN_BASE_URL: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
    });
    const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    await post(url, LIST_DEVICES, { ...BEARER, traceparent: `00-${trace}-00f067aa0ba902b7-01` });
    expect(seen).toEqual([expect.stringMatching(new RegExp(`^00-${trace}-(?!00f067aa0ba902b7)[0-9a-f]{16}-01$`))]);
  });

  test("an answer is one JSON body, and a stream for a call that brought a progress token", async () => {
    const made = await post(server.url, callOf("create_device", { name: "streamed" }));
    expect(made.headers.get("content-type")).toBe("application/json");
    const { result } = (await made.json()) as { result: { structuredContent: { id: string } } };
    const wait = { operation: "wait_ready", deviceId: result.structuredContent.id };
    // One look that finds it not ready, of which there is something to tell.
    platform.faults.add({ endpoint: "devices.waitReady", status: 409 });
    const stream = await post(server.url, callOf("manage_device", wait, { progressToken: "mine" }));
    expect(stream.headers.get("content-type")).toBe("text/event-stream");
    time.advance(10_000);
    const events = (await stream.text())
      .split("\n")
      .filter((line) => line.startsWith("data: "))
      .map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>);
    expect(events[0]).toMatchObject({ method: "notifications/progress", params: { progressToken: "mine" } });
    expect(events.at(-1)).toMatchObject({ id: 1, result: { structuredContent: { state: "ready" } } });
    const plain = await post(server.url, callOf("manage_device", wait));
    expect(plain.headers.get("content-type")).toBe("application/json");
  });

  test("one without an answer in time is 504, and is called off at the platform", async () => {
    holdNext();
    const answer = post(guarded.url, LIST_DEVICES, { ...BEARER, "x-forwarded-for": "203.0.113.20" });
    const call = await heldCall();
    const { status, body } = await answer.then(async (given) => ({ status: given.status, body: await given.json() }));
    expect([status, body]).toEqual([504, ERROR]);
    await until(() => call.calledOff);
  });

  test("one whose client goes away is called off at the platform", async () => {
    holdNext();
    const gone = new AbortController();
    const headers = { ...BASIC, ...BEARER };
    const answer = fetch(server.url, { method: "POST", headers, body: LIST_DEVICES, signal: gone.signal });
    const call = await heldCall();
    expect(call.calledOff).toBe(false);
    gone.abort();
    await expect(answer).rejects.toThrow();
    await until(() => call.calledOff);
  });
});

describe("a configuration that is not valid ends it with 1 and one line that says why", () => {
  const http = ["--http"];
  const real = { MOBILERUN_BASE_URL: "http://127.0.0.1:9/v1" };
  const WRONG = {
    PORT: "eighty",
    MCP_POLICY_PROFILE: "everything",
    MCP_AUTH_SERVER_URL: "",
    MCP_RATE_LIMIT_PER_KEY_PER_MIN: "0",
    MCP_TRUST_PROXY: "yes",
    MCP_METRICS: "1",
    MCP_BODY_LIMIT_BYTES: "1.5",
    LOG_LEVEL: "loud",
  };
  test.each<[string, readonly string[], Env, readonly string[]]>([
    ["every variable that is wrong", http, WRONG, Object.keys(WRONG)],
    ["a policy file that is not there", http, { MCP_POLICY_FILE: "/nowhere/policy.yaml" }, ["can't be read (ENOENT)"]],
    [
      "a policy file that is no document",
      http,
      { MCP_POLICY_FILE: import.meta.filename },
      ["CONFIG_INVALID", "cloud.md"],
    ],
    ["a port that is empty", http, { PORT: "" }, ["PORT"]],
    ["two platforms", http, { SIMLOCK_VIRTUAL: "1", ...real }, ["both"]],
    ["two platforms, one by a flag", ["--http", "--virtual"], real, ["both"]],
    ["two platforms on stdio", [], { SIMLOCK_VIRTUAL: "1", ...real }, ["both"]],
    ["no key on stdio", [], {}, ["MOBILERUN_CLOUD_API_KEY"]],
    ["what is no key on stdio", [], { MOBILERUN_CLOUD_API_KEY: "abc" }, ["begin with dr_sk_"]],
  ])("%s", async (_, args, env, why) => {
    const { code, stdout, stderr } = await cloud.run(args, { PORT: "0", ...env });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^[^\n]+\n$/);
    for (const reason of why) expect(stderr).toContain(reason);
  });
});

test("it keeps little memory by itself, in the process that was started, and what its operator says of that goes first", async () => {
  const argumentsOf = ({ child }: CloudServer) =>
    execFileSync("ps", ["-ww", "-o", "args=", "-p", String(child.pid)], { encoding: "utf8" });
  expect(argumentsOf(server)).toMatch(
    / --max-semi-space-size=2 --heap-growing-percent=30 --no-concurrent-recompilation .*--http$/m,
  );
  const told = await cloud.http({
    SIMLOCK_VIRTUAL: "true",
    NODE_OPTIONS: "--max-semi-space-size=16 --no-warnings",
  });
  expect(argumentsOf(told)).toMatch(/node --heap-growing-percent=30 --no-concurrent-recompilation .*--http$/m);
  expect(await told.stop()).toBe(0);
});

test("a variable that is called like ours and is none is said at the start", async () => {
  const misspelt = await cloud.http({ SIMLOCK_VIRTUAL: "true", MCP_POLCY_PROFILE: "readonly" });
  const said = JSON.parse(await misspelt.errors.line((line) => line.includes('"unknown_variable"'))) as object;
  expect(said).toMatchObject({ level: "warn", name: "MCP_POLCY_PROFILE" });
  await misspelt.stop();
});

test("it says which policy file rules, and no profile that does not", async () => {
  const file = join(cloud.home, "policy.yaml");
  writeFileSync(file, "base: full\n");
  const ruled = await cloud.http({ SIMLOCK_VIRTUAL: "true", MCP_POLICY_FILE: file });
  const said = JSON.parse(await ruled.errors.line((line) => line.includes('"server_listening"'))) as object;
  expect(said).toMatchObject({ policyFile: file });
  expect(said).not.toHaveProperty("policyProfile");
  await ruled.stop();
});

test("a port that is taken ends it likewise", async () => {
  const { port } = new URL(server.url);
  const { code, stdout, stderr } = await cloud.run(["--http"], { SIMLOCK_VIRTUAL: "1", PORT: port });
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/^[^\n]*EADDRINUSE[^\n]*\n$/);
});

test("nothing that anybody sends is answered with a failure of the server, or ends it", async () => {
  const tools = cloudTools.map(({ name }) => name);
  await fc.assert(
    fc.asyncProperty(anyBody(tools), anyHeaders, fc.boolean(), async (body, headers, proper) => {
      const { status } = await raw(server.url, body, { ...(proper ? { ...BASIC, ...BEARER } : {}), ...headers });
      expect(status).toBeGreaterThanOrEqual(200);
      expect(status).toBeLessThan(500);
    }),
    { numRuns: 300 },
  );
  // What no client library sends.
  const { port } = new URL(server.url);
  await fc.assert(
    fc.asyncProperty(anyBytes, async (bytes) => {
      const socket = connect(Number(port), "127.0.0.1");
      socket.on("error", () => {}).end(bytes);
      const answer = await text(socket).catch(() => "");
      expect(answer).toMatch(/^(HTTP\/1\.1 [234]|$)/);
    }),
    { numRuns: 100 },
  );
  expect((await post(server.url, rpc("tools/list"))).status).toBe(200);
  expect(server.errors.lines.filter((line) => /unexpected|_failed/.test(line))).toEqual([]);
});

test("told to stop, it answers what is under way, takes nothing new, and says so, until it ends with 0", async () => {
  const { url, child, errors } = await cloud.http({ MOBILERUN_BASE_URL: platform.url });
  holdNext();
  const answer = post(url, LIST_DEVICES);
  const call = await heldCall();
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  await errors.line((line) => line.includes("server_shutting_down"));
  const refused = await post(url, LIST_DEVICES);
  expect([refused.status, refused.headers.get("retry-after"), await refused.json()]).toEqual([503, "1", ERROR]);
  const status = async (path: string) => (await fetch(new URL(path, url))).status;
  expect([await status("/health"), await status("/ready")]).toEqual([200, 503]);
  expect(call.calledOff).toBe(false);
  call.letGo();
  expect(await (await answer).json()).toMatchObject({ result: { structuredContent: { items: expect.anything() } } });
  expect(await gone).toEqual([0, null]);
  expect(auditOf(errors)).toMatchObject([{ toolName: "list_devices", outcome: "ok" }]);
});

test("with SIMLOCK_VIRTUAL it brings a platform of its own, where keys do not see each other's phones", async () => {
  const { url, stop } = await cloud.http({ SIMLOCK_VIRTUAL: "1", MCP_POLICY_PROFILE: "full" });
  const asked = async (key: string, name: string, input: object = {}) => {
    const answer = await post(url, callOf(name, input), { authorization: `Bearer ${key}` });
    return ((await answer.json()) as { result: { structuredContent: Record<string, unknown> } }).result
      .structuredContent;
  };
  const made = await asked("dr_sk_a", "create_device", { name: "mine" });
  expect(await asked("dr_sk_a", "list_devices")).toMatchObject({ items: [{ id: made["id"], name: "mine" }] });
  expect(await asked("dr_sk_b", "list_devices")).toMatchObject({ items: [] });
  expect(await stop()).toBe(0);
});
