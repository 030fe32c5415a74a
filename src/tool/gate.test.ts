import { expect, test } from "vitest";
import { z } from "zod";
import { SimlockError } from "../contract/index.ts";
import type { ToolCallEvent } from "./audit.ts";
import { createAuthContext } from "./auth.ts";
import { billedLimit } from "./billed-limit.ts";
import { callThroughPolicy, type GateCall, type GateContext, type Question } from "./gate.ts";
import { fullAccessPolicy } from "./policy.ts";
import { defineTool, type Tool } from "./tool.ts";

let ran: unknown[] = [];

const echo = defineTool({
  name: "echo",
  title: "Echo",
  description: "Says it back.",
  input: z.strictObject({ text: z.string(), deviceId: z.string().optional() }),
  output: z.object({ text: z.string() }),
  effects: ["read"],
  async handle(input, call) {
    ran.push(input);
    call.attach?.({ kind: "image", bytes: new Uint8Array([1]), mimeType: "image/png" });
    if (input.text === "simlock") throw new SimlockError("NO_CAPACITY", "Full.");
    if (input.text === "crash") throw new Error("dr_sk_secret in a stack trace");
    return { text: input.text, userId: "usr-1" } as { text: string };
  },
});

const bundle = defineTool({
  name: "things",
  title: "Things",
  description: "Things.",
  input: z.strictObject({
    operation: z.enum(["look", "wipe", "buy", "new", "sweep"]),
    deviceIds: z.array(z.string()).optional(),
  }),
  output: z.object({ done: z.boolean() }),
  effects: ["read", "write", "destructive", "commerce"],
  operations: {
    field: "operation",
    facts: {
      look: { effects: ["read"] },
      wipe: { effects: ["destructive"] },
      buy: { effects: ["write", "commerce"] },
      new: { effects: [] },
      sweep: { effects: ["write"], anyDevice: true },
    },
  },
  async handle(input) {
    ran.push(input);
    return { done: true };
  },
});

const unclassified = defineTool({ ...echo, name: "unclassified", effects: [] });
const tools: readonly Tool[] = [echo, bundle, unclassified];
const table = new Map(tools.map((tool) => [tool.name, tool]));
const auth = createAuthContext({ kind: "api_key", subject: "k1" });

function setUp(context: Partial<GateContext> = {}, more: Partial<GateCall> = {}) {
  ran = [];
  const events: ToolCallEvent[] = [];
  const full: GateContext = {
    auth,
    policy: fullAccessPolicy(tools),
    onToolCall: (event) => void events.push(event),
    ...context,
  };
  const call: GateCall = { signal: new AbortController().signal, requestId: "7", ...more };
  return { events, call: (name: string, input: unknown) => callThroughPolicy(table, name, input, full, call) };
}

test("a call that is allowed gives what the tool declares, its attachments, and one event", async () => {
  const { call, events } = setUp();
  expect(await call("echo", { text: "hi" })).toEqual({
    kind: "ok",
    structured: { text: "hi" },
    attachments: [{ kind: "image", bytes: new Uint8Array([1]), mimeType: "image/png" }],
  });
  expect(events).toEqual([
    {
      toolName: "echo",
      outcome: "ok",
      durationMs: expect.any(Number),
      requestId: "7",
      auth: { kind: "api_key", subject: "k1" },
    },
  ]);
});

test("an empty allow-list allows nothing, and a hidden tool looks like one that does not exist", async () => {
  const { call, events } = setUp({ policy: { toolAllowlist: new Set() } });
  const hidden = await call("echo", { text: "hi" });
  const missing = await call("dr_sk_oops", {});
  expect(hidden).toMatchObject({ kind: "denied", failure: { code: "not_found", message: "Tool echo not found." } });
  expect(missing).toMatchObject({ kind: "denied", failure: { code: "not_found" } });
  expect(ran).toEqual([]);
  expect(events.map((event) => [event.toolName, event.outcome])).toEqual([
    ["echo", "denied"],
    ["(unknown)", "denied"],
  ]);
});

