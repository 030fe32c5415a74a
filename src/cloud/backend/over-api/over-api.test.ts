import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { callThroughPolicy, createAuthContext, policyForProfile, type Tool } from "../../../tool/index.ts";
import { createCloudApi, type HttpAnswer, type Send } from "../../api/index.ts";
import { png, screen } from "../../tools/backend.fixture.ts";
import { ROWS } from "../../tools/calls.fixture.ts";
import { buildCloudTools, cloudTools } from "../../tools/index.ts";
import { fastClock, inputOf } from "../../tools/toolset.fixture.ts";
import { BackendError, type Backend } from "../index.ts";
import { backendOverApi } from "./index.ts";

const KEY = "dr_sk_test";
const pagination = { page: 1, pages: 1, pageSize: 20, total: 1, hasNext: false, hasPrev: false };
const thing = {
  id: "x-1",
  state: "ready",
  status: "completed",
  taskId: "t-1",
  proxyId: "p-1",
  packageName: "com.example.notes",
  code: "de",
  eventId: "e-1",
  eventType: "e",
  appEventType: "app.saved",
  category: "device",
  appId: "a-1",
  versionId: "v-1",
  subId: 3,
  visible: true,
  url: "https://media.test/1",
};
const whole = {
  ...thing,
  items: [thing],
  pagination,
  data: thing,
  task: thing,
  trajectory: [{ event: "E" }],
  result: 2,
  r2UploadUrls: [],
};

/** What the platform answers, by the request. */
function answerTo(request: string): unknown {
  if (/ \/devices\/[^/]+\/(apps|esim|esim\/apn|esim\/status|recordings)$/.test(request) && request.startsWith("GET")) {
    return [thing];
  }
  if (/ \/devices\/[^/]+\/packages/.test(request)) return ["com.example.notes"];
  if (/ \/devices\/[^/]+\/apps\?/.test(request)) return [thing];
  if (request.includes("/ui-state")) return screen;
  if (request.endsWith("/time")) return "2026-03-01T10:15:00+01:00";
  if (request.endsWith("/apps/installs")) return { installs: [] };
  if (/ \/devices\/[^/]+\/files\?/.test(request)) return { path: "/sdcard", total: 0, files: [] };
  if (/\/actions\/services$|\/timezones$/.test(request)) return { data: ["tasks_api"] };
  if (request.endsWith("/methods")) return { data: [{ method: "tasks.run" }] };
  if (/(screenshots|ui_states)$/.test(request)) return { urls: ["https://media.test/1"] };
  if (
    /\/app-events\/catalog$|\/versions$|\/credentials\/packages(\/[^/]+)?$|\/repairs$|\/actions$|\/models$|GET \/proxies(\?|$)/.test(
      request,
    )
  ) {
    return request.startsWith("GET /actions")
      ? whole
      : { ...whole, data: request.startsWith("POST") ? thing : [thing] };
  }
  if (request.endsWith("/categories")) return { categories: ["games"] };
  if (request.includes("/deliveries/5f")) return { data: { ...thing, attempts: [] } };
  if (request.includes("/deliveries")) return { ...whole, items: [{ ...thing, attempts: 1 }] };
  return whole;
}

function overReplies(reply: (request: string) => HttpAnswer | undefined = () => undefined) {
  const requests: string[] = [];
  const send: Send = async ({ url, method, headers, body, signal }) => {
    const request = `${method} ${url.pathname.replace(/^\/v1/, "")}${url.search}`;
    requests.push([request, bodyOf(body), displayOf(headers)].filter((part) => part !== "").join(" "));
    signal.throwIfAborted();
    const own = reply(request);
    if (own !== undefined) return own;
    if (request.includes("/screenshot") && request.startsWith("GET /devices")) {
      return answered(
        200,
        "image/png",
        png(8, 8, () => 9),
      );
    }
    if (request.includes("/download")) return answered(200, "application/octet-stream", new Uint8Array([0, 255]));
    return json(200, answerTo(request));
  };
  const api = createCloudApi({ baseUrl: "https://api.test/v1", key: KEY, send, wait: async () => {} });
  return { backend: backendOverApi(api), requests };
}

const answered = (status: number, type: string, bytes: Uint8Array): HttpAnswer => ({
  status,
  headers: { "content-type": type },
  body: Readable.from([bytes]),
});

const json = (status: number, body: unknown): HttpAnswer =>
  answered(status, "application/json", Buffer.from(JSON.stringify(body)));

function bodyOf(body: Parameters<Send>[0]["body"]): string {
  if (body instanceof FormData) return JSON.stringify([...body].map(([name, file]) => [name, (file as File).name]));
  return body ?? "";
}

function displayOf(headers: Parameters<Send>[0]["headers"]): string {
  const display = headers["x-device-display-id"];
  return display === undefined ? "" : `display=${display}`;
}

async function callTool(backend: Backend, tool: string, input: Record<string, unknown>) {
  const policy = policyForProfile("full", cloudTools);
  const auth = createAuthContext({ kind: "api_key", subject: "k" });
  const tools = buildCloudTools({ backend, auth, policy, clock: fastClock() });
  const table = new Map<string, Tool>(tools.map((known) => [known.name, known]));
  return callThroughPolicy(table, tool, input, { auth, policy }, { signal: new AbortController().signal });
}

