import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { allEndpoints, endpoints as e, type AnswerOf, type Endpoint, type RequestArgument } from "../../cloud/index.ts";
import { readyDevice, virtualCloud } from "./mobilerun.fixture.ts";

let cloud: Awaited<ReturnType<typeof virtualCloud>>;
const called = new Set<string>();
/** Declared fields that an answer did not have, by endpoint. */
const lacking: string[] = [];

beforeAll(async () => {
  cloud = await virtualCloud();
});
afterAll(() => cloud.close());

/** Calls through the client, which checks the shape, and notes declared fields that are not there. */
async function call<E extends Endpoint>(endpoint: E, ...request: RequestArgument<E>): Promise<AnswerOf<E>> {
  const answer = await cloud.api.call(endpoint, ...request);
  called.add(endpoint.name);
  const { answer: declared } = endpoint.declared;
  if (declared.kind === "json") lacking.push(...missing(declared.schema, answer).map((at) => `${endpoint.name} ${at}`));
  return answer;
}

function missing(schema: z.core.$ZodType, value: unknown, at = ""): string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return missing(schema.unwrap(), value, at);
  if (value === null || value === undefined) return [];
  if (schema instanceof z.ZodArray && Array.isArray(value))
    return value.slice(0, 1).flatMap((item) => missing(schema.element, item, `${at}[]`));
  if (!(schema instanceof z.ZodObject) || typeof value !== "object") return [];
  return Object.entries(schema.shape).flatMap(([name, inner]) =>
    Object.hasOwn(value, name)
      ? missing(inner, (value as Record<string, unknown>)[name], `${at}.${name}`)
      : [`${at}.${name}`],
  );
}

test("devices, their screens, apps, files and settings", async () => {
  const path = await readyDevice(cloud);
  const { deviceId } = path;
  await call(e.devices.create);
  await call(e.devices.list, { query: { state: ["ready"] } });
  await call(e.devices.count);
  await call(e.devices.get, { path });
  await call(e.devices.rename, { path, body: { name: "till" } });
  await call(e.devices.waitReady, { path });
  await call(e.devices.capabilities, { path });
  await call(e.devices.fingerprint, { path });
  await call(e.screen.screenshot, { path });
  await call(e.screen.uiState, { path, query: { filter: true } });
  await call(e.screen.time, { path });
  await call(e.screen.tap, { path, body: { x: 500, y: 350 } });
  await call(e.screen.swipe, { path, body: { startX: 1, startY: 900, endX: 1, endY: 100, duration: 100 } });
  await call(e.deviceApps.start, { path: { deviceId, packageName: "com.android.settings" }, body: {} });
  await call(e.screen.tap, { path, body: { x: 500, y: 350 } });
  await call(e.screen.type, { path, body: { text: "hidden" } });
  await call(e.screen.pressKey, { path, body: { key: 67 } });
  await call(e.screen.clearText, { path });
  await call(e.screen.globalAction, { path, body: { action: 2 } });
  await call(e.screen.setOverlay, { path, body: { visible: true } });
  await call(e.screen.overlay, { path });
  await call(e.deviceApps.list, { path });
  await call(e.deviceApps.packages, { path });
  await call(e.deviceApps.install, { path, body: { packageName: "com.example.chess" } });
  await call(e.deviceApps.installs, { path });
  const app = { deviceId, packageName: "com.example.chess" };
  const permission = { ...app, permission: "POST_NOTIFICATIONS" };
  await call(e.deviceApps.grantPermission, { path: permission });
  await call(e.deviceApps.revokePermission, { path: permission });
  await call(e.deviceApps.stop, { path: app });
  await call(e.deviceApps.remove, { path: app });
  await call(e.deviceApps.enterKiosk, { path, body: { packageName: "com.example.notes" } });
  await call(e.deviceApps.leaveKiosk, { path });
  await call(e.deviceApps.openDeepLink, { path, body: { deepLink: "https://example.test/a" } });
  await call(e.screen.executeScript, { path, body: { script: "document.title" } });
  const file = { path: "/sdcard/Download" };
  await call(e.deviceFiles.upload, { path, query: file, body: { name: "a.bin", bytes: Uint8Array.of(1) } });
  await call(e.deviceFiles.list, { path, query: file });
  await call(e.deviceFiles.download, { path, query: { path: "/sdcard/Download/a.bin" } });
  await call(e.deviceFiles.remove, { path, query: { path: "/sdcard/Download/a.bin" } });
  await call(e.deviceSettings.setLanguage, { path, body: { locale: "de-DE" } });
  await call(e.deviceSettings.language, { path });
  await call(e.deviceSettings.setTimezone, { path, body: { timezone: "UTC" } });
  await call(e.deviceSettings.timezone, { path });
  await call(e.deviceSettings.setLocation, { path, body: { latitude: 1, longitude: 2 } });
  await call(e.deviceSettings.location, { path });
  await call(e.deviceSettings.resetLocation, { path });
  await call(e.deviceSettings.connectProxy, { path, body: { name: "office" } });
  await call(e.deviceSettings.proxy, { path });
  await call(e.deviceSettings.disconnectProxy, { path });
  await call(e.devices.applyProfile, { path, body: { profileId: "prf-1" } });
  cloud.clock.advance(5000);
  await call(e.devices.reboot, { path });
  cloud.clock.advance(5000);
  await call(e.devices.reset, { path });
  cloud.clock.advance(5000);
  await call(e.devices.stop, { path });
  await call(e.devices.resume, { path });
  cloud.clock.advance(5000);
  await call(e.devices.terminate, { path });
});

