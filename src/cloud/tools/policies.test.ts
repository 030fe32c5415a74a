import { expect, test } from "vitest";
import { legacy, served } from "../../mcp/http/server.fixture.ts";
import { allowedOperations, annotationsOf, createAuthContext, listingOf, policyForProfile } from "../../tool/index.ts";
import { buildCloudTools, cloudTools } from "./index.ts";
import { toolsetForTest } from "./toolset.fixture.ts";

const open = (profile: Parameters<typeof policyForProfile>[0]) => {
  const policy = policyForProfile(profile, cloudTools);
  return Object.fromEntries(
    cloudTools
      .filter(({ name }) => policy.toolAllowlist.has(name))
      .map((tool) => [tool.name, allowedOperations(policy, tool)]),
  );
};

test.each([
  ["readonly", 24],
  ["no-commerce", 32],
  ["full", 34],
] as const)("%s has %i tools", (profile, count) => {
  expect(toolsetForTest({ profile }).policy.toolAllowlist.size).toBe(count);
});

/**
 * The sets that clients of the platform know, and what was added to them since. `closed` are operations that used to be open to readonly
 * although they hand out file contents, link to a screen whose passwords nobody has masked, or dial a host of the caller's choice.
 */
const READONLY: Record<string, { known: string[]; added?: string[]; closed?: string[] }> = {
  webhooks: { known: ["list", "get", "list_deliveries", "get_delivery", "delivery_stats", "list_event_types"] },
  manage_device: { known: ["count", "get_capabilities", "wait_ready"], added: ["list_recordings", "get_recording"] },
  manage_device_apps: { known: ["list_packages"], added: ["install_status"] },
  manage_device_files: { known: ["list", "download"], closed: ["download"] },
  configure_device: {
    known: ["get_language", "get_timezone", "get_location", "get_time", "get_overlay", "get_proxy_status"],
  },
  manage_esim: { known: ["list"], added: ["status", "list_apns"] },
  apps: { known: ["list", "get", "versions"], added: ["storage_usage", "store_list", "store_get", "store_categories"] },
  proxies: { known: ["list", "get", "lookup"], closed: ["lookup"] },
  connect: {
    known: [
      "list_countries",
      "list_proxies",
      "get_proxy",
      "ping_proxy",
      "list_connections",
      "list_users",
      "get_user",
      "list_user_connections",
    ],
  },
  manage_flow: { known: ["execution_metrics"], added: ["list_actions", "dry_run", "list_repairs"] },
  workflow_events: { known: ["list_event_types", "dry_run"] },
  get_task_media: { known: ["screenshot", "ui_state"], closed: ["ui_state"] },
};

test("readonly opens the reads that are known, and no other", () => {
  const operations = open("readonly");
  for (const [tool, { known, added = [], closed = [] }] of Object.entries(READONLY)) {
    const expected = [...known, ...added].filter((operation) => !closed.includes(operation));
    expect([tool, new Set(operations[tool])]).toEqual([tool, new Set(expected)]);
  }
  expect(Object.keys(operations)).not.toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^(create_|terminate|run_task|stop_|send_|device_action|manage_cred)/),
    ]),
  );
  expect(operations.list_workflow_resources).not.toContain("app_event");
});

test("no-commerce leaves out buying and ending what is paid for, and nothing else", () => {
  const [all, operations] = [open("full"), open("no-commerce")];
  const closed = Object.entries(all).flatMap(([tool, every]) =>
    operations[tool] === undefined && !(tool in operations)
      ? [tool]
      : (every ?? [])
          .filter((operation) => operations[tool]?.includes(operation) === false)
          .map((op) => `${tool} ${op}`),
  );
  expect(closed.sort()).toEqual([
    "connect buy_proxy",
    "connect cancel_proxy",
    "create_device",
    "manage_device park",
    "manage_device resume",
    "terminate_device",
  ]);
});

