import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CONFIRMABLE, POLICY_PROFILES, policyForProfile } from "../../tool/index.ts";
import { ROWS } from "./calls.fixture.ts";
import { cloudTools } from "./index.ts";
import { inputOf, toolsetForTest } from "./toolset.fixture.ts";

const device = { deviceId: "d1" };

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

test("a trajectory says that a screen was recorded, and neither shows it nor leads to it", async () => {
  const typed = { text: "hunter2", isPassword: true };
  const events = [
    { event: "RecordUIStateEvent", data: { index: 0, url: "https://media.test/u/0?sig=s", ui_state: [typed] } },
    { event: "ScreenshotEvent", data: { index: 0, url: "https://media.test/s/0?sig=s" } },
    { event: "record_ui_states", data: [typed] },
  ];
  for (const profile of ["readonly", "full"] as const) {
    const { call } = toolsetForTest({ profile, answers: { getTaskTrajectory: () => ({ events }) } });
    expect(await call("get_task", { view: "trajectory", taskId: "t" })).toMatchObject({
      structured: {
        events: [
          { event: "RecordUIStateEvent", data: { index: 0 } },
          { event: "ScreenshotEvent", data: { index: 0, url: "https://media.test/s/0?sig=s" } },
          { event: "record_ui_states", data: {} },
        ],
      },
    });
  }
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
  const pagination = { total: 1, pages: 1 };
  expect(await call("list_devices")).toMatchObject({ structured: { items: [{ id: "d1" }], pagination } });
  expect(await call("list_tasks")).toMatchObject({ structured: { items: [{ id: "t2" }], pagination } });
  for (const input of [{}, device]) {
    expect(await call("manage_device", { operation: "count", ...input })).toMatchObject({
      failure: { code: "forbidden" },
    });
  }
  const endpointId = "5f0c9f0e-0000-4000-8000-000000000001";
  for (const input of [
    { operation: "create", url: "https://hooks.test/" },
    { operation: "update", endpointId, eventTypes: ["task.completed"] },
    { operation: "list_deliveries", endpointId },
    { operation: "get_delivery", endpointId, deliveryId: endpointId },
  ]) {
    expect(await call("webhooks", input)).toMatchObject({ kind: "denied" });
  }
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

test.each([
  ["list_workflow_resources", { resource: "action_catalog" }, "listActionCatalog"],
  ["list_workflow_resources", { resource: "app_event_catalog" }, "listAppEventCatalog"],
  ["list_workflow_resources", { resource: "execution" }, "listExecutions"],
  ["list_credentials", {}, "listCredentials"],
])("%s %j can be read to its end, however long it is", async (tool, input, method) => {
  const names = Array.from({ length: 230 }, (_, at) => `n${at}`);
  const pageOf = ({ page = 1, pageSize = 20 }) => ({
    items: names.slice((page - 1) * pageSize, page * pageSize).map((id) => ({
      ...{ id, name: id, eventType: id, packageName: "com.example.notes", credentialName: id, status: "failed" },
    })),
    pagination: {
      ...{ page, pageSize, total: names.length, pages: Math.ceil(names.length / pageSize) },
      ...{ hasNext: page * pageSize < names.length, hasPrev: page > 1 },
    },
  });
  const { call } = toolsetForTest({ answers: { [method]: pageOf } });
  const seen: unknown[] = [];
  for (const page of [1, 2, 3]) {
    const outcome = await call(tool, { ...input, page, pageSize: 100 });
    if (outcome.kind !== "ok") throw new Error(outcome.failure.message);
    const { items, pagination } = outcome.structured as unknown as ReturnType<typeof pageOf>;
    seen.push(...items.map(({ id, eventType, credentialName }) => id ?? eventType ?? credentialName));
    expect(pagination.hasNext).toBe(page < 3);
  }
  expect(seen).toEqual(names);
});

test("what still costs or destroys under no-commerce can be made to need the user's yes; safe-writes does without it", async () => {
  const needingYes = new Set<string>();
  for (const [tool, operation, input] of ROWS) {
    const gate = { mustConfirm: new Set(CONFIRMABLE) };
    const { call, calls } = toolsetForTest({ profile: "no-commerce", gate });
    const outcome = await call(tool, inputOf(tool, operation, input));
    if (outcome.kind !== "denied" || !outcome.failure.message.includes("cannot ask")) continue;
    expect(calls).toEqual([]);
    const cautious = toolsetForTest({ profile: "safe-writes" });
    expect(await cautious.call(tool, inputOf(tool, operation, input))).toMatchObject({ kind: "denied" });
    needingYes.add(operation === undefined ? tool : `${tool} ${operation}`);
  }
  const spending = ["run_task", "create_flow", "configure_device proxy_connect", "manage_esim activate"];
  const destroying = ["manage_device reset", "apps delete", "manage_esim remove", "webhooks rotate_secret"];
  expect([...needingYes]).toEqual(expect.arrayContaining([...spending, ...destroying]));
});

test("the documents count the tools that there are", () => {
  const counts = new Set(POLICY_PROFILES.map((profile) => policyForProfile(profile, cloudTools).toolAllowlist.size));
  const root = join(import.meta.dirname, "../../..");
  const documents = ["README.md", ...readdirSync(join(root, "docs")).map((name) => join("docs", name))];
  const counted = documents
    .filter((name) => name.endsWith(".md"))
    .flatMap((name) =>
      [...readFileSync(join(root, name), "utf8").matchAll(/\b(\d+) (?:\w+ )?tools\b/g)].map(([said, count]) => ({
        name,
        said,
        right: counts.has(Number(count)),
      })),
    );
  expect(counted.filter(({ right }) => !right)).toEqual([]);
  expect(counted.length).toBeGreaterThanOrEqual(3);
});
