import { z } from "zod";
import { defineTool, fullAccessPolicy, type GateContext, type Tool, type ToolCallEvent } from "../../tool/index.ts";
import { FakeClock } from "../test-support.ts";
import { MODERN_META } from "../peer.fixture.ts";
import type { Toolset } from "../toolset.ts";
import { CLOUD_CREDENTIALS } from "./credential.ts";
import { readHttpEnvironment } from "./environment.ts";
import { serveMcpOverHttp, type McpHttpOptions } from "./serve-toolset.ts";

export const KEY = "dr_sk_0123456789";

/** A call of `wait_for_it` that is under way. */
export interface Waiting {
  readonly signal: AbortSignal;
  readonly answerWithinMs: number | undefined;
  readonly progress: ((report: { progress: number; message: string }) => void) | undefined;
  readonly finish: () => void;
}

/** A server with a few tools on a free port, whose clock stands still, and what a test needs to look into it. */
export async function served(env: Readonly<Record<string, string>> = {}, more: Partial<McpHttpOptions> = {}) {
  const clock = new FakeClock();
  const audit: ToolCallEvent[] = [];
  const lines: { level: string; event: string; fields: object | undefined }[] = [];
  const waiting: Waiting[] = [];
  const arrivals: (() => void)[] = [];
  const tools = toolsOf((call) => {
    waiting.push(call);
    for (const tell of arrivals.splice(0)) tell();
  });
  const toolset: Toolset = {
    title: "Test",
    instructions: "Echo, wait, delete.",
    tools,
    resources: [
      { name: "guide", uri: "test://guide", title: "Guide", description: "How.", mimeType: "text/plain", text: "Do." },
    ],
    close: async () => {},
  };
  const gate: GateContext = {
    auth: { kind: "api_key", subject: "test" },
    policy: fullAccessPolicy(tools),
    onToolCall: (event) => void audit.push(event),
    mustConfirm: new Set(["destructive"]),
  };
  const service = await serveMcpOverHttp({
    environment: readHttpEnvironment({ PORT: "0", ...env }),
    toolset,
    version: "1.2.3",
    credentials: CLOUD_CREDENTIALS,
    contextOf: (credential) => (credential?.kind === "api_key" ? { gate } : undefined),
    log: (level, event, fields) => void lines.push({ level, event, fields }),
    clock,
    ...more,
  });
  const post = (body: unknown, headers: Readonly<Record<string, string>> = {}, signal?: AbortSignal) =>
    fetch(service.url, {
      method: "POST",
      headers: { ...HEADERS, ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });
  /** The next call of `wait_for_it` that has begun and not been asked for yet. */
  const arrived = async (): Promise<Waiting> => {
    for (;;) {
      const next = waiting.shift();
      if (next !== undefined) return next;
      await new Promise<void>((resolve) => arrivals.push(resolve));
    }
  };
  return { ...service, clock, audit, lines, post, arrived };
}

export const HEADERS = {
  authorization: `Bearer ${KEY}`,
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
} as const;

/** A request of the modern era, with the headers that belong to it. */
export function modern(method: string, params: Readonly<Record<string, unknown>> = {}, id: number | string = 1) {
  const { _meta = {}, ...rest } = params;
  const named = typeof rest["name"] === "string" ? { "mcp-name": rest["name"] } : {};
  return {
    body: { jsonrpc: "2.0", id, method, params: { ...rest, _meta: { ...MODERN_META, ...(_meta as object) } } },
    headers: { "mcp-protocol-version": "2026-07-28", "mcp-method": method, ...named },
  };
}

export const legacy = (method: string, params: object = {}, id: number | string = 1) => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});

function toolsOf(begun: (call: Waiting) => void): readonly Tool[] {
  return [
    defineTool({
      name: "echo",
      title: "Echo",
      description: "Says it back.",
      effects: ["read"],
      input: z.strictObject({ text: z.string() }),
      output: z.object({ text: z.string() }),
      handle: async ({ text }) => ({ text }),
    }),
    defineTool({
      name: "wait_for_it",
      title: "Wait",
      description: "Waits to be told.",
      effects: ["read"],
      input: z.strictObject({}),
      output: z.object({ waited: z.boolean() }),
      handle: (_input, { signal, progress, answerWithinMs }) =>
        new Promise((resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Error("aborted")));
          begun({ signal, progress, answerWithinMs, finish: () => resolve({ waited: true }) });
        }),
    }),
    defineTool({
      name: "delete_it",
      title: "Delete",
      description: "Deletes it.",
      effects: ["destructive"],
      input: z.strictObject({}),
      output: z.object({ deleted: z.boolean() }),
      handle: async () => ({ deleted: true }),
    }),
    defineTool({
      name: "break",
      title: "Break",
      description: "Fails unexpectedly.",
      effects: ["read"],
      input: z.strictObject({}),
      output: z.object({}),
      handle: async () => {
        throw new TypeError(`secret ${KEY}`);
      },
    }),
  ] as readonly Tool[];
}
