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
