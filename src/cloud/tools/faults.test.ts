import { expect, test } from "vitest";
import { BackendError } from "../backend/errors.ts";
import { failureText } from "../../tool/index.ts";
import { toolsetForTest, type ToolsetForTest } from "./toolset.fixture.ts";

/** The text that a client reads when the call is refused. */
async function refusal(name: string, input: Record<string, unknown>, setUp?: ToolsetForTest): Promise<string> {
  const outcome = await toolsetForTest(setUp).call(name, input);
  return outcome.kind === "ok" ? "ok" : failureText(outcome.failure);
}

const device = { deviceId: "d1" };

test.each<[string, Record<string, unknown>, RegExp]>([
  ["webhooks", { operation: "get" }, /webhooks operation=get requires endpointId/],
  [
    "webhooks",
    { operation: "update", endpointId: "5f0c2c1e-6a0e-4b0f-9d55-1f4c5a0e9a01" },
    /requires at least one of eventTypes, state, description/,
  ],
  ["device_action", { operation: "tap", ...device, x: 1 }, /device_action operation=tap requires y/],
  [
    "device_action",
    { operation: "tap", ...device, x: 1, y: 1, text: "a" },
    /field text is not valid for operation=tap; allowed fields: deviceId, x, y, stealth, displayId/,
  ],
  ["list_workflow_resources", { resource: "service_methods" }, /requires filter: service/],
  [
    "list_workflow_resources",
    { resource: "service", search: "a" },
    /filter search is not valid for resource=service; allowed filters: none/,
  ],
  ["get_device", { ...device, devceId: "x" }, /"devceId"/],
  ["get_device", { deviceId: "" }, /deviceId/],
  ["get_device", { deviceId: ".." }, /deviceId: is not an id/],
  ["get_task", { view: "summary", taskId: "t", limit: 3 }, /field limit is not valid for view=summary/],
  ["create_trigger", { name: "n", activation: "event" }, /activation=event requires eventType/],
  ["create_trigger", { name: "n", activation: "schedule" }, /activation=schedule requires scheduleRule/],
  [
    "create_trigger",
    { name: "n", activation: "schedule", scheduleRule: { type: "cron", expression: "0 9 * * *" } },
    /type=cron requires timezone/,
  ],
  [
    "create_trigger",
    { name: "n", activation: "schedule", scheduleRule: { type: "once" } },
    /requires scheduleRule.dateTime/,
  ],
  [
    "create_trigger",
    { name: "n", activation: "custom", eventType: "e" },
    /field eventType is not valid for activation=custom/,
  ],
  ["create_action", { name: "n", catalogEntryId: "c", isAsync: true }, /isAsync/],
  ["create_flow", { name: "n", triggerId: "t", actions: [], deviceIds: ["d1"] }, /actions/],
  ["configure_device", { operation: "set_location", ...device, latitude: 91, longitude: 0 }, /latitude/],
  [
    "configure_device",
    { operation: "proxy_connect", ...device, socks5Host: "h" },
    /requires socks5Host and socks5Port/,
  ],
  ["configure_device", { operation: "proxy_connect", ...device }, /requires exactly one of/],
  ["configure_device", { operation: "proxy_connect", ...device, socks5Host: "h", socks5Port: 70_000 }, /socks5Port/],
  [
    "manage_esim",
    { operation: "activate", ...device, enable: true, smDpAddr: "s", confirmationCode: "1" },
    /confirmationCode requires matchingId/,
  ],
  ["manage_device_apps", { operation: "install", ...device, packageName: "a", bundleId: "b" }, /not both/],
  [
    "manage_device_files",
    { operation: "upload", ...device, path: "/sdcard/", contentBase64: "aGk=" },
    /fileName is missing/,
  ],
  [
    "manage_device_files",
    { operation: "upload", ...device, path: "/sdcard/a", contentBase64: "not base64!" },
    /contentBase64/,
  ],
  [
    "proxies",
    { operation: "create", protocol: "socks5", name: "n", host: "h" },
    /protocol=socks5 requires port, user, password/,
  ],
  [
    "proxies",
    { operation: "create", protocol: "wireguard", name: "n", config: "c", host: "h" },
    /field host is not valid for protocol=wireguard/,
  ],
  ["list_tasks", { ...device, status: "running" }, /filter status is not valid with deviceId/],
  ["list_tasks", { orderBy: "assignedAt" }, /orderBy assignedAt is not valid without deviceId/],
])("%s %j is refused before anything is called", async (name, input, text) => {
  const { call, calls } = toolsetForTest();
  expect(await call(name, input)).toMatchObject({ kind: "error", failure: { code: "invalid_input" } });
  expect(calls).toEqual([]);
  expect(await refusal(name, input)).toMatch(text);
});

