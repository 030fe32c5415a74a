import { once } from "node:events";
import { PNG } from "pngjs";
import { expect, test } from "vitest";
import { CloudError } from "./cloud-error.ts";
import { createCloudApi } from "./create-cloud-api.ts";
import { endpoints } from "./endpoints.ts";
import { KEY, cloudAt, sendJson } from "./loopback.fixture.ts";

const { devices, screen, tasks, connect, deviceFiles, flows } = endpoints;
const path = { deviceId: "dev-1" };

async function failure(call: Promise<unknown>): Promise<CloudError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof CloudError)) throw new Error("expected a CloudError", { cause: error });
  expect(`${error.message} ${error.hint}`).not.toContain(KEY);
  return error;
}

test("a call is sent as the endpoint declares it, with the key, encoded ids and comma lists", async () => {
  await using cloud = await cloudAt((_, response) =>
    sendJson(response, 200, {
      items: null,
      pagination: { page: 1, pages: 0, pageSize: 20, total: 0, hasNext: false, hasPrev: false },
    }),
  );
  const answer = await cloud.api.call(devices.list, {
    query: { state: ["ready", "stopped"], name: "a b", mine: true },
  });
  expect(answer.items).toBeNull();
  const [request] = cloud.received;
  expect(request).toMatchObject({ method: "GET", url: "/v1/devices?state=ready%2Cstopped&name=a%20b&mine=true" });
  expect(request?.headers).toMatchObject({ authorization: `Bearer ${KEY}`, accept: "application/json" });
});

test("ids are encoded, and those that would reach another endpoint are refused before any call", async () => {
  await using cloud = await cloudAt((_, response) => sendJson(response, 200, { id: "x" }));
  await cloud.api.call(devices.get, { path: { deviceId: "a b%2e?#" } });
  expect(cloud.received[0]?.url).toBe("/v1/devices/a%20b%252e%3F%23");
  for (const deviceId of ["", " ", ".", "..", "a/b", "a\\b", "a\nb", "x".repeat(513), "\ud800"]) {
    expect(await failure(cloud.api.call(devices.get, { path: { deviceId } }))).toMatchObject({ code: "invalid_input" });
  }
  expect(cloud.received).toHaveLength(1);
});

test("input that the schema does not take is refused before any call", async () => {
  await using cloud = await cloudAt((_, response) => response.end());
  const error = await failure(cloud.api.call(screen.tap, { path, body: { x: 1, y: -2 } }));
  expect(error.message).toMatch(/^screen\.tap was not called: body\.y: /);
  await failure(cloud.api.call(screen.tap, { path, body: { x: 1, y: 2 }, headers: { displayId: -1 } }));
  expect(cloud.received).toHaveLength(0);
});

test("the display and the idempotency key travel as headers, an optional body as {}, no body as none", async () => {
  await using cloud = await cloudAt((_, response) => response.writeHead(204).end());
  await cloud.api.call(screen.tap, { path, body: { x: 1, y: 2 }, headers: { displayId: 0 } });
  await cloud.api.call(devices.terminate, { path });
  await cloud.api.call(devices.reboot, { path });
  expect(cloud.received[0]?.headers["x-device-display-id"]).toBe("0");
  expect(cloud.received[1]).toMatchObject({ method: "DELETE", body: Buffer.from("{}") });
  expect(cloud.received[2]?.body).toHaveLength(0);
  expect(cloud.received[2]?.headers["content-type"]).toBeUndefined();
});

test.each([
  [400, "invalid_input"],
  [422, "invalid_input"],
  [401, "forbidden"],
  [403, "forbidden"],
  [402, "payment_required"],
  [404, "not_found"],
  [409, "conflict"],
  [408, "timeout"],
  [429, "rate_limited"],
  [418, "upstream_error"],
  [500, "upstream_error"],
  [503, "upstream_error"],
] as const)("status %i becomes %s and keeps one line of what was said", async (status, code) => {
  await using cloud = await cloudAt((_, response) =>
    sendJson(response, status, { message: "Device\n<b>dev-1</b> is out" }),
  );
  const error = await failure(cloud.api.call(devices.reboot, { path }));
  expect(error).toMatchObject({
    code,
    status,
    message: `devices.reboot: Mobilerun answered ${status}: Device dev-1 is out`,
  });
  expect(cloud.received).toHaveLength(1);
});

