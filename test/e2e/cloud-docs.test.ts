import { readFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runTour } from "../support/tour.ts";

/** What docs/cloud.md and docs/http.md show, run as it stands there, and what they say that comes of it. */

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