test("an error keeps its code, says which resource it is about, and gives a hint", async () => {
  const answers = {
    getFlow: () => {
      throw new BackendError("not_found", "404 no such flow", { hint: "List the flows." });
    },
    tap: () => {
      throw new BackendError("payment_required", "402 no credits");
    },
  };
  const text = await refusal("get_workflow_resource", { resource: "flow", id: "f1" }, { answers });
  expect(text).toBe("[not_found] flow f1: 404 no such flow\nList the flows.");
  expect(await refusal("device_action", { operation: "tap", ...device, x: 1, y: 1 }, { answers })).toMatch(
    /^\[payment_required\]/,
  );
});

test("an answer that cannot be read is the platform's error, not a crash of ours", async () => {
  const answers = { getDevice: () => "<html>", listApps: () => ({ items: "none" }) };
  expect(await refusal("get_device", device, { answers })).toMatch(/^\[upstream_error\] get_device: /);
  expect(await refusal("apps", { operation: "list" }, { answers })).toMatch(/^\[upstream_error\]/);
});

test("stopped devices are listed, terminated ones when they are asked for", async () => {
  const { call, calls } = toolsetForTest();
  await call("list_devices");
  await call("list_devices", { state: [] });
  await call("list_devices", { state: ["terminated"], type: "dedicated_emulated_device" });
  const states = calls.map(({ args }) => (args[0] as { state: string[] }).state);
  expect(states[0]).toContain("stopped");
  expect(states[0]).not.toContain("terminated");
  expect(states[1]).toEqual(states[0]);
  expect(states[2]).toEqual(["terminated"]);
});

test("a file comes back whole in parts: text as text and without torn characters, the rest as base64", async () => {
  const text = "grün und blau ".repeat(900);
  const collect = async (bytes: Uint8Array, limit: number) => {
    const { call } = toolsetForTest({ answers: { downloadFile: () => ({ bytes, contentType: "x" }) } });
    const parts: Buffer[] = [];
    let offset: unknown = 0;
    let encoding = "";
    while (offset !== undefined) {
      const outcome = await call("manage_device_files", {
        operation: "download",
        ...device,
        path: "/a",
        offset,
        limit,
      });
      if (outcome.kind !== "ok") throw new Error(outcome.failure.message);
      encoding = String(outcome.structured.encoding);
      parts.push(Buffer.from(String(outcome.structured.content), encoding as BufferEncoding));
      offset = outcome.structured.nextOffset;
    }
    return { encoding, bytes: Buffer.concat(parts) };
  };
  expect((await collect(Buffer.from(text), 1000)).bytes.toString()).toBe(text);
  expect((await collect(Buffer.from("äö"), 1)).bytes.toString()).toBe("äö");
  const binary = Buffer.from(Array.from({ length: 3000 }, (_, at) => at & 255));
  expect(await collect(binary, 1024)).toEqual({ encoding: "base64", bytes: binary });
});

test("an upload goes into the folder that its path names, under a name, and is measured in bytes", async () => {
  const { call, calls } = toolsetForTest();
  const upload = (bytes: number, more: Record<string, unknown>) =>
    call("manage_device_files", {
      operation: "upload",
      ...device,
      contentBase64: Buffer.alloc(bytes).toString("base64"),
      ...more,
    });
  await upload(3, { path: "/sdcard/Download", fileName: "a.txt" });
  await upload(3, { path: "/sdcard/Download/b.txt" });
  await upload(256 * 1024, { path: "/sdcard/", fileName: "big" });
  expect(await upload(256 * 1024 + 1, { path: "/sdcard/", fileName: "big" })).toMatchObject({ kind: "error" });
  const sent = calls.map(({ args }) => args[1] as { path: string; fileName: string; bytes: Uint8Array });
  expect(sent.map(({ path, fileName, bytes }) => [path, fileName, bytes.length])).toEqual([
    ["/sdcard/Download", "a.txt", 3],
    ["/sdcard/Download", "b.txt", 3],
    ["/sdcard/", "big", 262_144],
  ]);
});

