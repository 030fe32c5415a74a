import { afterAll, beforeAll, expect, test } from "vitest";
import { endpoints as e } from "../../cloud/index.ts";
import { readyDevice, virtualCloud } from "./mobilerun.fixture.ts";

let cloud: Awaited<ReturnType<typeof virtualCloud>>;
beforeAll(async () => {
  cloud = await virtualCloud();
});
afterAll(() => cloud.close());

const action = async (catalogEntryId: string, params: object = {}) => {
  const body = { catalogEntryId, name: catalogEntryId, params: { ...params } };
  return (await cloud.api.call(e.actions.create, { body })).data.id;
};
const manual = async () =>
  (await cloud.api.call(e.triggers.create, { body: { name: "T", activation: "custom" } })).data.id;
const tasksOf = async () => ((await cloud.api.call(e.tasks.list)).items ?? []).map(({ task }) => task);

test("each kind of action does on the device what it says, and a webhook hears of its own", async () => {
  const { api, clock } = cloud;
  const path = await readyDevice(cloud);
  const { data: hook } = await api.call(e.webhooks.create, {
    body: { url: "https://hooks.virtual.test/in", eventTypes: ["flow.notified"] },
  });
  const ids = [
    await action("cat-start-app", { packageName: "com.example.notes" }),
    await action("cat-run-agent", { agentId: "1" }),
    await action("cat-notify"),
    await action("cat-reboot"),
  ];
  const triggerId = await manual();
  const bind = (chosen: string[]) => chosen.map((actionId, at) => ({ actionId, position: at + 1 }));
  const { data: flow } = await api.call(e.flows.create, {
    body: { name: "F", triggerId, actions: bind(ids.slice(0, 3)), deviceIds: [path.deviceId] },
  });
  const fire = () => api.call(e.triggers.fire, { path: { triggerId }, body: {} });
  await fire();
  clock.advance(2000);
  expect((await api.call(e.screen.uiState, { path })).phone_state?.packageName).toBe("com.example.notes");
  expect(await tasksOf()).toEqual(["What agent 1 does"]);
  const deliveries = await api.call(e.webhooks.deliveries, { path: { endpointId: hook.id } });
  expect(deliveries.items).toMatchObject([{ eventType: "flow.notified" }]);
  await api.call(e.flows.replaceActions, { path: { flowId: flow.id }, body: { actions: bind(ids.slice(3)) } });
  await fire();
  clock.advance(1000);
  expect((await api.call(e.devices.get, { path })).state).toBe("rebooting");
  clock.advance(10_000);
  await api.call(e.deviceApps.remove, { path: { ...path, packageName: "com.example.notes" } });
  await api.call(e.flows.replaceActions, { path: { flowId: flow.id }, body: { actions: bind(ids.slice(0, 1)) } });
  await fire();
  clock.advance(2000);
  expect((await api.call(e.executions.list)).items?.[0]).toMatchObject({
    status: "failed",
    error: "App com.example.notes not found",
  });
});

test("children run after their parent, in a copy of the flow too, and not when it failed", async () => {
  const { api, clock } = cloud;
  const path = await readyDevice(cloud);
  const run = (task: string) => action("cat-run-task", { task });
  const [first, child, last] = [await run("first"), await run("child"), await run("last")];
  const missing = await action("cat-start-app", { packageName: "com.example.none" });
  const triggerId = await manual();
  const tree = (parent: string, continueOnError: boolean) => [
    { actionId: parent, position: 1, continueOnError, children: [{ actionId: child, position: 1 }] },
    { actionId: last, position: 2 },
  ];
  const { data: flow } = await api.call(e.flows.create, {
    body: { name: "F", triggerId, actions: tree(first, false), deviceIds: [path.deviceId] },
  });
  const before = (await tasksOf()).length;
  const { data: copy } = await api.call(e.flows.clone, { path: { flowId: flow.id }, body: {} });
  const actionIds = async (flowId: string) =>
    ((await api.call(e.flows.actions, { path: { flowId } })).data ?? []).map(({ id }) => id);
  expect(new Set([...(await actionIds(flow.id)), ...(await actionIds(copy.id))]).size).toBe(6);
  await api.call(e.flows.update, { path: { flowId: flow.id }, body: { enabled: false } });
  const fired = async () => {
    await api.call(e.triggers.fire, { path: { triggerId }, body: {} });
    clock.advance(60_000);
    return (await tasksOf()).toReversed().slice(before);
  };
  expect(await fired()).toEqual(["first", "child", "last"]);
  await api.call(e.flows.replaceActions, { path: { flowId: copy.id }, body: { actions: tree(missing, true) } });
  expect(await fired()).toEqual(["first", "child", "last", "last"]);
});

test("an event of one device runs a flow on that device alone", async () => {
  const { api, clock } = cloud;
  const [one, other] = [await readyDevice(cloud), await readyDevice(cloud)];
  const { data: trigger } = await api.call(e.triggers.create, {
    body: { name: "T", activation: "event", eventType: "till.opened" },
  });
  const actions = [{ actionId: await action("cat-reboot"), position: 1 }];
  await api.call(e.flows.create, {
    body: { name: "F", triggerId: trigger.id, actions, deviceIds: [one.deviceId, other.deviceId] },
  });
  await api.call(e.events.ingest, { body: { eventType: "till.opened", deviceId: other.deviceId } });
  clock.advance(1000);
  const states = [one, other].map(async (path) => (await api.call(e.devices.get, { path })).state);
  expect(await Promise.all(states)).toEqual(["ready", "rebooting"]);
});