test("what is not found is the address where a call names nothing, and else what it names", async () => {
  await using cloud = await cloudAt((_, response) => sendJson(response, 404, { message: "No such path" }));
  expect((await failure(cloud.api.call(devices.list))).hint).toContain("base URL");
  expect((await failure(cloud.api.call(devices.get, { path }))).hint).toContain("what the call names");
});

test("a refusal says no page, no value and no key", async () => {
  const bodies: [string, string][] = [
    ["text/html", "<html><body>proxy error</body></html>"],
    [
      "application/json",
      `{"message":"key ${KEY} is bad, so is dr_sk_other","errors":[{"location":"body.x","message":"must be a number","value":"s3cret"}]}`,
    ],
    ["application/json", "{not json"],
    [
      "application/problem+json",
      JSON.stringify({ title: "Nope", detail: [{ loc: ["body", "task"], msg: "field required" }] }),
    ],
    ["application/json", JSON.stringify({ message: "x".repeat(5000) })],
  ];
  await using cloud = await cloudAt((_, response, attempt) => {
    const [type, body] = bodies[attempt - 1] ?? ["", ""];
    response.writeHead(400, { "content-type": type }).end(body);
  });
  const said: string[] = [];
  for (const _ of bodies) said.push((await failure(cloud.api.call(devices.get, { path }))).message);
  expect(said.slice(0, 4)).toEqual([
    "devices.get: Mobilerun answered 400.",
    "devices.get: Mobilerun answered 400: key [key] is bad, so is [key]; body.x: must be a number",
    "devices.get: Mobilerun answered 400.",
    "devices.get: Mobilerun answered 400: Nope; body.task: field required",
  ]);
  expect(said[4]?.length).toBeLessThan(350);
});

test("a read is sent up to three times, with a growing wait", async () => {
  await using cloud = await cloudAt((_, response, attempt) =>
    attempt === 3 ? sendJson(response, 200, { id: "dev-1" }) : sendJson(response, 503, {}),
  );
  expect(await cloud.api.call(devices.get, { path })).toEqual({ id: "dev-1" });
  expect(cloud.waited).toHaveLength(2);
  expect(cloud.waited[0]).toBeGreaterThanOrEqual(187);
  expect(cloud.waited[1]).toBeGreaterThan(cloud.waited[0] ?? 0);
  expect(await failure(cloud.api.call(devices.get, { path }))).toMatchObject({ code: "upstream_error", status: 503 });
  expect(cloud.received).toHaveLength(6);
});

test("create, buy, tap and terminate are sent once, whatever goes wrong", async () => {
  await using cloud = await cloudAt((_, response, attempt) => {
    if (attempt % 2 === 0) response.destroy();
    else sendJson(response, 503, {}, { "retry-after": "0" });
  });
  const { api } = cloud;
  const calls = [
    () => api.call(devices.create),
    () => api.call(connect.buy, { body: { country: "de" } }),
    () => api.call(screen.tap, { path, body: { x: 1, y: 1 } }),
    () => api.call(devices.terminate, { path }),
    () => api.call(tasks.run, { body: { deviceId: "d", task: "t" } }),
  ];
  for (const call of calls) expect(await failure(call())).toMatchObject({ mayHaveHappened: true });
  expect(cloud.received).toHaveLength(calls.length);
  expect(cloud.waited).toEqual([]);
});

test("a write with an idempotency key is sent again, with the same key", async () => {
  await using cloud = await cloudAt((_, response, attempt) =>
    attempt === 1 ? response.destroy() : sendJson(response, 200, { id: "tsk-1", status: "created" }),
  );
  const request = { body: { deviceId: "d", task: "t" }, headers: { idempotencyKey: "once-1" } };
  expect(await cloud.api.call(tasks.run, request)).toEqual({ id: "tsk-1", status: "created" });
  expect(cloud.received.map(({ headers }) => headers["idempotency-key"])).toEqual(["once-1", "once-1"]);
});

