import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { CloudTest, type AuditLine } from "../support/cloud-server.ts";
import { runTour } from "../support/tour.ts";
import { until } from "../support/until.ts";

/** What docs/cloud.md and docs/http.md show, run as it stands there, and what they say that comes of it. */

const cloud = new CloudTest();
afterAll(() => cloud.close());

async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

/** The lines that a page shows as answers; `…` stands for anything within a line. */
function linesShown(page: string): string[] {
  const text = readFileSync(join(import.meta.dirname, "..", "..", page), "utf8");
  return [...text.matchAll(/^```text\n([\s\S]*?)^```$/gm)].flatMap(([, block = ""]) => block.trim().split("\n"));
}

/** Those that did not come, in their order. */
function missing(shown: readonly string[], lines: readonly string[]): string[] {
  let from = 0;
  return shown.filter((line) => {
    const parts = line.split("…").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
    const like = new RegExp(`^${parts.join(".*")}$`);
    const found = lines.findIndex((came, at) => at >= from && like.test(came));
    if (found >= 0) from = found + 1;
    return found < 0;
  });
}

test.each([
  ["docs/cloud.md", 7],
  ["docs/http.md", 3],
])("every block of %s does what it says", { timeout: 180_000 }, async (page, count) => {
  const { blocks, status, stdout, stderr } = runTour(page, { 8793: await freePort() });
  expect(blocks).toBe(count);
  expect(stderr).toBe("");
  expect(status).toBe(0);
  expect(
    missing(
      linesShown(page),
      stdout.split("\n").map((line) => line.trim()),
    ),
  ).toEqual([]);
});

test("a server whose platform is away lives, is not ready, and at LOG_LEVEL=error writes audit lines alone, which tell keys apart", async () => {
  const [port, away] = [await freePort(), await freePort()];
  const child = cloud.start(["--http"], {
    PORT: port,
    LOG_LEVEL: "error",
    MOBILERUN_BASE_URL: `http://127.0.0.1:${away}/v1`,
  });
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (said += text));
  const url = `http://127.0.0.1:${port}`;
  const statusOf = (path: string) => fetch(`${url}${path}`).then(({ status }) => status);
  await until(() =>
    statusOf("/health")
      .then((status) => status === 200)
      .catch(() => false),
  );
  expect(await statusOf("/ready")).toBe(503);
  for (const key of ["dr_sk_one", "dr_sk_two", "dr_sk_one"]) {
    const headers = {
      authorization: `Bearer ${key}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
    };
    const body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"no_such_tool","arguments":{}}}';
    await fetch(`${url}/mcp`, { method: "POST", headers, body });
  }
  child.kill("SIGTERM");
  expect(await once(child, "close")).toEqual([0, null]);
  const lines = said.trim().split("\n");
  const audit = lines.map((line) => JSON.parse(line) as Partial<AuditLine>);
  expect(audit.map(({ type, outcome, code }) => [type, outcome, code].join(" "))).toEqual([
    "mcp.tool_call denied not_found",
    "mcp.tool_call denied not_found",
    "mcp.tool_call denied not_found",
  ]);
  const [one, two, again] = audit.map(({ auth }) => auth?.subject);
  expect(one).toBe(again);
  expect(one).not.toBe(two);
});