test("safe-writes bills nothing, destroys nothing and runs no task", () => {
  const operations = open("safe-writes");
  expect(Object.keys(operations)).not.toEqual(expect.arrayContaining(["run_task"]));
  for (const tool of [
    "run_task",
    "stop_task",
    "send_task_message",
    "create_flow",
    "create_device",
    "terminate_device",
  ]) {
    expect(operations).not.toHaveProperty(tool);
  }
  expect(operations.device_action).toContain("tap");
  expect(operations.device_action).not.toContain("execute_script");
  expect(operations.manage_device).toEqual(expect.arrayContaining(["reboot", "rename", "start_recording"]));
  for (const operation of ["reset", "resume", "delete_recording", "get_fingerprint"]) {
    expect(operations.manage_device).not.toContain(operation);
  }
  expect(operations.workflow_events).not.toContain("ingest");
  expect(operations.configure_device).not.toContain("proxy_connect");
});

test("an operation that is closed reaches no backend", async () => {
  const { call, calls, events } = toolsetForTest({ profile: "no-commerce" });
  expect(await call("connect", { operation: "buy_proxy", country: "de" })).toMatchObject({
    kind: "denied",
    failure: { message: 'Operation "buy_proxy" of tool "connect" is not available for this credential.' },
  });
  expect(await call("create_device")).toMatchObject({ failure: { message: "Tool create_device not found." } });
  expect(calls).toEqual([]);
  expect(events.map(({ outcome }) => outcome)).toEqual(["denied", "denied"]);
});

test("tools are annotated by their worst operation, or by the worst that is open", () => {
  const hints = (name: string) => {
    const tool = cloudTools.find((known) => known.name === name);
    return tool === undefined ? undefined : annotationsOf(tool);
  };
  const READS = `list_devices get_device get_device_screenshot get_device_ui_state list_apps_on_device
    list_workflow_resources get_workflow_resource list_credentials list_credential_packages get_task list_tasks
    get_task_media platform_catalog`.split(/\s+/);
  const DESTROYS = `terminate_device manage_flow webhooks manage_credentials manage_device manage_device_apps
    manage_device_files manage_esim apps proxies connect stop_task`.split(/\s+/);
  for (const { name } of cloudTools) {
    expect({ name, ...hints(name) }).toMatchObject({
      name,
      readOnlyHint: READS.includes(name),
      destructiveHint: DESTROYS.includes(name),
      openWorldHint: true,
    });
  }
  const { tools, policy } = toolsetForTest({ profile: "readonly" });
  for (const { annotations } of listingOf(tools, policy)) expect(annotations.readOnlyHint).toBe(true);
});

test("tools are bound to a backend without being made again", () => {
  const { tools } = toolsetForTest();
  const again = buildCloudTools({} as never);
  expect(again.map(({ input }) => input)).toEqual(tools.map(({ input }) => input));
  expect(again[0]?.input).toBe(tools[0]?.input);
});

test("callers of one server have policies of their own, in what is listed and in what is carried out", async () => {
  const sets = { dr_sk_reader: toolsetForTest({ profile: "readonly" }), dr_sk_owner: toolsetForTest() };
  const contexts = Object.fromEntries(
    Object.entries(sets).map(([key, { tools, policy }]) => [
      key,
      {
        gate: { auth: createAuthContext({ kind: "api_key", subject: key }), policy },
        tools: new Map(tools.map((tool) => [tool.name, tool])),
      },
    ]),
  );
  const server = await served(
    {},
    {
      toolset: { title: "", instructions: "", tools: sets.dr_sk_owner.tools, resources: [], close: async () => {} },
      contextOf: (credential) => (credential?.kind === "api_key" ? contexts[credential.key] : undefined),
    },
  );
  try {
    const ask = async (key: string, body: unknown) => {
      const response = await server.post(body, { authorization: `Bearer ${key}` });
      return (await response.json()) as { result?: { tools: unknown[] }; error?: { message: string } };
    };
    const create = legacy("tools/call", { name: "create_device", arguments: {} });
    for (const [key, count] of Object.entries({ dr_sk_reader: 24, dr_sk_owner: 34 })) {
      expect((await ask(key, legacy("tools/list"))).result?.tools).toHaveLength(count);
    }
    expect((await ask("dr_sk_reader", create)).error?.message).toBe("Tool create_device not found");
    expect((await ask("dr_sk_owner", create)).error).toBeUndefined();
    expect([sets.dr_sk_reader.calls.length, sets.dr_sk_owner.calls.length]).toEqual([0, 1]);
  } finally {
    await server.close();
  }
});
