import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, test } from "vitest";
import { recordingBackend } from "../cloud/tools/backend.fixture.ts";
import {
  ALL_TOOL_NAMES,
  BackendError,
  billedLimit,
  buildMcpServer,
  createAuthContext,
  createOriginals,
  fullAccessPolicy,
  POLICY_PROFILES,
  policyForProfile,
  type BuildMcpServerOpts,
  type ToolCallEvent,
  type ToolCtx,
} from "./index.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A host's server with an official client of it, and what the audit heard. */
async function host(
  ctx: Partial<ToolCtx> = {},
  opts: BuildMcpServerOpts = {},
  answers: Parameters<typeof recordingBackend>[0] = {},
) {
  const { backend, calls } = recordingBackend(answers);
  const events: ToolCallEvent[] = [];
  const auth = createAuthContext({ kind: "oauth", subject: "user-1", ownerId: "acme", clientId: "app" });
  const server = buildMcpServer(
    { backend, auth, policy: fullAccessPolicy(), ...ctx },
    { onToolCall: (event) => void events.push(event), ...opts },
  );
  const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: { form: {} } } });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.connect(far);
  await client.connect(near);
  closers.push(() => client.close());
  const names = async () => (await client.listTools()).tools.map(({ name }) => name);
  const call = (name: string, args: Record<string, unknown> = {}) => client.callTool({ name, arguments: args });
  return { server, client, calls, events, names, call };
}

const textOf = ({ content }: { content: readonly { type: string; text?: unknown }[] }) => content[0]?.text;

describe("policy", () => {
  test.each(POLICY_PROFILES)("%s lists what it opens", async (profile) => {
    const policy = policyForProfile(profile);
    const { names } = await host({ policy });
    expect(await names()).toEqual(ALL_TOOL_NAMES.filter((name) => policy.toolAllowlist.has(name)));
  });

  test("one that is empty opens nothing, and a tool that is closed does not exist", async () => {
    const { names, call, calls, events } = await host({ policy: { toolAllowlist: new Set() } });
    expect(await names()).toEqual([]);
    for (const name of ["list_devices", "made_up"]) {
      await expect(call(name)).rejects.toThrow(`Tool ${name} not found`);
    }
    expect(calls).toEqual([]);
    expect(events).toMatchObject([
      { toolName: "list_devices", outcome: "denied", code: "not_found" },
      { toolName: "(unknown)", outcome: "denied", code: "not_found" },
    ]);
  });

  test("an operation that is closed is refused before the backend hears of it", async () => {
    const operationAllowlist = new Map([["webhooks", new Set(["list"])]]);
    const { client, call, calls, events } = await host({ policy: { ...fullAccessPolicy(), operationAllowlist } });
    const refused = await call("webhooks", { operation: "delete", webhookId: "w-1" });
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toMatch(/^\[forbidden\] Operation "delete"/);
    expect(calls).toEqual([]);
    expect(events).toMatchObject([{ toolName: "webhooks", operation: "delete", outcome: "denied" }]);
    const listed = (await client.listTools()).tools.find(({ name }) => name === "webhooks");
    expect(listed?.description).toContain("Available for this credential: list.");
  });
});

test("each call is told once, with who called and never with what was said", async () => {
  const failing = { getDevice: () => Promise.reject(new BackendError("not_found", "There is no such phone.")) };
  const { call, events } = await host({}, {}, failing);
  const good = await call("list_devices");
  expect(JSON.parse(String(textOf(good)))).toEqual(good.structuredContent);
  expect(textOf(await call("get_device", { deviceId: "secret-id" }))).toMatch(
    /^\[not_found\].*There is no such phone\./,
  );
  expect(textOf(await call("get_device", { deviceId: 7, extra: "x" }))).toMatch(/^\[invalid_input\]/);
  const auth = { kind: "oauth", subject: "user-1", ownerId: "acme", clientId: "app" };
  expect(events).toMatchObject([
    { toolName: "list_devices", outcome: "ok", auth },
    { toolName: "get_device", outcome: "error", code: "not_found", auth },
    { toolName: "get_device", outcome: "error", code: "invalid_input", auth },
  ]);
  expect(new Set(events.map(({ requestId }) => requestId)).size).toBe(3);
  expect(JSON.stringify(events)).not.toContain("secret-id");
});

test("a sink that fails changes no result", async () => {
  const onToolCall = () => {
    throw new Error("the disk is full");
  };
  const { call } = await host({}, { onToolCall });
  expect((await call("list_devices")).isError).toBeUndefined();
});