test("an operation outside the policy is refused by name before anything else is looked at", async () => {
  const policy = { toolAllowlist: new Set(["things"]), operationAllowlist: new Map([["things", new Set(["look"])]]) };
  const { call, events } = setUp({ policy });
  expect(await call("things", { operation: "wipe", nonsense: 1 })).toMatchObject({
    kind: "denied",
    failure: { code: "forbidden", message: 'Operation "wipe" of tool "things" is not available for this credential.' },
  });
  expect(await call("things", { operation: "look" })).toMatchObject({ kind: "ok" });
  expect(ran).toEqual([{ operation: "look" }]);
  expect(events).toMatchObject([
    { operation: "wipe", outcome: "denied", code: "forbidden" },
    { operation: "look", outcome: "ok" },
  ]);
});

test("what nobody has classified is closed, under full access too", async () => {
  const { call } = setUp({
    policy: { toolAllowlist: new Set(["unclassified", "things"]), operationAllowlist: new Map() },
  });
  expect(await call("unclassified", { text: "hi" })).toMatchObject({ kind: "denied", failure: { code: "not_found" } });
  expect(await call("things", { operation: "new" })).toMatchObject({ kind: "denied", failure: { code: "forbidden" } });
  expect(ran).toEqual([]);
});

test("a malformed call is an error with the name of what is wrong, and leaves an event without the arguments", async () => {
  const { call, events } = setUp();
  expect(await call("echo", { text: "hi", tezt: "secret-value" })).toMatchObject({
    kind: "error",
    failure: { code: "invalid_input", message: expect.stringMatching(/tool echo: .*"tezt"/) },
  });
  expect(await call("things", { operation: "secret-value" })).toMatchObject({ failure: { code: "invalid_input" } });
  expect(await call("echo", "secret-value")).toMatchObject({ failure: { code: "invalid_input" } });
  expect(events.map((event) => event.outcome)).toEqual(["error", "error", "error"]);
  expect(JSON.stringify(events)).not.toContain("secret-value");
});

test("a failure keeps its code; what nobody expected keeps its text to itself", async () => {
  const { call } = setUp();
  expect(await call("echo", { text: "simlock" })).toMatchObject({ failure: { code: "NO_CAPACITY", message: "Full." } });
  const crash = await call("echo", { text: "crash" });
  expect(crash).toMatchObject({ kind: "error", failure: { code: "internal" }, fault: expect.any(Error) });
  expect(JSON.stringify("failure" in crash && crash.failure)).not.toContain("dr_sk_secret");
});

test.each([
  ["throws", () => void JSON.parse("{")],
  ["rejects", () => Promise.reject(new Error("sink"))],
  ["never answers", () => new Promise<void>(() => {})],
])("a sink that %s changes no result", async (_, onToolCall) => {
  expect(await setUp({ onToolCall }).call("echo", { text: "hi" })).toMatchObject({ kind: "ok" });
});

test("with an allow-list of devices, other devices and calls that name none are refused", async () => {
  const { call } = setUp({ devices: new Set(["d1"]) });
  expect(await call("echo", { text: "hi", deviceId: "d1" })).toMatchObject({ kind: "ok" });
  expect(await call("echo", { text: "hi", deviceId: "d2" })).toMatchObject({ kind: "denied" });
  expect(await call("things", { operation: "look", deviceIds: ["d1", "d2"] })).toMatchObject({ kind: "denied" });
  expect(await call("things", { operation: "sweep" })).toMatchObject({ kind: "denied" });
  expect(await call("things", { operation: "look" })).toMatchObject({ kind: "ok" });
  expect(ran).toHaveLength(2);
});