test("conflicts and refusals are answers: a read that gets one is not sent again", async () => {
  await using cloud = await cloudAt((_, response, attempt) => sendJson(response, attempt === 1 ? 409 : 404, {}));
  await failure(cloud.api.call(devices.get, { path }));
  await failure(cloud.api.call(devices.get, { path }));
  expect(cloud.received).toHaveLength(2);
});

test("Retry-After is waited out within the limit, and is the end beyond it", async () => {
  await using cloud = await cloudAt((_, response, attempt) => {
    if (attempt === 1) return sendJson(response, 429, {}, { "retry-after": "7" });
    if (attempt === 2) return sendJson(response, 200, { id: "dev-1" });
    return sendJson(response, 429, {}, { "retry-after": "11" });
  });
  await cloud.api.call(devices.get, { path });
  expect(cloud.waited).toEqual([7000]);
  const error = await failure(cloud.api.call(devices.get, { path }));
  expect(error).toMatchObject({ code: "rate_limited", retryAfterMs: 11_000, hint: "Try again in 11 s." });
  expect(cloud.received).toHaveLength(3);
});

test("a wait that would outlast the call is not begun", async () => {
  await using cloud = await cloudAt((_, response) => sendJson(response, 429, {}, { "retry-after": "9" }));
  expect(await failure(cloud.api.call(devices.get, { path, timeoutMs: 5000 }))).toMatchObject({ code: "rate_limited" });
  expect(cloud.received).toHaveLength(1);
});

test("the caller's abort reaches the socket and ends a wait between attempts", async () => {
  const abort = new AbortController();
  const closed = Promise.withResolvers<void>();
  await using cloud = await cloudAt((_, response) => {
    response.on("close", () => closed.resolve());
    abort.abort();
  });
  const error = await failure(cloud.api.call(devices.waitReady, { path, signal: abort.signal }));
  expect(error).toMatchObject({ code: "cancelled", mayHaveHappened: false });
  await closed.promise;

  const pausing = new AbortController();
  await using slow = await cloudAt((_, response) => sendJson(response, 503, {}, { "retry-after": "9" }), {
    wait: undefined,
  });
  const call = failure(slow.api.call(devices.get, { path, signal: pausing.signal }));
  await expect.poll(() => slow.received.length).toBe(1);
  pausing.abort();
  expect(await call).toMatchObject({ code: "cancelled" });
});

test("an aborted signal keeps the call from being made", async () => {
  await using cloud = await cloudAt((_, response) => sendJson(response, 200, { id: "x" }));
  expect(await failure(cloud.api.call(devices.get, { path, signal: AbortSignal.abort() }))).toMatchObject({
    code: "cancelled",
  });
  expect(cloud.received).toHaveLength(0);
});

test("a server that never answers, or never ends its answer, runs into the time limit", async () => {
  await using cloud = await cloudAt((_, response, attempt) => {
    if (attempt === 2) response.writeHead(200, { "content-type": "application/json" }).write("{");
  });
  expect(await failure(cloud.api.call(screen.tap, { path, body: { x: 1, y: 1 }, timeoutMs: 30 }))).toMatchObject({
    code: "timeout",
    mayHaveHappened: true,
  });
  expect(await failure(cloud.api.call(devices.get, { path, timeoutMs: 30 }))).toMatchObject({ code: "timeout" });
});

test("an answer that breaks off is read again when it was a read", async () => {
  await using cloud = await cloudAt((_, response, attempt) => {
    if (attempt > 1) return sendJson(response, 200, { id: "dev-1" });
    response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
    response.write('{"id":');
    setImmediate(() => response.destroy());
  });
  expect(await cloud.api.call(devices.get, { path })).toEqual({ id: "dev-1" });
  expect(cloud.received).toHaveLength(2);
});

