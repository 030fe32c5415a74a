import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { PNG } from "pngjs";
import { endpoints as e } from "../../cloud/index.ts";
import { signature } from "./deliver.ts";
import type { Fault } from "./faults.ts";
import { KEY, readyDevice, virtualCloud } from "./mobilerun.fixture.ts";
import { FORBIDDEN_KEY } from "./options.ts";

test("a key has to be there, to begin with dr_sk_, and to be let in", async () => {
  await using cloud = await virtualCloud();
  const ask = (authorization?: string) =>
    fetch(`${cloud.url}/devices`, authorization === undefined ? {} : { headers: { authorization } });
  expect((await ask()).status).toBe(401);
  expect((await ask("Bearer other")).status).toBe(401);
  expect((await ask(`Bearer ${FORBIDDEN_KEY}`)).status).toBe(403);
  expect((await ask("Bearer dr_sk_any")).status).toBe(200);
});

test("two keys see two worlds", async () => {
  await using cloud = await virtualCloud();
  const path = await readyDevice(cloud);
  const other = cloud.client("dr_sk_other");
  await expect(other.call(e.devices.get, { path })).rejects.toMatchObject({ code: "not_found" });
  expect((await other.call(e.devices.list)).items).toBeNull();
  expect((await cloud.api.call(e.devices.list)).pagination.total).toBe(1);
});

