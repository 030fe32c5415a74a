import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ERRORS, isErrorCode } from "../contract/index.ts";
import { FakeClock } from "./test-support.ts";
import { leaseTools } from "./lease-tools.ts";
import { McpSession, NO_LEASE_MESSAGE } from "./session.ts";

const manual = readFileSync(join(import.meta.dirname, "../../docs/mcp.md"), "utf8");
const blocks = [...manual.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json]) => JSON.parse(json ?? "") as object);
const clock = new FakeClock();
const tools = leaseTools(new McpSession({ connect: () => Promise.reject(new Error("no daemon")), clock }), clock);

test("the manual's table names each tool with the inputs that it takes", () => {
  const rows = [...manual.matchAll(/^\| `(\w+)` +\| ([^|]*)\|/gm)].map(([, name, input]) => [
    name,
    [...(input ?? "").matchAll(/`(\w+)`(\??)/g)].map(([, field, optional]) => [field, optional === "?"]),
  ]);
  expect(rows).toEqual(
    tools.map((tool) => [
      tool.name,
      Object.entries(tool.input.shape).map(([field, schema]) => [field, schema.safeParse(undefined).success]),
    ]),
  );
});

test("each configuration in the manual starts `mcp`", () => {
  const servers = blocks.flatMap((block) =>
    "mcpServers" in block || "servers" in block ? Object.values(Object.values(block)[0] as object) : [],
  );
  expect(servers).toHaveLength(4);
  for (const server of servers as { command: string; args: string[] }[]) {
    expect(["simlock", "node"]).toContain(server.command);
    expect(server.args.at(-1)).toBe("mcp");
  }
});

test("the manual's command is one that run_on_device takes, and its error the one that it gives", () => {
  const run = tools.find(({ name }) => name === "run_on_device");
  expect(blocks.filter((block) => run?.input.safeParse(block).success)).toHaveLength(1);
  expect(blocks).toContainEqual({ code: "NO_LEASE", message: NO_LEASE_MESSAGE });
});

test("the manual names no error code that there is not", () => {
  const codes = [...manual.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, code]) => code ?? "");
  const variables = new Set(["SIMLOCK_AGENT_ID", "CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID", "MCP_TOOL_TIMEOUT"]);
  expect(codes.filter((code) => !isErrorCode(code) && !variables.has(code))).toEqual([]);
  expect(codes.filter((code) => code in ERRORS).length).toBeGreaterThan(3);
});