test("every kind of device and proxy that is sold can be asked for, and a purchase says its kind", async () => {
  const { call, calls } = toolsetForTest();
  const types = ["android_cloud_phone", "android_physical_phone", "ios_stealth_phone", "android_emulator"];
  for (const deviceType of types) expect(await call("create_device", { deviceType })).toMatchObject({ kind: "ok" });
  for (const type of [undefined, "residential", "mobile", "dedicated_residential"]) {
    await call("connect", { operation: "buy_proxy", country: "de", ...(type === undefined ? {} : { type }) });
  }
  expect(calls.map(({ args }) => args[0])).toMatchObject([
    ...types.map((deviceType) => ({ deviceType })),
    { country: "de", type: "residential" },
    { country: "de", type: "residential" },
    { country: "de", type: "mobile" },
    { country: "de", type: "dedicated_residential" },
  ]);
});

test("executions are listed by every status that they can have, beyond the newest hundred", async () => {
  const { call, calls } = toolsetForTest();
  const statuses = ["pending", "running", "success", "failed", "cancelled", "skipped", "invalid"];
  for (const status of statuses) {
    const input = { resource: "execution", status, page: 3, pageSize: 100 };
    expect(await call("list_workflow_resources", input)).toMatchObject({ kind: "ok" });
  }
  expect(calls.map(({ args }) => args[0])).toEqual(statuses.map((status) => ({ status, page: 3, pageSize: 100 })));
});

test("capabilities are what a device can do; what identifies it is asked for apart, and closed to readonly", async () => {
  const { call, calls } = toolsetForTest({ profile: "readonly" });
  await call("manage_device", { operation: "get_capabilities", ...device });
  expect(calls).toEqual([{ method: "deviceControl.getDeviceCapabilities", args: ["d1"] }]);
  expect(await call("manage_device", { operation: "get_fingerprint", ...device })).toMatchObject({ kind: "denied" });
});

test("a trajectory is paged by its size too, and goes on where it ended", async () => {
  const events = Array.from({ length: 60 }, (_, at) => ({
    event: "E",
    data: { at, thought: "x".repeat(at === 3 ? 90_000 : 900) },
  }));
  const { call } = toolsetForTest({ answers: { getTaskTrajectory: () => ({ events }) } });
  const seen: string[] = [];
  let offset: unknown = 0;
  while (offset !== undefined) {
    const outcome = await call("get_task", { view: "trajectory", taskId: "t", offset });
    if (outcome.kind !== "ok") throw new Error(outcome.failure.message);
    expect(JSON.stringify(outcome.structured).length).toBeLessThan(48_000);
    expect(outcome.structured.truncated).toBeUndefined();
    seen.push(...(outcome.structured.events as typeof events).map(({ event }) => event));
    offset = outcome.structured.nextOffset;
  }
  expect(seen).toHaveLength(60);
});

test("with an allow-list of devices, lists tell of those alone", async () => {
  const devices = new Set(["d1"]);
  const page = { page: 1, pages: 1, pageSize: 20, total: 2, hasNext: false, hasPrev: false };
  const { call } = toolsetForTest({
    context: { devices },
    gate: { devices },
    answers: {
      listDevices: () => ({ items: [{ id: "d1" }, { id: "d2" }], pagination: page }),
      listTasks: () => ({
        items: [
          { id: "t1", deviceId: "d2" },
          { id: "t2", deviceId: "d1" },
        ],
        pagination: page,
      }),
    },
  });
  expect(await call("list_devices")).toMatchObject({ structured: { items: [{ id: "d1" }] } });
  expect(await call("list_tasks")).toMatchObject({ structured: { items: [{ id: "t2" }] } });
  expect(await call("get_device", { deviceId: "d2" })).toMatchObject({ kind: "denied" });
  expect(await call("workflow_events", { operation: "ingest", eventType: "e" })).toMatchObject({ kind: "denied" });
  expect(await call("create_device", {})).toMatchObject({ kind: "denied" });
});

test("with an allow-list of devices, a task is looked up before anything is done to it", async () => {
  const { call, calls } = toolsetForTest({
    gate: { devices: new Set(["d1"]) },
    answers: { getTaskSummary: (id: string) => ({ id, deviceId: id === "mine" ? "d1" : "d2" }) },
  });
  expect(await call("stop_task", { taskId: "theirs" })).toMatchObject({ kind: "denied" });
  expect(await call("get_task", { view: "trajectory", taskId: "theirs" })).toMatchObject({ kind: "denied" });
  expect(calls.map(({ method }) => method)).toEqual(["tasks.getTaskSummary", "tasks.getTaskSummary"]);
  expect(await call("stop_task", { taskId: "mine" })).toMatchObject({ kind: "ok" });
  expect(calls.at(-1)).toEqual({ method: "tasks.stopTask", args: ["mine"] });
});