test("eSIMs, recordings and media sessions", async () => {
  const path = await readyDevice(cloud);
  const { subId } = await call(e.esim.activate, { path, body: { enable: true, smDpAddr: "smdp.virtual.test" } });
  await call(e.esim.list, { path });
  await call(e.esim.enable, { path, body: { subId } });
  const [point] = (await call(e.esim.accessPoints, { path })) ?? [];
  await call(e.esim.selectAccessPoint, { path, body: { apnId: point?.id ?? "", subId } });
  await call(e.esim.createAccessPoint, { path, body: { apn: "a", mcc: "262", mnc: "99", name: "n", subId } });
  await call(e.esim.setRoaming, { path, body: { enabled: true } });
  await call(e.esim.status, { path });
  await call(e.esim.remove, { path, query: { subId } });
  const { id: recordingId } = await call(e.recordings.start, { path, body: { name: "demo" } });
  const recording = { ...path, recordingId };
  await call(e.recordings.list, { path });
  await call(e.recordings.get, { path: recording });
  await call(e.recordings.stop, { path: recording });
  await call(e.recordings.trajectory, { path: recording });
  await call(e.recordings.video, { path: recording });
  await call(e.recordings.remove, { path: recording });
  const session = await call(e.media.create, { path, body: { camera: { source: "still" } } });
  await call(e.media.current, { path });
  const headers = { mediaControlToken: session.controlToken ?? "" };
  await call(e.media.activate, { path: { ...path, sessionId: session.id }, headers });
  await call(e.media.end, { path: { ...path, sessionId: session.id }, headers });
});

test("tasks", async () => {
  const { deviceId } = await readyDevice(cloud);
  const body = { deviceId, task: "Add milk" };
  const { id: taskId } = await call(e.tasks.run, { body, headers: { idempotencyKey: "k1" } });
  const path = { taskId };
  await call(e.tasks.message, { path, body: { message: "faster" } });
  cloud.clock.advance(3000);
  await call(e.tasks.status, { path });
  await call(e.tasks.screenshots, { path });
  await call(e.tasks.screenshot, { path: { taskId, index: "0" } });
  await call(e.tasks.uiStates, { path });
  await call(e.tasks.uiState, { path: { taskId, index: "0" } });
  await call(e.tasks.cancel, { path });
  cloud.clock.advance(3000);
  await call(e.tasks.get, { path });
  await call(e.tasks.list);
  await call(e.tasks.trajectory, { path });
  await call(e.devices.tasks, { path: { deviceId } });
  const attached = await call(e.tasks.attach, { path });
  const names: string[] = [];
  for await (const { event } of attached) names.push(event);
  expect(names).toEqual(
    expect.arrayContaining(["CreatedEvent", "UserMessageEvent", "ScreenshotEvent", "CancelEvent", "ResultEvent"]),
  );
  for await (const { event } of await call(e.tasks.stream, { body })) {
    expect(event).toBe("CreatedEvent");
    break;
  }
});

