import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";

/** The library as an outside host has it: by its name, from the built package. */

const root = join(import.meta.dirname, "..", "..");
// Within the package, which can then import itself by its name.
mkdirSync(join(root, ".cache"), { recursive: true });
const folder = mkdtempSync(join(root, ".cache", "host-"));
afterAll(() => rmSync(folder, { recursive: true }));

const write = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const manual = readFileSync(join(root, "docs", "cloud-tools.md"), "utf8");

test("the manual's example runs as it is written", () => {
  const example = write("example.mjs", /```js\n([\s\S]*?)```/.exec(manual)?.[1] ?? "");
  const { status, stdout, stderr } = spawnSync(process.execPath, [example], { encoding: "utf8", timeout: 30_000 });
  const [initialized = "", listed = "", ...rest] = stdout.trim().split("\n");
  expect([status, JSON.parse(initialized), JSON.parse(listed)]).toMatchObject([
    0,
    { protocolVersion: "2025-11-25", serverInfo: { name: "simlock" } },
    { structuredContent: { items: [{ id: "phone-1", name: "Pixel", state: "ready" }] } },
  ]);
  expect(rest).toEqual([]);
  expect(JSON.parse(stderr)).toMatchObject({
    toolName: "list_devices",
    outcome: "ok",
    auth: { kind: "machine", subject: "ci-7", ownerId: "acme" },
  });
});

test("a host in TypeScript compiles against its declarations, and is told of what is missing", () => {
  const head = `import { buildMcpServer, createAuthContext, fullAccessPolicy, type Backend, type ports, type ToolCtx } from "simlock/cloud-tools";
import type { McpServer } from "@modelcontextprotocol/server";
declare const backend: Backend;
const auth = createAuthContext({ kind: "api_key", subject: "k" });
`;
  const wrapping = /```ts\n([\s\S]*?)```/.exec(manual)?.[1]?.replace("(server)", "(server: any)") ?? "";
  write(
    "good.mts",
    `${head}declare const calls: { inc(labels: object): void };
${wrapping}
const ctx: ToolCtx = { backend, auth, policy: fullAccessPolicy() };
export const server: McpServer = buildMcpServer(ctx, opts);
export const state: ports.DeviceState = "ready";
`,
  );
  write("bad.mts", `${head}export const server = buildMcpServer({ backend, auth });\n`);
  const { stdout } = spawnSync(
    process.execPath,
    [
      join(root, "node_modules", "typescript", "bin", "tsc"),
      ...["--ignoreConfig", "--noEmit", "--strict", "--skipLibCheck", "--target", "es2024", "--noImplicitAny", "false"],
      ...["--module", "nodenext", "--types", "node", "good.mts", "bad.mts"],
    ],
    { cwd: folder, encoding: "utf8" },
  );
  expect(stdout.match(/^\w+\.mts.*$/gm)).toEqual([expect.stringMatching(/^bad\.mts\(5,/)]);
  expect(stdout).toContain("Property 'policy' is missing");
});

test("no HTTP framework and no client of the platform is in it", () => {
  const texts = new Map<string, string>();
  const outside = new Set<string>();
  const walk = (file: string): void => {
    if (texts.has(file)) return;
    const text = readFileSync(join(root, "dist", file), "utf8");
    texts.set(file, text);
    for (const [, name = ""] of text.matchAll(/(?:from|import\(|import)\s*"([^"\s]+)"/g)) {
      if (name.startsWith("./")) walk(name.slice(2));
      else outside.add(name);
    }
  };
  walk("cloud-tools.js");
  expect([...outside].filter((name) => !name.startsWith("node:")).toSorted()).toEqual([
    "@modelcontextprotocol/server",
    "zod",
  ]);
  expect([...outside].filter((name) => /^node:(https?|http2|net|tls|child_process)$/.test(name))).toEqual([]);
  const platform = /\bfetch\(|api\.mobilerun\.ai|x-mobilerun-cloud-api-key/i;
  expect([...texts].filter(([, text]) => platform.test(text)).map(([file]) => file)).toEqual([]);
});
