import { expect, test } from "vitest";
import { virtualCloud } from "../../virtual/mobilerun/mobilerun.fixture.ts";
import { backendOverApi } from "../backend/over-api/index.ts";
import { toolsetForTest } from "./toolset.fixture.ts";

/** The tools over the real client and a platform that lives on this machine. What waits moves the platform's time. */
function toolsOver(cloud: Awaited<ReturnType<typeof virtualCloud>>) {
  const clock = {
    now: () => cloud.clock.now(),
    async sleep(ms: number, signal: AbortSignal) {
      signal.throwIfAborted();
      cloud.clock.advance(ms);
    },
  };
  const { call } = toolsetForTest({ context: { backend: backendOverApi(cloud.api), clock } });
  return async (name: string, input: Record<string, unknown> = {}) => {
    const outcome = await call(name, input);
    if (outcome.kind !== "ok") throw new Error(`${name}: ${outcome.failure.code}: ${outcome.failure.message}`);
    return outcome;
  };
}

test("an agent provisions a phone, writes a note on it, looks at it, and gives it back", async () => {
  await using cloud = await virtualCloud();
  const use = toolsOver(cloud);
  const created = await use("create_device", { deviceType: "android_cloud_phone", country: "de", name: "bench" });
  const device = { deviceId: created.structured.id };
  const waiting = use("manage_device", { operation: "wait_ready", ...device });
  cloud.clock.advance(10_000);
  expect((await waiting).structured).toMatchObject({ state: "ready", name: "bench" });

  const apps = (await use("list_apps_on_device", { ...device, includeSystemApps: true })).structured;
  const notes = (apps.items as { packageName: string; label: string }[]).find(({ label }) => label === "Notes");
  await use("manage_device_apps", { operation: "start", ...device, packageName: notes?.packageName });
  await use("device_action", { operation: "tap_element", ...device, resourceId: "add" });
  await use("device_action", { operation: "tap_element", ...device, resourceId: "body" });
  await use("device_action", { operation: "keyboard_write", ...device, text: "milk" });
  expect((await use("get_device_ui_state", device)).structured).toMatchObject({
    editing: true,
    focused: { text: "milk" },
  });
  await use("device_action", { operation: "tap_element", ...device, resourceId: "save" });
  expect((await use("get_device_ui_state", { ...device, contains: "milk", waitSeconds: 5 })).structured.total).toBe(1);

  const shot = await use("get_device_screenshot", { ...device, maxSide: 512 });
  expect(shot.attachments[0]).toMatchObject({ kind: "image", mimeType: "image/jpeg" });
  expect(shot.structured).toMatchObject({ pictureHeight: 512 });

  await use("terminate_device", device);
  expect((await use("list_devices")).structured.items ?? []).toEqual([]);
});

test("a file goes to a phone and comes back byte for byte; settings are read back", async () => {
  await using cloud = await virtualCloud();
  const use = toolsOver(cloud);
  const device = { deviceId: (await use("create_device")).structured.id };
  cloud.clock.advance(10_000);
  const bytes = Buffer.from([0, 1, 254, 255]);
  const path = "/sdcard/Download/a.bin";
  await use("manage_device_files", { operation: "upload", ...device, path, contentBase64: bytes.toString("base64") });
  expect((await use("manage_device_files", { operation: "download", ...device, path })).structured).toMatchObject({
    encoding: "base64",
    content: bytes.toString("base64"),
    size: 4,
  });
  await use("configure_device", { operation: "set_location", ...device, latitude: 52.5, longitude: 13.4 });
  expect((await use("configure_device", { operation: "get_location", ...device })).structured).toMatchObject({
    latitude: 52.5,
  });
});

test("a task runs to its end, and a webhook's secret is seen once", async () => {
  await using cloud = await virtualCloud();
  const use = toolsOver(cloud);
  const device = { deviceId: (await use("create_device")).structured.id };
  cloud.clock.advance(10_000);
  const ran = await use("run_task", { ...device, task: "Add milk to the list", waitSeconds: 600 });
  expect(ran.structured).toMatchObject({ finished: true, status: "completed" });
  const trajectory = await use("get_task", { view: "trajectory", taskId: ran.structured.id });
  expect(trajectory.structured.total).toBeGreaterThan(0);

  const made = (await use("webhooks", { operation: "create", url: "https://hooks.example.test/in" })).structured;
  const { id, secret } = made.data as { id: string; secret: string };
  expect(secret.length).toBeGreaterThan(8);
  const later = [
    await use("webhooks", { operation: "get", endpointId: id }),
    await use("webhooks", { operation: "list" }),
  ];
  expect(JSON.stringify(later)).not.toContain(secret);
});