test("a call that must be confirmed runs after a yes only, and not at all where nobody can be asked", async () => {
  const asked: Question[] = [];
  const mustConfirm = new Set(["destructive", "billed"] as const);
  const answering = (answer: boolean) => ({
    confirm: async (question: Question) => asked.push(question) > 0 && answer,
  });
  expect(await setUp({ mustConfirm }, answering(false)).call("things", { operation: "wipe" })).toMatchObject({
    kind: "denied",
    failure: { code: "forbidden", message: "The user did not agree to things (wipe)." },
  });
  expect(ran).toEqual([]);
  expect(await setUp({ mustConfirm }).call("things", { operation: "buy" })).toMatchObject({ kind: "denied" });
  expect(await setUp({ mustConfirm }, answering(true)).call("things", { operation: "buy" })).toMatchObject({
    kind: "ok",
  });
  expect(await setUp({ mustConfirm }).call("things", { operation: "look" })).toMatchObject({ kind: "ok" });
  expect(asked.map((question) => question.causes)).toEqual([["destructive"], ["billed"]]);
});

test("a question says which thing the call is about, shortly, and shows no other field", async () => {
  const asked: string[] = [];
  const confirm = async ({ text }: Question) => asked.push(text) > 0;
  const typing = defineTool({ ...echo, name: "typing", effects: ["destructive"] });
  const gate = { auth, policy: fullAccessPolicy([typing]), mustConfirm: new Set(["destructive"] as const) };
  const call = { signal: new AbortController().signal, confirm };
  for (const deviceId of [undefined, "d1", `d\n${"x".repeat(500)}`]) {
    const input = { text: "s3cret", ...(deviceId === undefined ? {} : { deviceId }) };
    await callThroughPolicy(new Map([["typing", typing]]), "typing", input, gate, call);
  }
  await setUp({ mustConfirm: gate.mustConfirm }, { confirm }).call("things", { operation: "wipe", deviceIds: ["d2"] });
  expect(asked).toEqual([
    "Allow typing? It is destructive.",
    'Allow typing (deviceId: "d1")? It is destructive.',
    expect.stringMatching(/^Allow typing \(deviceId: "d\\nx{50,64}…\)\? It is destructive\.$/),
    'Allow things (wipe) (deviceIds: ["d2"])? It is destructive.',
  ]);
});

test("a call that is only asked about runs unasked where nobody can be asked", async () => {
  const askAbout = new Set(["destructive"] as const);
  expect(await setUp({ askAbout }).call("things", { operation: "wipe" })).toMatchObject({ kind: "ok" });
  const no = { confirm: async () => false };
  expect(await setUp({ askAbout }, no).call("things", { operation: "wipe" })).toMatchObject({ kind: "denied" });
  expect(await setUp({ askAbout }, no).call("things", { operation: "buy" })).toMatchObject({ kind: "ok" });
});

test("billed calls are counted for each credential and free again after an hour", async () => {
  let now = 0;
  const billed = billedLimit(2, () => now);
  const { call } = setUp({ billed });
  const buy = () => call("things", { operation: "buy" });
  expect([await buy(), await buy()].map((outcome) => outcome.kind)).toEqual(["ok", "ok"]);
  now = 1000;
  expect(await buy()).toMatchObject({
    kind: "denied",
    failure: { code: "rate_limited", hint: "The next is possible in 3599 s." },
  });
  expect(await call("things", { operation: "look" })).toMatchObject({ kind: "ok" });
  const other = createAuthContext({ kind: "api_key", subject: "k2" });
  expect(await setUp({ billed, auth: other }).call("things", { operation: "buy" })).toMatchObject({ kind: "ok" });
  now = 3_600_001;
  expect(await buy()).toMatchObject({ kind: "ok" });
});

test("a call cancelled before its turn does not run", async () => {
  const { call } = setUp({}, { signal: AbortSignal.abort() });
  expect(await call("echo", { text: "hi" })).toMatchObject({ failure: { code: "cancelled" } });
  expect(ran).toEqual([]);
});

test("an auth context of an organisation names it, and cannot be changed afterwards", () => {
  expect(() => createAuthContext({ kind: "oauth", subject: "u" })).toThrow(/ownerId/);
  expect(() => createAuthContext({ kind: "machine", subject: "u", ownerId: "" })).toThrow(/ownerId/);
  expect(Object.isFrozen(createAuthContext({ kind: "machine", subject: "u", ownerId: "o" }))).toBe(true);
});
