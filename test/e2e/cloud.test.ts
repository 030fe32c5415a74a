import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROWS } from "../../src/cloud/tools/calls.fixture.ts";
import { cloudTools } from "../../src/cloud/index.ts";
import { inputOf } from "../../src/cloud/tools/toolset.fixture.ts";
import type { Heard } from "../../src/mcp/peer.fixture.ts";
import { rawPeer } from "../../src/mcp/peer.fixture.ts";
import { allowedOperations, policyForProfile } from "../../src/tool/index.ts";
import { createManualClock } from "../../src/virtual/mobilerun/clock.ts";
import { startVirtualMobilerun, type VirtualMobilerun } from "../../src/virtual/index.ts";
import { accountWithEverything, SECRETS } from "../support/cloud-account.ts";
import { auditOf, CloudTest, type CloudServer, type Env, type Era, type User } from "../support/cloud-server.ts";
import { until } from "../support/until.ts";

/** Official clients, the spawned server, and the Mobilerun API of this machine over real HTTP. */

const cloud = new CloudTest();
const clock = createManualClock();
const UNLIMITED = { MCP_RATE_LIMIT_PER_KEY_PER_MIN: "100000", MCP_RATE_LIMIT_PER_IP_PER_MIN: "100000" };
const PLACES = (["stdio", "http"] as const).flatMap((transport) =>
  (["2026-07-28", "2025-11-25"] as const).map((era) => ({ transport, era })),
);
let platform: VirtualMobilerun;
let server: CloudServer;
beforeAll(async () => {
  platform = await startVirtualMobilerun({ clock, plaintextCredentials: true });
  cloud.also(() => platform.close());
  server = await serve({ MCP_POLICY_PROFILE: "full" });
});
afterAll(() => cloud.close());

const serve = (env: Env) => cloud.http({ MOBILERUN_BASE_URL: platform.url, ...UNLIMITED, ...env });

interface Connected {
  readonly client: Client;
  readonly asked: readonly string[];
  readonly errors: Heard;
  /** What came on standard output and was not of the protocol. */
  readonly noise: readonly unknown[];
}

/** A client of the profile `full`. */
async function connected(transport: "stdio" | "http", era: Era, key: string, user?: User): Promise<Connected> {
  if (transport === "http") {
    return { ...(await cloud.httpClient(era, server.url, key, user)), errors: server.errors, noise: [] };
  }
  const env = { MOBILERUN_BASE_URL: platform.url, MCP_POLICY_PROFILE: "full", MOBILERUN_CLOUD_API_KEY: key };
  return cloud.stdioClient(era, env, user);
}

type Input = Record<string, unknown>;
interface Answer {
  readonly refused: boolean;
  readonly text: string;
  readonly structured: Input;
  /** All of it, as the model gets it. */
  readonly whole: string;
}

async function call(client: Client, name: string, input: Input): Promise<Answer> {
  // Held against the output schema that was listed, by the client.
  const result = await client.callTool({ name, arguments: input });
  const [first] = result.content;
  const text = first?.type === "text" ? first.text : "";
  const structured = (result.structuredContent ?? {}) as Input;
  return { refused: result.isError === true, text, structured, whole: JSON.stringify(result) };
}

async function must(client: Client, name: string, input: Input): Promise<Input> {
  const { refused, text, structured } = await call(client, name, input);
  if (refused) throw new Error(`${name} ${JSON.stringify(input)}: ${text}`);
  return structured;
}

async function readyDevice(client: Client): Promise<string> {
  const { id } = await must(client, "create_device", {});
  clock.advance(10_000);
  return String(id);
}