test.each([
  ["HTML", "text/html", "<html></html>", "answered with text/html instead of JSON"],
  ["JSON that can't be read", "application/json", "{", "answered with JSON that can't be read"],
  ["another shape", "application/json", '{"id":{"secret":1}}', "answered with a shape that it does not have (id)"],
  ["nothing", "application/json", "", "answered with a shape that it does not have (the whole)"],
])("%s in place of an answer is an error of the API, said once", async (_, type, body, message) => {
  await using cloud = await cloudAt((__, response) => response.writeHead(200, { "content-type": type }).end(body));
  const error = await failure(cloud.api.call(devices.get, { path }));
  expect(error).toMatchObject({ code: "upstream_error", message: `devices.get: Mobilerun ${message}.` });
  expect(cloud.received).toHaveLength(1);
});

test("an answer beyond the limit is cut off while it comes, said or unsaid", async () => {
  const closed: Promise<unknown>[] = [];
  await using cloud = await cloudAt(
    (_, response, attempt) => {
      closed.push(once(response, "close"));
      response.writeHead(200, {
        "content-type": "application/json",
        ...(attempt === 1 ? { "content-length": "5000000" } : {}),
      });
      const more = () => {
        while (response.write(Buffer.alloc(65_536, 32)));
      };
      response.on("drain", more);
      more();
    },
    { limits: { maxJsonBytes: 100_000 } },
  );
  for (const _ of [1, 2]) {
    const error = await failure(cloud.api.call(devices.get, { path }));
    expect(error).toMatchObject({
      code: "upstream_error",
      message: "devices.get: Mobilerun answered with more than 100000 bytes.",
    });
  }
  await Promise.all(closed);
  expect(cloud.received).toHaveLength(2);
});

test("a picture arrives byte by byte as it was sent", async () => {
  const picture = new PNG({ width: 3, height: 2 });
  picture.data.fill(0xc3);
  const png = PNG.sync.write(picture);
  await using cloud = await cloudAt((_, response, attempt) =>
    response.writeHead(200, { "content-type": attempt === 1 ? "image/png" : "text/html; charset=utf-8" }).end(png),
  );
  const { bytes, contentType } = await cloud.api.call(screen.screenshot, { path });
  expect(contentType).toBe("image/png");
  expect(Buffer.from(bytes).equals(png)).toBe(true);
  expect((await failure(cloud.api.call(screen.screenshot, { path }))).message).toContain("text/html instead of image/");
  const small = failure(
    cloud.api.call(deviceFiles.download, { path, query: { path: "/sdcard/a" }, maxBytes: png.length - 1 }),
  );
  expect(await small).toMatchObject({ code: "upstream_error" });
});

test("an upload is one part named file, under the name that was given", async () => {
  await using cloud = await cloudAt((_, response) => response.writeHead(200).end());
  const bytes = Uint8Array.from([0, 255, 10, 13, 195, 40]);
  const query = { path: "/sdcard/Download" };
  await cloud.api.call(deviceFiles.upload, { path, query, body: { name: "übung.bin", bytes } });
  const [request] = cloud.received;
  const sent = await new Response(new Uint8Array(request?.body ?? []), {
    headers: { "content-type": request?.headers["content-type"] ?? "" },
  }).formData();
  const file = sent.get("file");
  if (!(file instanceof File)) throw new Error("no file was sent");
  expect([...sent.keys()]).toEqual(["file"]);
  expect(file.name).toBe("übung.bin");
  expect(new Uint8Array(await file.arrayBuffer())).toEqual(bytes);
  for (const name of ["", "..", "a/b", "a\u0000"]) {
    expect(await failure(cloud.api.call(deviceFiles.upload, { path, query, body: { name, bytes } }))).toMatchObject({
      code: "invalid_input",
    });
  }
});

