import { afterAll, beforeAll, expect, test } from "vitest";
import { endpoints as e } from "../../../cloud/index.ts";
import { createManualClock, systemClock } from "../clock.ts";
import { startVirtualMobilerun } from "../index.ts";
import { readyDevice, virtualCloud } from "../mobilerun.fixture.ts";
import type { ScheduleRule } from "./moments.ts";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

let cloud: Awaited<ReturnType<typeof virtualCloud>>;
beforeAll(async () => {
  cloud = await virtualCloud();
});
afterAll(() => cloud.close());

/** A flow that a schedule starts, under a key of its own; what it does can be asked for. */
async function scheduled(rule: ScheduleRule, options: { timezone?: string; actions?: number } = {}) {
  const api = cloud.client(`dr_sk_${crypto.randomUUID()}`);
  const { deviceId } = await readyDevice({ api, clock: cloud.clock });
  const timezone = options.timezone ?? "UTC";
  const body = { name: "T", activation: "schedule" as const, scheduleRule: rule, timezone };
  const { data: trigger } = await api.call(e.triggers.create, { body });
  const params = { task: "Open Notes" };
  const { data: action } = await api.call(e.actions.create, {
    body: { catalogEntryId: "cat-run-task", name: "A", params },
  });
  const { data: flow } = await api.call(e.flows.create, {
    body: { name: "F", triggerId: trigger.id, deviceIds: [deviceId], actions: [{ actionId: action.id, position: 1 }] },
  });
  return {
    api,
    flow: { flowId: flow.id },
    trigger: { triggerId: trigger.id },
    next: async () => (await api.call(e.triggers.get, { path: { triggerId: trigger.id } })).data.nextFireTime,
    starts: async () => {
      const { items } = await api.call(e.executions.list, { query: { orderBy: "startedAt" } });
      return (items ?? []).map(({ startedAt }) => startedAt);
    },
  };
}

/** Moves on to a moment. */
const to = (moment: string) => cloud.clock.advance(Date.parse(moment) - cloud.clock.now());

test("a cron trigger runs its flow at each of its moments, and tells the next one", async () => {
  to("2026-03-06T00:00:00Z");
  const it = await scheduled({ type: "cron", expression: "0 9 * * 1-5" }, { timezone: "Europe/Berlin" });
  expect(await it.next()).toBe("2026-03-06T08:00:00.000Z");
  to("2026-03-06T07:59:59Z");
  expect(await it.starts()).toEqual([]);
  to("2026-03-09T08:01:00Z");
  expect(await it.starts()).toEqual(["2026-03-06T08:00:00.000Z", "2026-03-09T08:00:00.000Z"]);
  expect(await it.next()).toBe("2026-03-10T08:00:00.000Z");
  const { items } = await it.api.call(e.executions.list);
  expect(items?.[0]).toMatchObject({
    ...it.trigger,
    ...it.flow,
    kind: "live",
    status: "success",
    eventId: expect.stringMatching(/^evt-/),
  });
  expect((await it.api.call(e.tasks.list)).items).toMatchObject([
    { task: "Open Notes", status: "completed" },
    { task: "Open Notes", status: "completed" },
  ]);
});

test("a recurring trigger ends with its rule", async () => {
  const it = await scheduled({ type: "recurring", rrule: "FREQ=DAILY;COUNT=3" });
  cloud.clock.advance(10 * DAY_MS);
  // Its start is the first of the three, and went by as it was made.
  expect(await it.starts()).toHaveLength(2);
  expect(await it.next()).toBeNull();
});

test("a flow that is switched off is passed over while its trigger goes on, and one that failed too often as well", async () => {
  const it = await scheduled({ type: "cron", expression: "0 * * * *" });
  await it.api.call(e.flows.update, { path: it.flow, body: { enabled: false } });
  cloud.clock.advance(DAY_MS);
  expect(await it.starts()).toEqual([]);
  expect(Date.parse((await it.next()) ?? "")).toBeGreaterThan(cloud.clock.now());
  await it.api.call(e.flows.update, { path: it.flow, body: { enabled: true } });
  const device = (await it.api.call(e.devices.list)).items?.[0]?.id ?? "";
  await it.api.call(e.devices.terminate, { path: { deviceId: device } });
  cloud.clock.advance(DAY_MS);
  expect(await it.starts()).toHaveLength(3);
  expect((await it.api.call(e.flows.get, { path: it.flow })).data.status).toBe("blocked");
});