describe("a host's own wrapper", () => {
  const wrapping = (around: (name: string, run: () => unknown) => unknown): BuildMcpServerOpts => ({
    wrapRegisterTool(server) {
      const register = server.registerTool.bind(server) as (...all: unknown[]) => unknown;
      const wrapped = (name: string, config: unknown, handler: (...all: unknown[]) => unknown) =>
        register(name, config, (...given: unknown[]) => around(name, () => handler(...given)));
      server.registerTool = wrapped as typeof server.registerTool;
    },
  });

  test("sees each tool be registered, and each call of one", async () => {
    const seen: string[] = [];
    let registered = 0;
    const opts = wrapping((name, run) => {
      seen.push(name);
      return run();
    });
    const { call } = await host(
      {},
      {
        wrapRegisterTool(server) {
          opts.wrapRegisterTool?.(server);
          const register = server.registerTool;
          server.registerTool = ((...all: Parameters<typeof register>) => {
            registered += 1;
            return register(...all);
          }) as typeof register;
        },
      },
    );
    expect(registered).toBe(34);
    expect((await call("list_devices")).isError).toBeUndefined();
    await call("get_device", { wrong: true });
    expect(seen).toEqual(["list_devices", "get_device"]);
  });

  test("that refuses is heard, and that fails tells nothing of how", async () => {
    const refusal = { content: [{ type: "text", text: "Not in your tier." }], isError: true };
    const faults: unknown[] = [];
    const opts = wrapping((name, run) => {
      if (name === "list_devices") return refusal;
      if (name === "get_device") throw new Error("db-password");
      return run();
    });
    const { call, calls } = await host({}, { ...opts, onFault: (_tool, fault) => faults.push(fault) });
    expect(await call("list_devices")).toMatchObject(refusal);
    expect(await call("get_device", { deviceId: "d" })).toEqual({
      content: [{ type: "text", text: "Tool get_device failed." }],
      isError: true,
    });
    expect([calls, faults]).toEqual([[], [new Error("db-password")]]);
  });

  test("a tool that the host takes away is gone", async () => {
    const { call, calls, names } = await host(
      {},
      {
        wrapRegisterTool(server) {
          const register = server.registerTool.bind(server) as (...all: unknown[]) => { disable(): void };
          server.registerTool = ((...all: unknown[]) => {
            const tool = register(...all);
            if (all[0] === "list_devices") tool.disable();
            return tool;
          }) as unknown as typeof server.registerTool;
        },
      },
    );
    expect(await names()).not.toContain("list_devices");
    await expect(call("list_devices")).rejects.toThrow("Tool list_devices not found");
    expect(calls).toEqual([]);
  });
});

test("a tool that the host adds to the same server can't be called: the manual sends it to a server of its own", async () => {
  const { server, call } = await host();
  server.registerTool("own", { description: "The host's." }, () => ({ content: [] }));
  await expect(call("own")).rejects.toThrow("Tool own not found");
});

test("the user is asked before a call that destroys, and their no is heard", async () => {
  const { client, call, calls } = await host({}, { askAbout: new Set(["destructive"]) });
  const asked: string[] = [];
  let says: "accept" | "decline" = "decline";
  client.setRequestHandler("elicitation/create", ({ params }) => {
    asked.push(params.message);
    return says === "accept" ? { action: says, content: {} } : { action: says };
  });
  const ending = { deviceId: "phone-1" };
  expect(textOf(await call("terminate_device", ending))).toMatch(/^\[forbidden\] The user did not agree/);
  expect(calls).toEqual([]);
  says = "accept";
  expect((await call("terminate_device", ending)).isError).toBeUndefined();
  expect(asked).toHaveLength(2);
  expect(calls).toHaveLength(1);
});

test("a whole screenshot is read through its link, by nobody else", async () => {
  const originals = createOriginals();
  const mine = await host({ originals });
  const { content } = await mine.call("get_device_screenshot", { deviceId: "phone-1" });
  const link = content.find(({ type }) => type === "resource_link") as { uri: string } | undefined;
  const { contents } = await mine.client.readResource({ uri: link?.uri ?? "" });
  expect(contents).toMatchObject([{ mimeType: "image/png", blob: expect.stringMatching(/^iVBOR/) }]);
  const theirs = await host({ originals, auth: createAuthContext({ kind: "api_key", subject: "other" }) });
  await expect(theirs.client.readResource({ uri: link?.uri ?? "" })).rejects.toThrow();
});

test("who calls for an organisation names it", () => {
  expect(() => createAuthContext({ kind: "machine", subject: "ci" })).toThrow("ownerId");
  expect(createAuthContext({ kind: "api_key", subject: "k" })).toEqual({ kind: "api_key", subject: "k" });
});

test("a mistake that would leave a rule out is refused, as are limits and profiles that are none", () => {
  const { backend } = recordingBackend({});
  const auth = createAuthContext({ kind: "api_key", subject: "k" });
  const policy = fullAccessPolicy();
  const making =
    (ctx: object, opts: object = {}) =>
    () =>
      buildMcpServer({ backend, auth, policy, ...ctx } as ToolCtx, opts as BuildMcpServerOpts);
  expect(making({})).not.toThrow();
  expect(making({ policy: undefined })).toThrow("policy has no toolAllowlist");
  expect(making({ policy: { toolAllowlist: ["run_task"] } })).toThrow("policy has no toolAllowlist");
  expect(making({ devices: ["d1"], backend: undefined })).toThrow("devices is no Set of ids; there is no backend");
  expect(making({}, { mustConfirm: new Set(["biled"]) })).toThrow("mustConfirm is not a Set of destructive and billed");
  expect(making({}, { askAbout: ["billed"] })).toThrow("askAbout is not");
  expect(() => policyForProfile("ful" as "full")).toThrow('There is no profile "ful", but readonly');
  for (const limit of [Number.NaN, -1, 1.5, "5" as never]) expect(() => billedLimit(limit)).toThrow("whole number");
});
