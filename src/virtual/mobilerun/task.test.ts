import { expect, test } from "vitest";
import { endpoints as e } from "../../cloud/index.ts";
import { readyDevice, virtualCloud } from "./mobilerun.fixture.ts";

test("a task that is cancelled twice ends once", async () => {
  await using cloud = await virtualCloud();
  const { deviceId } = await readyDevice(cloud);
  const { id: taskId } = await cloud.api.call(e.tasks.run, { body: { deviceId, task: "long" } });
  await cloud.api.call(e.tasks.cancel, { path: { taskId } });
  await cloud.api.call(e.tasks.cancel, { path: { taskId } });
  cloud.clock.advance(10_000);
  const { items } = await cloud.api.call(e.events.appEvents, { query: { eventType: "task.cancelled" } });
  expect(items).toHaveLength(1);
});

test("a device takes a limited number of tasks that wait", async () => {
  await using cloud = await virtualCloud();
  const { deviceId } = await readyDevice(cloud);
  const run = () => cloud.api.call(e.tasks.run, { body: { deviceId, task: "one more" } });
  for (let count = 0; count < 101; count += 1) await run();
  await expect(run()).rejects.toMatchObject({ code: "rate_limited" });
  cloud.clock.advance(10_000);
  expect((await run()).status).toBe("queued");
});

test("a message waits for the next step, and is dropped by a task that ends first", async () => {
  await using cloud = await virtualCloud();
  const { api, clock } = cloud;
  const { deviceId } = await readyDevice(cloud);
  const { id: taskId } = await api.call(e.tasks.run, { body: { deviceId, task: "long" } });
  const say = () => api.call(e.tasks.message, { path: { taskId }, body: { message: "faster" } });
  await say();
  clock.advance(2000);
  await say();
  await api.call(e.tasks.cancel, { path: { taskId } });
  clock.advance(2000);
  const { trajectory } = await api.call(e.tasks.trajectory, { path: { taskId } });
  const told = (trajectory ?? []).filter(({ event }) => event === "UserMessageEvent").map(({ data }) => data);
  expect(told).toMatchObject([
    { action: "queued" },
    { action: "applied", step_number: 1 },
    { action: "queued" },
    { action: "dropped" },
  ]);
});

test("a task ends with its device, or when that is parked", async () => {
  await using cloud = await virtualCloud();
  const { api, clock } = cloud;
  const path = await readyDevice(cloud);
  const { id: taskId } = await api.call(e.tasks.run, { body: { ...path, task: "long" } });
  clock.advance(1000);
  await api.call(e.devices.stop, { path });
  clock.advance(1000);
  const status = await api.call(e.tasks.status, { path: { taskId } });
  expect(status).toMatchObject({ status: "failed", message: "The device is gone" });
});

test("a device is made with the apps and the proxy of its order", async () => {
  await using cloud = await virtualCloud();
  const { api, clock } = cloud;
  const { id: deviceId } = await api.call(e.devices.create, {
    body: { apps: ["com.example.chess"], proxy: { name: "office" } },
  });
  clock.advance(10_000);
  const path = { deviceId };
  expect(await api.call(e.deviceApps.packages, { path })).toEqual(["com.example.notes", "com.example.chess"]);
  expect(await api.call(e.deviceSettings.proxy, { path })).toMatchObject({ connected: true, name: "office" });
});
