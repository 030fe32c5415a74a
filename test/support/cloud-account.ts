import { createCloudApi, endpoints } from "../../src/cloud/index.ts";
import { ROWS } from "../../src/cloud/tools/calls.fixture.ts";
import { inputOf } from "../../src/cloud/tools/toolset.fixture.ts";

type Input = Record<string, unknown>;
/** Calls a tool that must succeed, and gives its structured content. */
export type Must = (tool: string, input: Input) => Promise<Input>;

export interface PreparedCall {
  /** The tool, and its operation. */
  readonly label: string;
  readonly tool: string;
  readonly operation: string | undefined;
  /** What has to be there before is made by and by; then this is the input. */
  input(): Promise<Input>;
}

const PACKAGE = "com.example.notes";
/** A secret that the user typed, as the tools' table has it. */
const TYPED = "typed-by-user";
/** Every secret that this machine's platform gives away, and what tells people and devices apart. */
export const SECRETS =
  /typed-by-user|stk_virtual|whsec_virtual|mct_virtual|\bp-c(px|us)-|350000000000006|26299000000000\d/;

/**
 * Fills an account of the platform, by the tools themselves, with one of everything, and answers every call of the tools' table with inputs
 * that mean something there: real ids in place of made-up ones, and a thing of its own for each call that destroys.
 */