test("the key follows no redirect to another origin, and a write follows none", async () => {
  await using other = await cloudAt((_, response) => sendJson(response, 200, { id: "stolen" }));
  await using cloud = await cloudAt((request, response) => {
    if (request.url === "/v1/devices/near") response.writeHead(307, { location: "/v1/devices/here" }).end();
    else if (request.url === "/v1/devices/loop") response.writeHead(302, { location: "/v1/devices/loop" }).end();
    else if (request.url === "/v1/devices/here") sendJson(response, 200, { id: "here" });
    else response.writeHead(307, { location: `${other.origin}/v1/devices/x` }).end();
  });
  expect(await cloud.api.call(devices.get, { path: { deviceId: "near" } })).toEqual({ id: "here" });
  expect((await failure(cloud.api.call(devices.get, { path: { deviceId: "far" } }))).message).toContain(
    "another origin",
  );
  expect((await failure(cloud.api.call(devices.get, { path: { deviceId: "loop" } }))).message).toContain(
    "more than 3 times",
  );
  expect((await failure(cloud.api.call(flows.unblock, { path: { flowId: "f" } }))).message).toContain("a write");
  expect(other.received).toHaveLength(0);
});

test("a stream of events is told as it comes, and letting go closes it", async () => {
  const closed = Promise.withResolvers<void>();
  await using cloud = await cloudAt((_, response) => {
    response.on("close", () => closed.resolve());
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(
      ': hello\r\nevent: CreatedEvent\r\ndata: {"id":\r\ndata: "tsk-1"}\r\n\r\ndata: plain\n\nevent: x\n\n',
    );
  });
  const seen: unknown[] = [];
  for await (const event of await cloud.api.call(tasks.attach, { path: { taskId: "tsk-1" } })) {
    seen.push(event);
    if (seen.length === 2) break;
  }
  expect(seen).toEqual([
    { event: "CreatedEvent", data: { id: "tsk-1" } },
    { event: "message", data: "plain" },
  ]);
  await closed.promise;
});

test("a stream ends with an error when it breaks, is cancelled, or sends an event without end", async () => {
  const abort = new AbortController();
  await using cloud = await cloudAt(
    (_, response, attempt) => {
      response.writeHead(200, { "content-type": attempt === 4 ? "text/html" : "text/event-stream" });
      if (attempt === 1) response.write("data: 1\n\n", () => response.destroy());
      if (attempt === 2) response.write("data: 1\n\n", () => abort.abort());
      if (attempt === 3) response.write(`data: ${"x".repeat(3000)}`);
      if (attempt === 4) response.end("<html>");
    },
    { limits: { maxEventBytes: 2000 } },
  );
  const drain = async () => {
    for await (const _ of await cloud.api.call(tasks.attach, { path: { taskId: "t" }, signal: abort.signal }));
  };
  expect((await failure(drain())).message).toContain("broke off");
  expect(await failure(drain())).toMatchObject({ code: "cancelled" });
  const request = { path: { taskId: "t" } };
  const long = async () => {
    for await (const _ of await cloud.api.call(tasks.attach, request));
  };
  expect((await failure(long())).message).toContain("more than 2000 bytes");
  expect((await failure(long())).message).toContain("no stream of events");
});

test("a base URL that would carry the key in the open, or a key that is none, makes no client", () => {
  const make =
    (baseUrl: string, key = KEY) =>
    () =>
      createCloudApi({ baseUrl, key });
  for (const url of ["http://api.example.test/v1", "ftp://x", "nothing", "https://u:p@x", "https://x/?a=1"]) {
    expect(make(url)).toThrow(CloudError);
  }
  for (const key of ["", "dr_sk_a\r\nx: y", "dr_sk_ü"])
    expect(make("https://api.example.test/v1", key)).toThrow(CloudError);
  expect(JSON.stringify(createCloudApi({ baseUrl: "http://localhost:1", key: KEY }))).not.toContain(KEY);
});

test("a server that is not there is told as a failed connection, without addresses", async () => {
  const waited: number[] = [];
  const api = createCloudApi({ baseUrl: "http://127.0.0.1:1/v1", key: KEY, wait: async (ms) => void waited.push(ms) });
  const error = await failure(api.call(devices.get, { path }));
  expect(error).toMatchObject({ code: "upstream_error", message: "devices.get: the connection to Mobilerun failed." });
  expect(waited).toHaveLength(2);
});