describe.each(PLACES)("$transport, $era", ({ transport, era }) => {
  const key = `dr_sk_${transport}_${era}`;
  let place: Connected;
  beforeAll(async () => {
    place = await connected(transport, era, key);
  });

  test("every tool and every operation answers, the same in text and as structured content", async () => {
    const { client, errors, noise } = place;
    expect((await client.listTools()).tools).toHaveLength(34);
    const before = auditOf(errors).length;
    let made = 0;
    const counted = <T>(pending: Promise<T>): Promise<T> => ((made += 1), pending);
    const account = { url: platform.url, key, pass: (ms: number) => clock.advance(ms) };
    const { calls, deviceId } = await accountWithEverything(
      (name, input) => counted(must(client, name, input)),
      account,
    );
    const wrong: string[] = [];
    const revealing: string[] = [];
    for (const { label, tool, input } of calls) {
      const { refused, text, structured, whole } = await counted(call(client, tool, await input()));
      if (refused) wrong.push(`${label}: ${text}`);
      else if (JSON.stringify(structured) !== text) wrong.push(`${label}: text and structured content differ`);
      if (SECRETS.test(whole)) revealing.push(label);
    }
    expect(wrong).toEqual([]);
    expect(new Set(calls.map(({ tool }) => tool)).size).toBe(34);
    // Where a secret is the point, and nowhere else.
    expect(revealing.sort()).toEqual([
      "connect get_proxy_login",
      "connect get_user_login",
      "manage_device get_fingerprint",
      "webhooks create",
      "webhooks rotate_secret",
    ]);
    expect(noise).toEqual([]);

    await until(() => auditOf(errors).length - before >= made);
    const audit = auditOf(errors).slice(before);
    expect(audit).toHaveLength(made);
    expect(new Set(audit.map(({ outcome }) => outcome))).toEqual(new Set(["ok"]));
    const said = errors.lines.join("\n");
    expect(said).not.toMatch(SECRETS);
    for (const argument of [key, deviceId, "hooks.test"]) expect(said).not.toContain(argument);
  });

  test("a screenshot is a small picture, and its original can be read by whoever took it", async () => {
    const { client } = place;
    const deviceId = await readyDevice(client);
    const { content, structuredContent } = await client.callTool({
      name: "get_device_screenshot",
      arguments: { deviceId },
    });
    const picture = content.find((block) => block.type === "image");
    const bytes = Buffer.from(picture?.data ?? "", "base64");
    expect(picture?.mimeType).toBe("image/jpeg");
    expect(bytes.subarray(0, 3).toString("hex")).toBe("ffd8ff");
    expect(bytes.byteLength).toBeLessThan(1024 * 1024);
    const { width, height, original, bytes: size } = structuredContent as Input;
    expect([width, height, size]).toEqual([1080, 2340, bytes.byteLength]);
    const link = content.find((block) => block.type === "resource_link");
    expect(link?.uri).toBe(original);

    const uri = String(original);
    const { contents } = await client.readResource({ uri });
    const [read] = contents;
    const png = Buffer.from(read !== undefined && "blob" in read ? read.blob : "", "base64");
    expect(png.subarray(1, 4).toString()).toBe("PNG");
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([1080, 2340]);
    if (transport === "http") {
      const other = await cloud.httpClient(era, server.url, `${key}_other`);
      await expect(other.client.readResource({ uri })).rejects.toThrow(/not found/i);
    }
  });

  test("the user is asked before a call that costs or destroys, and may say no", async () => {
    const user: User = { says: "accept" };
    const { client, asked } = await connected(transport, era, key, user);
    const deviceId = await readyDevice(client);
    expect(asked).toEqual([expect.stringMatching(/^Allow create_device( \(name: ".+"\))?\? It is billed\.$/)]);

    user.says = "decline";
    const reset = { operation: "reset", deviceId };
    expect(await call(client, "manage_device", reset)).toMatchObject({
      refused: true,
      text: "[forbidden] The user did not agree to manage_device (reset).",
    });
    expect(await must(client, "get_device", { deviceId })).toMatchObject({ state: "ready" });
    user.says = "cancel";
    expect(await call(client, "manage_device", reset)).toMatchObject({ refused: true });
    user.says = "accept";
    expect(await call(client, "manage_device", reset)).toMatchObject({ refused: false });
    expect(asked.slice(1)).toEqual(
      Array(3).fill(expect.stringMatching(/^Allow manage_device \(reset\) \(deviceId: ".+"\)\? It is destructive\.$/)),
    );
    expect(await must(client, "get_device", { deviceId })).toMatchObject({ state: "resetting" });
  });
});