test("each operation sends the requests that the platform knows", async () => {
  const lines: string[] = [];
  for (const [tool, operation, input] of ROWS) {
    const { backend, requests } = overReplies();
    const outcome = await callTool(backend, tool, inputOf(tool, operation, input));
    const failed = outcome.kind === "ok" ? "" : ` !! ${outcome.failure.message}`;
    lines.push(`${tool} ${operation ?? ""}${failed}`.trim(), ...requests.map((request) => `  ${request}`));
  }
  expect(lines.filter((line) => line.includes("!!"))).toEqual([]);
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("./requests.snap");
});

const refusing = (status: number, body: unknown = { message: "no" }) => overReplies(() => json(status, body));

test.each([
  [400, "invalid_input"],
  [401, "forbidden"],
  [402, "payment_required"],
  [404, "not_found"],
  [409, "conflict"],
  [422, "invalid_input"],
  [429, "rate_limited"],
  [500, "upstream_error"],
])("a status of %i is the code %s, and the key is in no message", async (status, code) => {
  const { backend } = refusing(status, { message: `the key ${KEY} is bad` });
  const failed = await backend.deviceControl.tap("d1", { x: 1, y: 1 }).catch((thrown: unknown) => thrown);
  expect(failed).toBeInstanceOf(BackendError);
  expect(failed).toMatchObject({ code, status });
  expect(String((failed as Error).message)).not.toContain(KEY);
});

const BREAKS: readonly [string, () => HttpAnswer][] = [
  ["is busy", () => ({ ...json(503, {}), headers: { "content-type": "application/json", "retry-after": "0" } })],
  ["tells of a conflict", () => json(409, {})],
  ["is too slow", () => json(408, {})],
  [
    "cuts the connection",
    () => {
      throw new TypeError("terminated");
    },
  ],
];
test.each(BREAKS)("no operation of any tool sends twice what acts, when the platform %s", async (_, broken) => {
  const twice: string[] = [];
  let acting = 0;
  for (const [tool, operation, input] of ROWS) {
    const { backend, requests } = overReplies((request) => (request.startsWith("GET") ? undefined : broken()));
    await callTool(backend, tool, inputOf(tool, operation, input));
    // A dry run only reads.
    const acts = requests.filter((request) => !request.startsWith("GET") && !request.includes("/dry-run"));
    if (acts.length > 0) acting += 1;
    if (new Set(acts).size < acts.length) twice.push(`${tool} ${operation}: ${acts.join(", ")}`);
  }
  expect(twice).toEqual([]);
  expect(acting).toBeGreaterThan(60);
});

test("a cancelled call ends the request", async () => {
  const { backend } = overReplies();
  const call = backend.devices.getDevice("d1", { signal: AbortSignal.abort() });
  await expect(call).rejects.toMatchObject({ code: "cancelled" });
});

test("older servers: event types and credential packages come from where they used to be", async () => {
  const old = overReplies((request) =>
    /app-events\/catalog|GET \/credentials\/packages/.test(request) ? json(404, {}) : undefined,
  );
  expect(await old.backend.workflows.listAppEventCatalog({ page: 1, pageSize: 5 })).toMatchObject({
    items: [{ eventType: "e" }],
  });
  expect(await old.backend.credentials.listCredentialPackages()).toEqual({
    items: [{ packageName: "com.example.notes" }],
  });
  expect(old.requests).toEqual([
    "GET /app-events/catalog",
    "GET /events/catalog?page=1&pageSize=5",
    "GET /credentials/packages",
    "GET /credentials?page=1&pageSize=100",
  ]);
});

test("newer servers: the list of app events is paged and filtered here, and registering is refused with a way on", async () => {
  const all = Array.from({ length: 7 }, (_, at) => ({ appEventType: `e${at}`, category: at % 2 ? "app" : "device" }));
  const { backend } = overReplies((request) => {
    if (request.endsWith("/register")) return json(404, {});
    return request.includes("/app-events/catalog") ? json(200, { data: all }) : undefined;
  });
  expect(await backend.workflows.listAppEventCatalog({ source: "device", page: 2, pageSize: 3 })).toEqual({
    items: [{ eventType: "e6", source: "device" }],
    pagination: { page: 2, pages: 2, pageSize: 3, total: 4, hasNext: false, hasPrev: true },
  });
  await expect(backend.workflows.registerEventTypes([{ eventType: "e", label: "l" }])).rejects.toMatchObject({
    code: "not_found",
    hint: expect.stringContaining("ingest"),
  });
});

test("the credentials of one package are paged here", async () => {
  const all = Array.from({ length: 5 }, (_, at) => ({ packageName: "p", credentialName: `c${at}` }));
  const { backend } = overReplies(() => json(200, { data: all }));
  expect(await backend.credentials.listCredentials({ packageName: "p", page: 3, pageSize: 2 })).toEqual({
    items: [{ packageName: "p", credentialName: "c4" }],
    pagination: { page: 3, pages: 3, pageSize: 2, total: 5, hasNext: false, hasPrev: true },
  });
});
