import fc from "fast-check";
import { expect, test } from "vitest";
import { Gate, type Verdict } from "./gate.ts";

const VERSION = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
const META = { [VERSION]: "2026-07-28", [CAPABILITIES]: {} };
const SPOKEN = ["2026-07-28", "2025-11-25", "2025-06-18", "2024-11-05"];
const DROP = { kind: "drop" };

const say = (gate: Gate, message: unknown): Verdict => gate.judge(Buffer.from(JSON.stringify(message)));
const request = (method: string, params?: object, id: string | number = 1) => ({
  jsonrpc: "2.0",
  id,
  method,
  ...(params === undefined ? {} : { params }),
});
const initialize = (protocolVersion = "2025-11-25") =>
  request("initialize", { protocolVersion, capabilities: {}, clientInfo: { name: "t", version: "1" } }, "init");
const modern = (method: string, params: object = {}) => request(method, { ...params, _meta: META });
const errorOf = (verdict: Verdict) => {
  if (verdict.kind !== "answer" || !("error" in verdict.reply)) throw new Error(`not an error: ${verdict.kind}`);
  return { id: verdict.reply.id, ...verdict.reply.error };
};
const eraOf = (verdict: Verdict) => (verdict.kind === "deliver" ? verdict.era : verdict.kind);
const legacyGate = (version?: string) => {
  const gate = new Gate();
  say(gate, initialize(version));
  return gate;
};
const modernGate = () => {
  const gate = new Gate();
  say(gate, modern("tools/list"));
  return gate;
};

test.for([
  ["not JSON", "{nonsense"],
  ["half a message", '{"jsonrpc":"2.0","id":1,'],
  ["bytes that are not UTF-8", Buffer.from([0x22, 0xff, 0xfe, 0x22])],
] as const)("%s is a parse error without an id", ([, line]) => {
  expect(errorOf(new Gate().judge(Buffer.from(line)))).toMatchObject({ id: null, code: -32700 });
});

test.for([
  ["a batch", [request("ping")], null],
  ["an empty batch", [], null],
  ["a number", 5, null],
  ["null", null, null],
  ["an object of another protocol", { id: 7, method: "ping" }, 7],
  ["an older JSON-RPC", { jsonrpc: "1.0", id: 7, method: "ping" }, 7],
  ["a method that is no string", { jsonrpc: "2.0", id: 7, method: 1 }, 7],
  ["neither method nor result", { jsonrpc: "2.0", id: 7 }, 7],
  ["parameters that are a text", { jsonrpc: "2.0", id: 7, method: "ping", params: "x" }, 7],
  ["an id that is null", { jsonrpc: "2.0", id: null, method: "ping" }, null],
  ["an id that is a fraction", { jsonrpc: "2.0", id: 1.5, method: "ping" }, null],
  ["an id that is an object", { jsonrpc: "2.0", id: {}, method: "ping" }, null],
  ["an id of a thousand and one characters", { jsonrpc: "2.0", id: "x".repeat(1001), method: "ping" }, null],
] as const)("%s is an invalid request", ([, message, id]) => {
  expect(errorOf(say(new Gate(), message))).toMatchObject({ id, code: -32600 });
});

test("a line that was too long is an invalid request", () => {
  expect(errorOf(new Gate().judge(null))).toMatchObject({ id: null, code: -32600 });
});

test("a response is not answered: only a legacy server can have asked, and it alone hears of it", () => {
  const message = { jsonrpc: "2.0", id: 1, result: {} };
  expect(say(legacyGate(), message)).toEqual({ kind: "answered", message });
  expect(say(legacyGate(), { ...message, result: 1 })).toEqual(DROP);
  expect(say(modernGate(), message)).toEqual(DROP);
  expect(say(new Gate(), { jsonrpc: "2.0", id: 1, error: { code: 1, message: "" } })).toEqual(DROP);
});

test.for(["2025-11-25", "2025-06-18", "2024-11-05", "2025-03-26", "2024-10-07", "1.0"])(
  "initialize with %s opens the legacy era",
  (version) => {
    const gate = new Gate();
    expect(eraOf(say(gate, initialize(version)))).toBe("legacy");
    expect(eraOf(say(gate, request("tools/list")))).toBe("legacy");
  },
);