test("unknown paths, methods, fields and bodies are refused with what is wrong", async () => {
  await using cloud = await virtualCloud();
  const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
  const ask = async (method: string, path: string, body?: string) => {
    const response = await fetch(`${cloud.url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
    return [response.status, ((await response.json()) as { message: string }).message];
  };
  expect(await ask("GET", "/nothing")).toEqual([404, "No such path"]);
  expect(await ask("PATCH", "/devices")).toEqual([405, "No such method on this path"]);
  expect(await ask("POST", "/devices", "{")).toEqual([400, "The body is not JSON"]);
  expect(await ask("GET", "/devices?page=0")).toEqual([400, expect.stringMatching(/^query\.page: /)]);
  expect(await ask("POST", "/devices", '{"nmae":"x"}')).toEqual([400, expect.stringContaining("nmae")]);
});

test("a device comes to life, reboots, is reset, parked and ended as the clock goes", async () => {
  await using cloud = await virtualCloud();
  const { api, clock } = cloud;
  const { id: deviceId, state } = await api.call(e.devices.create);
  const path = { deviceId };
  const now = async () => (await api.call(e.devices.get, { path })).state;
  expect(state).toBe("creating");
  await expect(api.call(e.screen.tap, { path, body: { x: 1, y: 1 } })).rejects.toMatchObject({ code: "conflict" });
  clock.advance(1000);
  expect(await now()).toBe("assigned");
  let answered = false;
  const waited = api.call(e.devices.waitReady, { path }).finally(() => (answered = true));
  expect(await now()).toBe("assigned");
  expect(answered).toBe(false);
  clock.advance(2000);
  expect(await waited).toMatchObject({ state: "ready", id: deviceId });
  await api.call(e.deviceFiles.upload, {
    path,
    query: { path: "/sdcard" },
    body: { name: "a", bytes: Uint8Array.of(7) },
  });
  await api.call(e.devices.reboot, { path });
  expect(await now()).toBe("rebooting");
  clock.advance(3000);
  const { bytes } = await api.call(e.deviceFiles.download, { path, query: { path: "/sdcard/a" } });
  expect([...bytes]).toEqual([7]);
  await api.call(e.devices.reset, { path });
  clock.advance(4000);
  await expect(api.call(e.deviceFiles.download, { path, query: { path: "/sdcard/a" } })).rejects.toMatchObject({
    code: "not_found",
  });
  await api.call(e.devices.stop, { path });
  expect((await api.call(e.devices.list, { query: { state: ["stopped"] } })).items).toHaveLength(1);
  await api.call(e.devices.terminate, { path });
  expect((await api.call(e.devices.list)).items).toBeNull();
  expect(await now()).toBe("terminated");
});

test("waiting for a device that does not come ends after a limit, and with the caller", async () => {
  await using cloud = await virtualCloud();
  const path = await readyDevice(cloud);
  await cloud.api.call(e.devices.stop, { path });
  const abort = new AbortController();
  const left = cloud.api.call(e.devices.waitReady, { path, signal: abort.signal });
  abort.abort();
  await expect(left).rejects.toMatchObject({ code: "cancelled" });
  const late = cloud.api.call(e.devices.waitReady, { path }).catch((thrown: unknown) => thrown);
  let error: unknown;
  void late.then((thrown) => (error = thrown));
  // The server begins to wait at a moment that only it knows: time moves on until it has had enough of it.
  await expect.poll(() => (cloud.clock.advance(300_000), error)).toMatchObject({ code: "timeout", status: 504 });
});

test("a note is written by taps and keys, and the tree and the picture show it", async () => {
  await using cloud = await virtualCloud();
  const { api } = cloud;
  const path = await readyDevice(cloud);
  const see = async () => {
    const { a11y_tree, phone_state } = await api.call(e.screen.uiState, { path });
    const picture = await api.call(e.screen.screenshot, { path });
    return { nodes: a11y_tree?.children ?? [], phone: phone_state, picture: Buffer.from(picture.bytes) };
  };
  const tap = async (text: string) => {
    const { nodes } = await see();
    const box = nodes.find((node) => node.text === text || node.resourceId?.endsWith(text))?.boundsInScreen;
    if (!box) throw new Error(`no ${text} on the screen`);
    const x = ((box.left ?? 0) + (box.right ?? 0)) / 2;
    await api.call(e.screen.tap, { path, body: { x, y: ((box.top ?? 0) + (box.bottom ?? 0)) / 2 } });
  };
  const home = await see();
  expect(PNG.sync.read(home.picture)).toMatchObject({ width: 1080, height: 2340 });
  await expect(api.call(e.screen.type, { path, body: { text: "x" } })).rejects.toMatchObject({ code: "conflict" });
  await tap("Notes");
  await tap("Add");
  await api.call(e.screen.type, { path, body: { text: "mill" } });
  await api.call(e.screen.pressKey, { path, body: { key: 67 } });
  await api.call(e.screen.pressKey, { path, body: { key: 39 } });
  const editing = await see();
  expect(editing.phone).toMatchObject({ isEditable: true, keyboardVisible: true, focusedElement: { text: "milk" } });
  await tap("Save");
  const saved = await see();
  expect(saved.nodes.map(({ text }) => text)).toContain("milk");
  expect(saved.phone).toMatchObject({
    packageName: "com.example.notes",
    activityName: ".ListActivity",
    isEditable: false,
  });
  expect(saved.picture.equals(home.picture)).toBe(false);
  await api.call(e.screen.globalAction, { path, body: { action: 2 } });
  expect((await see()).picture.equals(home.picture)).toBe(true);
});

test("a device works on one task at a time, and a task goes from created to completed", async () => {
  await using cloud = await virtualCloud();
  const { api, clock } = cloud;
  const { deviceId } = await readyDevice(cloud);
  const outputSchema = { type: "object", properties: { added: { type: "boolean" } } };
  const first = await api.call(e.tasks.run, { body: { deviceId, task: "Add milk", outputSchema } });
  const second = await api.call(e.tasks.run, { body: { deviceId, task: "fail please" } });
  expect([first.status, second.status, second.streamUrl]).toEqual(["created", "queued", null]);
  clock.advance(60_000);
  const status = async (taskId: string) => api.call(e.tasks.status, { path: { taskId } });
  expect(await status(first.id)).toMatchObject({
    status: "completed",
    succeeded: true,
    output: { added: true },
    execution: null,
  });
  expect(await status(second.id)).toMatchObject({ status: "failed", execution: { terminationReason: "agent_failed" } });
  await expect(api.call(e.tasks.cancel, { path: { taskId: first.id } })).rejects.toMatchObject({ code: "conflict" });
});

test("one idempotency key makes one task", async () => {
  await using cloud = await virtualCloud();
  const { deviceId } = await readyDevice(cloud);
  const run = (task: string) =>
    cloud.api.call(e.tasks.run, { body: { deviceId, task }, headers: { idempotencyKey: "once" } });
  expect((await run("a")).id).toBe((await run("a")).id);
  await expect(run("b")).rejects.toMatchObject({ code: "conflict" });
  expect((await cloud.api.call(e.tasks.list)).pagination.total).toBe(1);
});

test("dropping a task's stream cancels it", async () => {
  await using cloud = await virtualCloud();
  const { deviceId } = await readyDevice(cloud);
  for await (const _ of await cloud.api.call(e.tasks.stream, { body: { deviceId, task: "long" } })) break;
  await expect.poll(async () => (await cloud.api.call(e.tasks.list)).items?.[0]?.status).toBe("cancelling");
});

test("an event fires the flows of its trigger through their gates, and failures block a flow until it is unblocked", async () => {
  await using cloud = await virtualCloud();
  const { api, clock } = cloud;
  const path = await readyDevice(cloud);
  const action = await api.call(e.actions.create, {
    body: { catalogEntryId: "cat-run-task", name: "Check", params: { task: "Open Notes" } },
  });
  const trigger = await api.call(e.triggers.create, {
    body: { name: "T", activation: "event", eventType: "till.opened" },
  });
  const { data: flow } = await api.call(e.flows.create, {
    body: {
      name: "F",
      triggerId: trigger.data.id,
      actions: [{ actionId: action.data.id, position: 1 }],
      deviceIds: [path.deviceId],
      cooldownSeconds: 60,
    },
  });
  const happen = async () => {
    await api.call(e.events.ingest, { body: { eventType: "till.opened" } });
    clock.advance(10_000);
  };
  await happen();
  await happen();
  const executions = await api.call(e.executions.list);
  expect(executions.items).toMatchObject([{ status: "success", flowId: flow.id }]);
  expect((await api.call(e.tasks.list)).items).toMatchObject([{ task: "Open Notes", status: "completed" }]);
  await api.call(e.devices.stop, { path });
  for (let failed = 0; failed < 3; failed += 1) {
    clock.advance(60_000);
    await happen();
  }
  clock.advance(60_000);
  await happen();
  const read = async () => (await api.call(e.flows.get, { path: { flowId: flow.id } })).data;
  expect(await read()).toMatchObject({ status: "blocked", consecutiveFailures: 3, lastFailureCode: "client_error" });
  expect((await api.call(e.executions.metrics)).data.byStatus).toMatchObject({ success: 1, failed: 3 });
  await api.call(e.flows.unblock, { path: { flowId: flow.id } });
  expect(await read()).toMatchObject({ status: "healthy" });
});

test("a trigger takes only the fields of its activation, and one of a moment fires at it", async () => {
  await using cloud = await virtualCloud();
  const { api, clock } = cloud;
  const wrong = { name: "T", activation: "custom" as const, eventType: "x" };
  await expect(api.call(e.triggers.create, { body: wrong })).rejects.toMatchObject({ code: "invalid_input" });
  const at = new Date(clock.now() + 5000).toISOString();
  const { data } = await api.call(e.triggers.create, {
    body: { name: "T", activation: "schedule", scheduleRule: { type: "once", dateTime: at } },
  });
  expect(data.nextFireTime).toBe(at);
  const action = await api.call(e.actions.create, { body: { catalogEntryId: "cat-notify", name: "N" } });
  await api.call(e.flows.create, {
    body: { name: "F", triggerId: data.id, actions: [{ actionId: action.data.id, position: 1 }] },
  });
  clock.advance(4000);
  expect((await api.call(e.executions.list)).pagination.total).toBe(0);
  clock.advance(5000);
  expect((await api.call(e.executions.list)).items).toMatchObject([{ status: "success" }]);
});

test("a webhook is delivered to this machine, signed; beyond it nothing is sent", async () => {
  await using cloud = await virtualCloud();
  const { api } = cloud;
  const got = Promise.withResolvers<{ headers: Record<string, unknown>; body: string }>();
  const receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      got.resolve({ headers: request.headers, body: Buffer.concat(chunks).toString() });
      response.end("ok");
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/in`;
  const { data: hook } = await api.call(e.webhooks.create, { body: { url, eventTypes: ["task.completed"] } });
  const { deviceId } = await readyDevice(cloud);
  await api.call(e.tasks.run, { body: { deviceId, task: "t" } });
  cloud.clock.advance(60_000);
  const { headers, body } = await got.promise;
  expect(JSON.parse(body)).toMatchObject({ type: "task.completed", source: "tasks", data: { deviceId } });
  const id = String(headers["x-mobilerun-delivery"]);
  const timestamp = Number(headers["x-mobilerun-timestamp"]);
  expect(headers["x-mobilerun-signature"]).toBe(signature(hook.secret ?? "", id, timestamp, body));
  const path = { endpointId: hook.id };
  await expect.poll(async () => (await api.call(e.webhooks.deliveries, { path })).items?.[0]?.status).toBe("success");
  expect((await api.call(e.webhooks.get, { path })).data).not.toHaveProperty("secret");
  await new Promise((resolve) => receiver.close(resolve));

  const far = await api.call(e.webhooks.create, { body: { url: "https://hooks.virtual.test/in" } });
  const test = await api.call(e.webhooks.test, { path: { endpointId: far.data.id } });
  expect(test.data).toMatchObject({
    success: false,
    statusCode: null,
    error: expect.stringContaining("this machine only"),
  });
});

test("credential values are masked unless the server was told otherwise", async () => {
  for (const plaintextCredentials of [false, true]) {
    await using cloud = await virtualCloud({ plaintextCredentials });
    const path = { packageName: "com.example.notes" };
    await cloud.api.call(e.credentials.createPackage, { body: path });
    const field = { fieldType: "password" as const, value: "s3cret" };
    await cloud.api.call(e.credentials.create, { path, body: { credentialName: "main", fields: [field] } });
    const { items } = await cloud.api.call(e.credentials.list);
    expect(items?.[0]?.fields).toEqual([
      { fieldType: "password", value: plaintextCredentials ? "s3cret" : "********" },
    ]);
  }
});

test("a proxy is bought, paid, provided and ended in its time", async () => {
  await using cloud = await virtualCloud();
  const { api, clock } = cloud;
  const bought = await api.call(e.connect.buy, { body: { country: "BR", type: "residential" } });
  expect(bought).toMatchObject({
    status: "pending_payment",
    country: "br",
    paymentUrl: expect.stringContaining("https://"),
  });
  const path = { proxyId: bought.id };
  const status = async () => (await api.call(e.connect.get, { path })).status;
  expect((await api.call(e.connect.ping, { path })).latency).toBeNull();
  clock.advance(5000);
  expect(await status()).toBe("provisioning");
  clock.advance(2000);
  expect(await status()).toBe("active");
  await api.call(e.connect.cancel, { path });
  expect(await status()).toBe("cancelling");
  clock.advance(2000);
  expect(await status()).toBe("ended");
});

const BREAKS: readonly [Fault, object][] = [
  [{ status: 402 }, { code: "payment_required" }],
  [
    { status: 429, retryAfter: "3600" },
    { code: "rate_limited", retryAfterMs: 3_600_000 },
  ],
  [
    { status: 502, body: "html", times: 3 },
    { code: "upstream_error", status: 502 },
  ],
  [{ body: "drop", times: 3 }, { message: expect.stringContaining("connection") }],
  [{ body: "html" }, { message: expect.stringContaining("text/html") }],
  [{ body: "malformed" }, { message: expect.stringContaining("can't be read") }],
  [{ body: "wrongType" }, { message: expect.stringContaining("text/plain") }],
  [{ body: "huge" }, { message: expect.stringContaining("more than") }],
];
test.each(BREAKS)("the fault %j befalls a call and is over then", async (fault, error) => {
  await using cloud = await virtualCloud();
  cloud.faults.add({ endpoint: "devices.list", ...fault });
  await cloud.api.call(e.devices.count);
  await expect(cloud.api.call(e.devices.list)).rejects.toMatchObject(error);
  expect((await cloud.api.call(e.devices.list)).items).toBeNull();
});

test("null lists and missing fields are survived by the client", async () => {
  await using cloud = await virtualCloud();
  const { deviceId } = await readyDevice(cloud);
  cloud.faults.add({ body: "nullItems" });
  expect((await cloud.api.call(e.devices.list)).items).toBeNull();
  cloud.faults.add({ body: "missingFields" });
  const { items } = await cloud.api.call(e.devices.list);
  expect(items?.[0]).toMatchObject({ id: deviceId, name: "bench" });
  expect(items?.[0]).not.toHaveProperty("state");
});

test("a delay stands until the clock has gone, or the caller has; faults come over HTTP too", async () => {
  await using cloud = await virtualCloud();
  const control = cloud.url.replace("/v1", "/_control/faults");
  const add = async (fault: object) => (await fetch(control, { method: "POST", body: JSON.stringify(fault) })).status;
  expect(await add({ delayMs: 5000, endpoint: "devices.count" })).toBe(204);
  expect(await add({ delay: 5 })).toBe(400);
  await expect(cloud.api.call(e.devices.count, { timeoutMs: 50 })).rejects.toMatchObject({ code: "timeout" });
  const headers = { authorization: `Bearer ${KEY}`, "x-virtual-fault": '{"status":503}' };
  expect((await fetch(`${cloud.url}/devices`, { headers })).status).toBe(503);
  await add({ status: 500 });
  expect((await fetch(control, { method: "DELETE" })).status).toBe(204);
  expect(await cloud.api.call(e.devices.count)).toEqual({});
});