test("another rule or zone takes the place of the one before; a wrong one is refused and changes nothing", async () => {
  to("2026-06-01T00:00:00Z");
  const it = await scheduled({ type: "cron", expression: "0 9 * * *" });
  const change = (body: { timezone?: string; scheduleRule?: ScheduleRule; name?: string }) =>
    it.api.call(e.triggers.update, { path: it.trigger, body });
  const expression = "0 9 * * 8";
  await expect(change({ name: "U", scheduleRule: { type: "cron", expression } })).rejects.toMatchObject({
    code: "invalid_input",
    status: 400,
    message: expect.stringContaining("scheduleRule.expression"),
  });
  await expect(change({ timezone: "Mars/Crater" })).rejects.toMatchObject({ code: "invalid_input" });
  expect((await it.api.call(e.triggers.get, { path: it.trigger })).data).toMatchObject({
    name: "T",
    timezone: "UTC",
    nextFireTime: "2026-06-01T09:00:00.000Z",
  });
  await change({ timezone: "Asia/Tokyo" });
  expect(await it.next()).toBe("2026-06-02T00:00:00.000Z");
  await change({ scheduleRule: { type: "cron", expression: "30 9 * * *" } });
  to("2026-06-02T00:15:00Z");
  expect(await it.starts()).toEqual(["2026-06-01T00:30:00.000Z"]);
});

test("a moment that has passed and an expression that names none are refused", async () => {
  const past = { type: "once" as const, dateTime: "2026-01-01T00:00:00Z" };
  for (const rule of [past, { type: "cron" as const, expression: "0 0 30 2 *" }]) {
    await expect(scheduled(rule)).rejects.toMatchObject({ code: "invalid_input", status: 400 });
  }
});

test("jitter moves a firing within its bounds, the same way for the same trigger, and never makes two of one", async () => {
  const jitter = { beforeMinutes: 10, afterMinutes: 10 };
  const it = await scheduled({ type: "cron", expression: "0 12 * * *", jitter });
  cloud.clock.advance(20 * DAY_MS);
  const offsets = (await it.starts()).map((at) => (Date.parse(at ?? "") % DAY_MS) / MINUTE_MS - 12 * 60);
  expect(offsets).toHaveLength(20);
  expect(Math.min(...offsets)).toBeGreaterThanOrEqual(-10);
  expect(Math.max(...offsets)).toBeLessThanOrEqual(10);
  expect(new Set(offsets).size).toBeGreaterThan(10);
});

test("what a schedule makes with nobody looking is kept to a limit", async () => {
  const it = await scheduled({ type: "cron", expression: "* * * * *" });
  cloud.clock.advance(1100 * MINUTE_MS);
  expect((await it.api.call(e.executions.list)).pagination.total).toBe(1000);
  expect((await it.api.call(e.tasks.list)).pagination.total).toBe(1000);
  await it.api.call(e.flows.remove, { path: it.flow });
  await it.api.call(e.triggers.remove, { path: it.trigger });
  cloud.clock.advance(10 * MINUTE_MS);
  const { items } = await it.api.call(e.executions.list, { query: { pageSize: 1 } });
  expect(cloud.clock.now() - Date.parse(items?.[0]?.startedAt ?? "")).toBeGreaterThanOrEqual(10 * MINUTE_MS);
});

test("a platform that is closed leaves nothing waiting on its clock", async () => {
  const clock = createManualClock();
  let waiting = 0;
  const counted = {
    now: () => clock.now(),
    after(ms: number, work: () => void) {
      waiting += 1;
      const callOff = clock.after(ms, () => ((waiting -= 1), work()));
      return () => ((waiting -= 1), callOff());
    },
  };
  const own = await startVirtualMobilerun({ clock: counted });
  const response = await fetch(`${own.url}/triggers`, {
    method: "POST",
    headers: { authorization: "Bearer dr_sk_x", "content-type": "application/json" },
    body: JSON.stringify({
      name: "T",
      activation: "schedule",
      scheduleRule: { type: "cron", expression: "* * * * *" },
      timezone: "UTC",
    }),
  });
  expect(response.status).toBe(200);
  expect(waiting).toBe(1);
  await own.close();
  expect(waiting).toBe(0);
});

test("a wait of months is not over at once", async () => {
  let over = false;
  const callOff = systemClock.after(60 * DAY_MS, () => (over = true));
  const short = Promise.withResolvers<void>();
  const keep = setTimeout(() => undefined, 10_000);
  systemClock.after(20, short.resolve);
  await short.promise;
  clearTimeout(keep);
  callOff();
  expect(over).toBe(false);
});