test.for([
  [{}, "protocolVersion must be a string"],
  [{ protocolVersion: "2025-11-25" }, "capabilities must be an object"],
  [{ protocolVersion: "2025-11-25", capabilities: {} }, "clientInfo must be an object"],
] as const)("initialize that can't be read opens nothing: %o", ([params, why]) => {
  const gate = new Gate();
  expect(errorOf(say(gate, request("initialize", params)))).toMatchObject({
    code: -32602,
    message: `Invalid params: ${why}`,
  });
  expect(eraOf(say(gate, modern("tools/list")))).toBe("modern");
});

test("before initialize only a ping is answered, and it settles nothing", () => {
  const gate = new Gate();
  expect(say(gate, request("ping"))).toEqual({ kind: "answer", reply: { jsonrpc: "2.0", id: 1, result: {} } });
  for (const method of ["tools/list", "tools/call", "resources/list", "server/discover"]) {
    expect(errorOf(say(gate, request(method)))).toMatchObject({ id: 1, code: -32602 });
  }
  expect(eraOf(say(gate, modern("tools/list")))).toBe("modern");
});

test("a second initialize is refused, and the first stands", () => {
  const gate = legacyGate();
  expect(errorOf(say(gate, initialize("2024-11-05")))).toMatchObject({ id: "init", code: -32600 });
  expect(eraOf(say(gate, request("ping")))).toBe("legacy");
});

test("on a legacy connection a request that claims another version is refused, naming the one agreed on", () => {
  const gate = legacyGate("2025-06-18");
  for (const method of ["tools/list", "server/discover"]) {
    expect(errorOf(say(gate, modern(method)))).toMatchObject({
      code: -32022,
      data: { supported: ["2025-06-18"], requested: "2026-07-28", supportedVersions: SPOKEN },
    });
  }
  expect(eraOf(say(gate, request("tools/list", { _meta: { [VERSION]: "2025-06-18" } })))).toBe("legacy");
});

test("a request that names the modern version opens the modern era", () => {
  const gate = new Gate();
  expect(eraOf(say(gate, modern("tools/list")))).toBe("modern");
  expect(eraOf(say(gate, modern("ping")))).toBe("modern");
});

test.for(["2027-01-01", "2025-11-25", "x".repeat(5000)])("a claim of %s is refused with what we speak", (version) => {
  for (const gate of [new Gate(), modernGate()]) {
    const verdict = say(gate, request("tools/list", { _meta: { ...META, [VERSION]: version } }));
    expect(errorOf(verdict)).toMatchObject({
      id: 1,
      code: -32022,
      data: { supported: ["2026-07-28"], requested: version.slice(0, 100), supportedVersions: SPOKEN },
    });
  }
});

test("where a toolset wants it, a ping is answered in the era that has none, and settles nothing", () => {
  const gate = new Gate("1.2.3");
  expect(say(gate, modern("ping"))).toEqual({
    kind: "answer",
    reply: {
      jsonrpc: "2.0",
      id: 1,
      result: {
        resultType: "complete",
        _meta: { "io.modelcontextprotocol/serverInfo": { name: "simlock", version: "1.2.3" } },
      },
    },
  });
  expect(eraOf(say(gate, initialize()))).toBe("legacy");
});

test("a refused claim settles nothing", () => {
  const gate = new Gate();
  say(gate, request("tools/list", { _meta: { ...META, [VERSION]: "2027-01-01" } }));
  expect(eraOf(say(gate, initialize()))).toBe("legacy");
});

test("an envelope without capabilities, or with a version that is no text, is refused and settles nothing", () => {
  const gate = new Gate();
  expect(errorOf(say(gate, request("tools/list", { _meta: { [VERSION]: "2026-07-28" } })))).toMatchObject({
    code: -32602,
  });
  expect(errorOf(say(gate, request("tools/list", { _meta: { ...META, [VERSION]: 2026 } })))).toMatchObject({
    code: -32602,
  });
  expect(eraOf(say(gate, initialize()))).toBe("legacy");
});