const COUNTS = { readonly: 24, "safe-writes": 28, "no-commerce": 32, full: 34 } as const;

describe.each(Object.entries(COUNTS))("the profile %s", (name, count) => {
  const profile = name as keyof typeof COUNTS;
  const policy = policyForProfile(profile, cloudTools);
  const isOpen = (tool: string, operation: string | undefined) => {
    if (!policy.toolAllowlist.has(tool)) return false;
    const declared = cloudTools.find((known) => known.name === tool);
    const open = declared === undefined ? [] : allowedOperations(policy, declared);
    return operation === undefined || open === undefined || open.includes(operation);
  };

  test(`lists ${count} tools, says what is open, and refuses all else`, async () => {
    const { url, errors } = await serve({ MCP_POLICY_PROFILE: profile });
    const { client } = await cloud.httpClient("2026-07-28", url, "dr_sk_profiles");
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(
      cloudTools.map((tool) => tool.name).filter((tool) => policy.toolAllowlist.has(tool)),
    );
    expect(tools).toHaveLength(count);
    for (const tool of tools) {
      const narrowed = policy.operationAllowlist?.get(tool.name);
      const said = /Available for this credential: (.*)\.$/.exec(tool.description ?? "")?.[1];
      expect([tool.name, said]).toEqual([tool.name, narrowed === undefined ? undefined : [...narrowed].join(", ")]);
      if (profile === "readonly")
        expect(tool.annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
    }

    const closed = ROWS.filter(([tool, operation]) => !isOpen(tool, operation));
    for (const [tool, operation, input] of closed) {
      const refusal = call(client, tool, inputOf(tool, operation, input));
      if (!policy.toolAllowlist.has(tool)) await expect(refusal).rejects.toThrow(`Tool ${tool} not found`);
      else {
        const text = `[forbidden] Operation "${operation}" of tool "${tool}" is not available for this credential.`;
        expect((await refusal).text).toContain(text);
      }
    }
    await until(() => auditOf(errors).length >= closed.length);
    expect(auditOf(errors).map(({ outcome }) => outcome)).toEqual(closed.map(() => "denied"));

    if (profile !== "readonly") return;
    // All that is open to it, on an account that is full of secrets.
    const key = "dr_sk_readonly";
    const owner = await cloud.httpClient("2026-07-28", server.url, key);
    const reader = await cloud.httpClient("2026-07-28", url, key);
    await reader.client.listTools();
    const { calls } = await accountWithEverything((tool, input) => must(owner.client, tool, input), {
      url: platform.url,
      key,
      pass: (ms) => clock.advance(ms),
    });
    const leaking: string[] = [];
    for (const { label, tool, operation, input } of calls) {
      const filled = await input();
      const { refused, text, whole } = isOpen(tool, operation)
        ? await call(reader.client, tool, filled)
        : await call(owner.client, tool, filled).then((answer) => ({ ...answer, whole: "" }));
      if (refused) throw new Error(`${label}: ${text}`);
      if (SECRETS.test(whole)) leaking.push(label);
    }
    expect(leaking).toEqual([]);
  });
});

/** One call of each kind, and what is written of it. Each argument holds a word that nobody else says. */
const KINDS = [
  { tool: "list_devices", input: { name: "heirloom" }, line: { toolName: "list_devices", outcome: "ok" } },
  {
    tool: "get_device",
    input: { deviceId: "heirloom" },
    line: { toolName: "get_device", outcome: "error", code: "not_found" },
  },
  {
    tool: "connect",
    input: { operation: "buy_proxy", country: "heirloom" },
    line: { toolName: "connect", operation: "buy_proxy", outcome: "denied", code: "forbidden" },
  },
  {
    tool: "device_action",
    input: { operation: "tap", heirloom: 1 },
    line: { toolName: "device_action", operation: "tap", outcome: "error", code: "invalid_input" },
  },
  {
    tool: "create_device",
    input: { name: "heirloom" },
    line: { toolName: "create_device", outcome: "denied", code: "not_found" },
  },
  { tool: "heirloom", input: {}, line: { toolName: "(unknown)", outcome: "denied", code: "not_found" } },
];

test.each(PLACES)("each call has its line on standard error: $transport, $era", async ({ transport, era }) => {
  const key = "dr_sk_kinds";
  const base = { MOBILERUN_BASE_URL: platform.url };
  const { client, errors } =
    transport === "stdio"
      ? await cloud.stdioClient(era, { ...base, MOBILERUN_CLOUD_API_KEY: key })
      : await serve({}).then(async ({ url, errors: heard }) => ({
          errors: heard,
          ...(await cloud.httpClient(era, url, key)),
        }));
  for (const { tool, input } of KINDS) await call(client, tool, input).catch(() => {});
  await until(() => auditOf(errors).length >= KINDS.length);
  const audit = auditOf(errors);
  expect(audit).toMatchObject(
    KINDS.map(({ line }) => ({
      type: "mcp.tool_call",
      ...line,
      durationMs: expect.any(Number),
      requestId: expect.any(String),
      auth: { kind: "api_key", subject: expect.stringMatching(/^key-[0-9a-f]{32}$/) },
    })),
  );
  const said = errors.lines.join("\n");
  expect(said).not.toContain("heirloom");
  expect(said).not.toContain(key);
});

test("standard output carries JSON-RPC and nothing else, whatever is logged", async () => {
  const child = cloud.start([], {
    MOBILERUN_BASE_URL: platform.url,
    MOBILERUN_CLOUD_API_KEY: "dr_sk_out",
    LOG_LEVEL: "debug",
    NODE_DEBUG: "http",
  });
  if (child.stdin === null || child.stdout === null) throw new Error("no pipes");
  const { out, initialize, call: ask } = rawPeer(child.stdin, child.stdout);
  await initialize();
  for (const { tool, input } of KINDS) await ask(tool, tool, input);
  child.stdin.end();
  expect(out.lines.length).toBe(1 + KINDS.length);
  for (const line of out.lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
});

test("a policy file narrows its base: tools, devices, billed calls, and what must be agreed to", async () => {
  const key = "dr_sk_file";
  const owner = await cloud.httpClient("2026-07-28", server.url, key);
  const mine = await readyDevice(owner.client);
  const foreign = await readyDevice(owner.client);
  const file = join(cloud.home, "policy.yaml");
  writeFileSync(
    file,
    `base: no-commerce
tools:
  get_device: all
  run_task: all
  manage_device: [rename, reset]
devices: [${mine}]
billedCallsPerHour: 1
confirm: [destructive]
`,
  );
  const { url } = await serve({ MCP_POLICY_FILE: file });
  const { client } = await cloud.httpClient("2025-11-25", url, key);
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["get_device", "run_task", "manage_device"]);
  expect(await must(client, "get_device", { deviceId: mine })).toMatchObject({ id: mine });
  const texts = async (tool: string, input: Input) => (await call(client, tool, input)).text;
  expect(await texts("get_device", { deviceId: foreign })).toContain("is not open to this credential");
  // Not listed to be confirmed: it runs unasked, once an hour.
  await must(client, "run_task", { deviceId: mine, task: "Open Notes" });
  expect(await texts("run_task", { deviceId: mine, task: "Open Notes" })).toMatch(/^\[rate_limited\]/);
  expect(await texts("manage_device", { operation: "reset", deviceId: mine })).toContain("whom this client cannot ask");
  expect(await texts("manage_device", { operation: "reboot", deviceId: mine })).toContain("is not available");
});