test("workflows, their events and executions", async () => {
  const { deviceId } = await readyDevice(cloud);
  await call(e.actions.services);
  await call(e.actions.methods, { path: { service: "tasks_api" } });
  await call(e.actions.catalog);
  await call(e.actions.catalogEntry, { path: { catalogEntryId: "cat-run-task" } });
  const action = { catalogEntryId: "cat-run-task", name: "Check", params: { task: "Open Notes" } };
  const { data: made } = await call(e.actions.create, { body: action });
  const actionId = made.id;
  await call(e.actions.list);
  await call(e.actions.get, { path: { actionId } });
  await call(e.actions.update, { path: { actionId }, body: { name: "Check it" } });
  const schedule = {
    type: "once" as const,
    dateTime: "2026-03-02T00:00:00Z",
    jitter: { beforeMinutes: 0, afterMinutes: 1 },
  };
  const trigger = await call(e.triggers.create, {
    body: { name: "later", activation: "schedule", scheduleRule: schedule },
  });
  const custom = await call(e.triggers.create, { body: { name: "by hand", activation: "custom" } });
  const event = await call(e.triggers.create, {
    body: { name: "saved", activation: "event", eventType: "app.notes.saved" },
  });
  await call(e.triggers.list);
  await call(e.triggers.get, { path: { triggerId: trigger.data.id } });
  await call(e.triggers.update, { path: { triggerId: trigger.data.id }, body: { name: "much later" } });
  await call(e.triggers.remove, { path: { triggerId: trigger.data.id } });
  const actions = [
    { actionId, position: 1, overrides: { params: { task: "x" } }, children: [{ actionId, position: 1 }] },
  ];
  const flow = await call(e.flows.create, {
    body: { name: "F", triggerId: event.data.id, actions, deviceIds: [deviceId] },
  });
  const path = { flowId: flow.data.id };
  const second = await call(e.flows.clone, { path, body: { name: "G" } });
  await call(e.flows.update, { path: { flowId: second.data.id }, body: { triggerId: custom.data.id } });
  await call(e.flows.list);
  await call(e.flows.get, { path });
  await call(e.flows.dryRun, { path });
  await call(e.flows.repairs, { path });
  const added = await call(e.flows.addAction, { path, body: { actionId, position: 2 } });
  await call(e.flows.actions, { path });
  await call(e.flows.removeAction, { path: { ...path, flowActionId: added.data.id } });
  await call(e.flows.replaceActions, { path, body: { actions } });
  await call(e.flows.unblock, { path });
  await call(e.events.dryRun, { body: { eventType: "app.notes.saved", payload: {} } });
  await call(e.events.ingest, { body: { eventType: "app.notes.saved", payload: { title: "milk" } } });
  await call(e.triggers.fire, { path: { triggerId: custom.data.id }, body: { payload: {} } });
  const executions = await call(e.executions.list);
  const executionId = executions.items?.[0]?.id ?? "";
  await call(e.executions.get, { path: { executionId } });
  await call(e.executions.abort, { path: { executionId } });
  cloud.clock.advance(5000);
  await call(e.executions.metrics);
  await call(e.events.catalog);
  await call(e.events.register, { body: { events: [{ eventType: "x", label: "X" }] } });
  await call(e.events.appCatalog);
  await call(e.events.appCatalogEntry, { path: { appEventType: "app.notes.saved" } });
  const seen = await call(e.events.appEvents);
  await call(e.events.appEvent, { path: { eventId: seen.items?.[0]?.id ?? "" } });
  await call(e.flows.remove, { path });
  await call(e.flows.remove, { path: { flowId: second.data.id } });
  await call(e.actions.remove, { path: { actionId } });
});

test("webhooks and credentials", async () => {
  const { data: hook } = await call(e.webhooks.create, {
    body: { url: "https://hooks.virtual.test/in", description: "CI" },
  });
  const path = { endpointId: hook.id };
  await call(e.webhooks.list);
  await call(e.webhooks.get, { path });
  await call(e.webhooks.update, { path, body: { state: "ACTIVE" } });
  await call(e.webhooks.rotateSecret, { path });
  await call(e.webhooks.test, { path });
  const deliveries = await call(e.webhooks.deliveries, { path });
  await call(e.webhooks.delivery, { path: { ...path, deliveryId: deliveries.items?.[0]?.id ?? "" } });
  await call(e.webhooks.allDeliveries);
  await call(e.webhooks.deliveryStats);
  await call(e.webhooks.eventTypes);
  await call(e.webhooks.remove, { path });
  const packageName = "com.example.notes";
  const one = { packageName, credentialName: "main" };
  await call(e.credentials.createPackage, { body: { packageName } });
  await call(e.credentials.create, {
    path: { packageName },
    body: { credentialName: "main", fields: [{ fieldType: "username", value: "sam" }] },
  });
  await call(e.credentials.addField, { path: one, body: { fieldType: "password", value: "s3cret" } });
  await call(e.credentials.updateField, { path: { ...one, fieldType: "password" }, body: { value: "other" } });
  await call(e.credentials.removeField, { path: { ...one, fieldType: "username" } });
  await call(e.credentials.list);
  await call(e.credentials.packages);
  await call(e.credentials.ofPackage, { path: { packageName } });
  await call(e.credentials.get, { path: one });
  await call(e.credentials.remove, { path: one });
});