export async function accountWithEverything(
  must: Must,
  platform: { readonly url: string; readonly key: string; pass(ms: number): void },
): Promise<{ readonly calls: readonly PreparedCall[]; readonly deviceId: string }> {
  const idOf = async (tool: string, input: Input, field = "id") => {
    const answer = await must(tool, input);
    const holder = (answer["data"] ?? answer["device"] ?? answer) as Input;
    return String(holder[field]);
  };
  const make = (name: string) => idOf("create_device", { deviceType: "android_cloud_phone", country: "de", name });
  const deviceId = await make("bench");
  const spare = await make("spare");
  const parked = await make("parked");
  platform.pass(10_000);
  const upload = (bundleId: string) => ({
    operation: "create_upload_url",
    bundleId,
    displayName: "Tool",
    versionCode: 1,
    versionName: "1",
    sizeBytes: 9,
    files: [{ fileName: "a.apk", contentType: "application/octet-stream" }],
  });
  const app = () => idOf("apps", upload("com.example.tool"), "appId");
  const proxy = () =>
    idOf(
      "proxies",
      { operation: "create", protocol: "socks5", name: "p", host: "h.test", port: 1, user: "u", password: TYPED },
      "proxyId",
    );
  const webhook = () => idOf("webhooks", { operation: "create", url: "https://hooks.test/in" });
  const esim = async () =>
    Number(await idOf("manage_esim", { operation: "activate", deviceId, enable: true, smDpAddr: "s" }, "subId"));
  const bought = () => idOf("connect", { operation: "buy_proxy", country: "de" });

  const taskId = await idOf("run_task", { deviceId, task: "Open Notes" });
  platform.pass(20_000);
  const actionId = await idOf("create_action", { catalogEntryId: "cat-notify", name: "n" });
  const triggerId = await idOf("create_trigger", { name: "n", activation: "event", eventType: "app.saved" });
  const flowId = await idOf("create_flow", {
    name: "n",
    triggerId,
    actions: [{ actionId, position: 1 }],
    deviceIds: [deviceId],
  });
  await must("workflow_events", { operation: "ingest", eventType: "app.saved" });
  const executions = await must("list_workflow_resources", { resource: "execution" });
  const executionId = String((executions["items"] as Input[])[0]?.["id"]);
  const endpointId = await webhook();
  await must("webhooks", { operation: "test", endpointId });
  const deliveries = await must("webhooks", { operation: "list_deliveries", endpointId });
  const deliveryId = String((deliveries["items"] as Input[])[0]?.["id"]);
  await must("manage_credentials", { operation: "init_package", packageName: PACKAGE });
  const recordingId = await idOf("manage_device", { operation: "start_recording", deviceId });
  const appId = await app();
  const proxyId = await proxy();
  const connectProxy = await bought();
  const subId = await esim();
  const apns = await must("manage_esim", { operation: "list_apns", deviceId });
  const apnId = (apns["items"] as Input[])[0]?.["id"];
  // No tool makes one.
  const user = await createCloudApi({ baseUrl: platform.url, key: platform.key }).call(endpoints.connect.createUser, {
    body: { proxyId: connectProxy },
  });

  const known: Input = { deviceId, taskId, flowId, executionId, endpointId, deliveryId, recordingId, subId, apnId };
  const openEditor = async () => {
    await must("manage_device_apps", { operation: "start", deviceId, packageName: PACKAGE });
    await must("device_action", { operation: "tap_element", deviceId, resourceId: "add" });
    return {};
  };
  const running = async () => ({ taskId: await idOf("run_task", { deviceId: spare, task: "Wait" }) });
  const resources: Input = {
    action_catalog: "cat-notify",
    action: actionId,
    trigger: triggerId,
    flow: flowId,
    execution: executionId,
  };

  const special: Readonly<Record<string, () => Input | Promise<Input>>> = {
    get_device_ui_state: async () => {
      await must("manage_device_apps", { operation: "start", deviceId, packageName: "com.android.settings" });
      await must("device_action", { operation: "tap_element", deviceId, resourceId: "wifi_password" });
      await must("device_action", { operation: "keyboard_write", deviceId, text: TYPED });
      return {};
    },
    terminate_device: async () => ({ deviceId: await make("gone") }),
    create_action: () => ({ catalogEntryId: "cat-notify" }),
    create_flow: () => ({ triggerId, actions: [{ actionId, position: 1 }], deviceIds: [deviceId] }),
    "manage_flow add_action": () => ({ actionId, position: 2 }),
    "manage_flow remove_action": async () => ({
      flowActionId: await idOf("manage_flow", { operation: "add_action", flowId, actionId, position: 3 }),
    }),
    "manage_flow replace_actions": () => ({ actions: [{ actionId, position: 1 }] }),
    "manage_flow delete": async () => ({ flowId: await idOf("manage_flow", { operation: "clone", flowId }) }),
    "webhooks delete": async () => ({ endpointId: await webhook() }),
    stop_task: running,
    send_task_message: running,
    "manage_device reboot": async () => ({ deviceId: await ready("reboot") }),
    "manage_device reset": async () => ({ deviceId: await ready("reset") }),
    "manage_device park": () => ({ deviceId: parked }),
    "manage_device resume": () => ({ deviceId: parked }),
    "manage_device start_recording": () => ({ deviceId: spare }),
    "device_action tap_element": openEditor,
    "device_action keyboard_write": openEditor,
    "device_action keyboard_clear": openEditor,
    "device_action execute_script": () => ({ script: "document.title" }),
    "manage_device_apps delete": () => ({ deviceId: spare }),
    "manage_esim remove": async () => ({ subId: await esim() }),
    "apps mark_failed": async () => ({ id: await app() }),
    "apps delete": async () => ({ id: await idOf("apps", upload("com.example.gone"), "appId") }),
    "apps store_get": () => ({ storeAppId: "store-chess" }),
    "apps store_add": () => ({ storeAppId: "store-chess" }),
    "manage_credentials init_package": () => ({ packageName: "com.example.second" }),
    "manage_credentials delete_credential": async () => {
      const other = { packageName: PACKAGE, credentialName: "other" };
      const fields = [{ fieldType: "email", value: "a@b.test" }];
      await must("manage_credentials", { operation: "create_credential", ...other, fields });
      return other;
    },
    "manage_credentials add_field": () => ({ fieldType: "email" }),
    "proxies delete": async () => ({ proxyId: await proxy() }),
    "connect cancel_proxy": async () => ({ proxyId: await bought() }),
  };
  const ready = async (name: string) => {
    const made = await make(name);
    platform.pass(10_000);
    return made;
  };

  const calls = ROWS.map(([tool, operation, input]): PreparedCall => {
    const label = operation === undefined ? tool : `${tool} ${operation}`;
    return {
      label,
      tool,
      operation,
      input: async () => {
        const filled: Input = { ...inputOf(tool, operation, input) };
        for (const field of Object.keys(filled)) if (field in known) filled[field] = known[field];
        if ("id" in input) filled["id"] = tool === "get_workflow_resource" ? resources[operation ?? ""] : appId;
        if ("proxyId" in input) filled["proxyId"] = tool === "connect" ? connectProxy : proxyId;
        if ("userId" in input) filled["userId"] = user.id;
        return { ...filled, ...(await special[label]?.()) };
      },
    };
  });
  return { calls, deviceId };
}
