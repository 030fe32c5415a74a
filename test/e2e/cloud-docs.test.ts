import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { CloudTest } from "../support/cloud-server.ts";
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

test("a server whose platform is away lives and is not ready, and writes what LOG_LEVEL lets through and the audit", async () => {
  const [port, away] = [await freePort(), await freePort()];
  const child = cloud.start(["--http"], {
    PORT: port,
    LOG_LEVEL: "error",
    MOBILERUN_BASE_URL: `http://127.0.0.1:${away}/v1`,
  });
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (said += text));
  const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`).then(({ status }) => status);
  await until(() =>
    get("/health")
      .then((status) => status === 200)
      .catch(() => false),
  );
  expect(await get("/ready")).toBe(503);
  await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: "POST",
    headers: {
      authorization: "Bearer dr_sk_try",
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
    },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"no_such_tool","arguments":{}}}',
  });
  child.kill("SIGTERM");
  const [code] = (await once(child, "close")) as [number | null];
  expect(code).toBe(0);
  expect(
    said
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown),
  ).toMatchObject([{ type: "mcp.tool_call", outcome: "denied", code: "not_found" }]);
});
