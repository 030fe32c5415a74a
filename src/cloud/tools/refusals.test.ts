import { expect, test } from "vitest";
import { failureText } from "../../tool/index.ts";
import { BackendError } from "../backend/errors.ts";
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