test("apps, the store, proxies, connect, catalogs and profiles", async () => {
  const contentType = "application/vnd.android.package-archive" as const;
  const upload = {
    bundleId: "com.example.chess",
    displayName: "Chess",
    versionName: "1",
    versionCode: 1,
    sizeBytes: 9,
  };
  const { appId } = await call(e.apps.createUploadUrl, {
    body: { ...upload, files: [{ fileName: "a.apk", contentType }] },
  });
  await call(e.apps.confirmUpload, { path: { appId } });
  await call(e.apps.createUploadUrl, { body: { ...upload, files: [{ fileName: "a.apk", contentType }] } });
  await call(e.apps.markFailed, { path: { appId } });
  await call(e.apps.list);
  await call(e.apps.get, { path: { appId } });
  await call(e.apps.versions, { path: { appId } });
  await call(e.apps.storageUsage);
  await call(e.apps.remove, { path: { appId } });
  await call(e.store.list);
  await call(e.store.categories);
  await call(e.store.get, { path: { appId: "store-notes" } });
  await call(e.store.add, { path: { appId: "store-notes" } });
  const socks = {
    protocol: "socks5" as const,
    name: "office",
    host: "198.51.100.7",
    port: 1080,
    user: "u",
    password: "p",
  };
  const { data: proxy } = await call(e.proxies.create, { body: socks });
  const path = { proxyId: proxy.proxyId };
  await call(e.proxies.list);
  await call(e.proxies.get, { path });
  await call(e.proxies.update, { path, body: { protocol: "wireguard", name: "wg", config: "[Interface]" } });
  await call(e.proxies.remove, { path });
  await call(e.proxies.lookup, { body: { socks5: { host: "198.51.100.7", port: 1080 } } });
  await call(e.connect.countries);
  const bought = await call(e.connect.buy, { body: { country: "de", type: "residential" } });
  cloud.clock.advance(5000);
  const own = { proxyId: bought.id };
  await call(e.connect.list);
  await call(e.connect.get, { path: own });
  await call(e.connect.ping, { path: own });
  await call(e.connect.connections, { path: own });
  const { id: userId } = await call(e.connect.createUser, { body: own });
  await call(e.connect.users);
  await call(e.connect.user, { path: { userId } });
  await call(e.connect.userConnections, { path: { userId } });
  await call(e.connect.updateUser, { path: { userId }, body: { proxyId: null } });
  await call(e.connect.removeUser, { path: { userId } });
  await call(e.connect.cancel, { path: own });
  await call(e.catalogs.models);
  await call(e.catalogs.timezones);
  await call(e.catalogs.agents);
  const { id: profileId } = await call(e.profiles.create, { body: { name: "p", spec: { locale: "de-DE" } } });
  await call(e.profiles.list);
  await call(e.profiles.get, { path: { profileId } });
  await call(e.profiles.update, { path: { profileId }, body: { name: "q", spec: {} } });
  await call(e.profiles.remove, { path: { profileId } });
});

/** Passwords in lists, tokens said once, fields of the other kind of proxy or rule, files of one execution only. */
const GONE_WITHOUT = [
  /^connect\.(list|users) \.items\[\]\.(password|paymentUrl)$/,
  /^deviceApps\.installs .*\.errorClass$/,
  /^executions\.(abort|list) .*\.files$/,
  /^media\.(activate|current) \.controlToken$/,
  /^proxies\.\w+ .*\.(config|host|password|port|user)$/,
  /^triggers\.\w+ .*\.scheduleRule\.(expression|rrule)$/,
];

test("every endpoint of the table was answered", () => {
  expect(allEndpoints.map(({ name }) => name).filter((name) => !called.has(name))).toEqual([]);
});

test("answers have every field that is declared, but for those that an answer of their kind goes without", () => {
  const others = lacking.filter((field) => !GONE_WITHOUT.some((pattern) => pattern.test(field)));
  expect([...new Set(others)].sort()).toEqual([]);
});
