import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { cloudOverHttp, cloudOverStdio } from "../../src/cli/commands/cloud-mcp.ts";

/** What the cloud server reads of its environment is in the documents, with its default. */

/** The names that a start asks for. It ends where the policy file is read, before anything is served. */
async function readsOf(start: typeof cloudOverHttp): Promise<Set<string>> {
  const read = new Set<string>();
  const given: Record<string, string> = { MCP_POLICY_FILE: "/nowhere.yaml", MOBILERUN_CLOUD_API_KEY: "dr_sk_x" };
  const env = new Proxy(given, {
    get: (target, name) => {
      read.add(String(name));
      return Reflect.get(target, name) as unknown;
    },
  });
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const context = { home: { path: "/nowhere", virtual: false }, io: { env, stdin, stdout, stderr, cwd: "/" } };
  expect(await start(context as never)).toBe(1);
  expect(String(stderr.read())).toContain("/nowhere.yaml can't be read");
  return read;
}

const rowsOf = (page: string): Map<string, string> => {
  const text = readFileSync(join(import.meta.dirname, "..", "..", "docs", page), "utf8");
  return new Map([...text.matchAll(/^\| `([A-Z_]+)`\s*\| (\S+)/gm)].map(([, name = "", value = ""]) => [name, value]));
};

test("every variable that the HTTP server reads is in its table", async () => {
  const rows = rowsOf("http.md");
  expect([...(await readsOf(cloudOverHttp))].filter((name) => !rows.has(name))).toEqual([]);
  expect(rows.get("MCP_POLICY_PROFILE")).toBe("`no-commerce`");
  expect(rows.get("SIMLOCK_VIRTUAL")).toBe("`0`");
});

test("every variable that the server on stdio reads is in its table, or in that of the checks which it shares", async () => {
  const [rows, shared] = [rowsOf("cloud.md"), rowsOf("http.md")];
  const read = await readsOf(cloudOverStdio);
  expect([...read].filter((name) => !rows.has(name) && !shared.has(name))).toEqual([]);
  for (const name of ["MOBILERUN_CLOUD_API_KEY", "MOBILERUN_BASE_URL", "MCP_POLICY_FILE"]) {
    expect([name, read.has(name), rows.has(name)]).toEqual([name, true, true]);
  }
});