test("on a modern connection a request without its envelope is refused", () => {
  const gate = modernGate();
  for (const method of ["tools/list", "ping"]) {
    expect(errorOf(say(gate, request(method)))).toMatchObject({ id: 1, code: -32602 });
  }
  expect(errorOf(say(gate, initialize()))).toMatchObject({
    code: -32022,
    data: { supported: ["2026-07-28"], requested: "2025-11-25", supportedVersions: SPOKEN },
  });
  expect(eraOf(say(gate, modern("tools/list")))).toBe("modern");
});

test("after server/discover a request without an envelope does not pin the connection to legacy", () => {
  const gate = new Gate();
  expect(eraOf(say(gate, modern("server/discover")))).toBe("modern");
  expect(errorOf(say(gate, request("tools/list")))).toMatchObject({ code: -32602 });
  expect(eraOf(say(gate, modern("tools/list")))).toBe("modern");
});

test("after server/discover a client may still turn to initialize", () => {
  const gate = new Gate();
  say(gate, modern("server/discover"));
  expect(eraOf(say(gate, initialize()))).toBe("legacy");
  expect(eraOf(say(gate, request("tools/list")))).toBe("legacy");
});

test("parameters of the wrong kind are named", () => {
  const gate = legacyGate();
  const cases = [
    ["tools/list", { cursor: 5 }, "cursor must be a string"],
    ["tools/call", {}, "name must be a string"],
    ["tools/call", { name: "lease_status", arguments: null }, "arguments must be an object"],
    ["tools/call", { name: "lease_status", arguments: [] }, "arguments must be an object"],
    ["tools/call", { name: "x", _meta: 5 }, "_meta must be an object"],
    ["tools/call", { name: "x", _meta: { progressToken: {} } }, "_meta.progressToken must be a string or an integer"],
    ["resources/read", {}, "uri must be a string"],
    ["logging/setLevel", { level: "loud" }, "level must be one of debug, info"],
  ] as const;
  for (const [method, params, why] of cases) {
    const error = errorOf(say(gate, request(method, params)));
    expect(error).toMatchObject({ id: 1, code: -32602 });
    expect(error.message).toContain(why);
  }
  expect(errorOf(say(gate, { jsonrpc: "2.0", id: 1, method: "tools/list", params: [] }))).toMatchObject({
    code: -32602,
  });
});

test("notifications are never answered", () => {
  for (const gate of [new Gate(), legacyGate(), modernGate()]) {
    for (const params of [
      {},
      { requestId: 1 },
      { _meta: META },
      { _meta: { [VERSION]: "2027-01-01" } },
      { _meta: 5 },
    ]) {
      const verdict = say(gate, { jsonrpc: "2.0", method: "notifications/cancelled", params });
      expect(verdict.kind).not.toBe("answer");
    }
  }
  expect(eraOf(say(legacyGate(), { jsonrpc: "2.0", method: "notifications/initialized" }))).toBe("legacy");
  expect(eraOf(say(new Gate(), { jsonrpc: "2.0", method: "notifications/initialized" }))).toBe("drop");
});

test("members that JSON-RPC does not know are left out", () => {
  const verdict = say(legacyGate(), { ...request("tools/list"), extra: 1 });
  expect(verdict).toEqual({ kind: "deliver", era: "legacy", message: request("tools/list") });
});

test("whatever comes, a request is answered under its own id or delivered, once, and nothing throws", () => {
  const meta = fc.option(fc.record({ [VERSION]: fc.constantFrom("2026-07-28", "2025-11-25", 5, null) }), {
    nil: undefined,
  });
  const message = fc.record(
    {
      jsonrpc: fc.constantFrom("2.0", "1.0"),
      id: fc.oneof(fc.integer(), fc.string(), fc.constant(null), fc.double()),
      method: fc.constantFrom("initialize", "ping", "tools/list", "tools/call", "server/discover", "__proto__", 7),
      params: fc.oneof(fc.jsonValue(), fc.record({ _meta: meta })),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(message, fc.jsonValue()), { maxLength: 12 }), (messages) => {
      const gate = new Gate();
      for (const each of messages) {
        const verdict = say(gate, each);
        if (verdict.kind === "answer") {
          const { id } = verdict.reply;
          expect(id === null || id === (each as { id?: unknown }).id).toBe(true);
        }
      }
    }),
    { numRuns: 500 },
  );
  fc.assert(fc.property(fc.uint8Array(), (bytes) => void new Gate().judge(Buffer.from(bytes))));
});
