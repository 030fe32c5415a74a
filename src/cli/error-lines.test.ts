import { execFileSync } from "node:child_process";
import { constants, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { until } from "../../test/support/until.ts";
import { linesTo } from "./error-lines.ts";

const folder = mkdtempSync(join(tmpdir(), "sl-lines-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A pipe that nobody reads but the test. */
function pipe(): { readonly fd: number; read(): string } {
  const path = join(folder, "pipe");
  execFileSync("mkfifo", [path]);
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const buffer = Buffer.alloc(1 << 20);
  const read = (): string => {
    try {
      return buffer.toString("utf8", 0, readSync(fd, buffer));
    } catch {
      return "";
    }
  };
  return { fd, read };
}

test("a reader that stalls holds nobody up, loses what does not fit, and is told how much that was", async () => {
  const { fd, read } = pipe();
  const lines = linesTo(fd, 100_000);
  const WRITTEN = 5_000;
  for (let n = 0; n < WRITTEN; n += 1) lines.write({ n, filler: "x".repeat(100) });
  let heard = "";
  await until(() => (heard += read()).includes("lines_lost"));
  await lines.close();
  heard += read();
  const told = heard
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { n?: number; type?: string; lost?: number });
  const kept = told.flatMap(({ n }) => (n === undefined ? [] : [n]));
  const lost = told.reduce((sum, line) => sum + (line.lost ?? 0), 0);
  expect(kept).toEqual(kept.map((_, at) => at));
  expect(lost).toBeGreaterThan(0);
  expect(kept.length + lost).toBe(WRITTEN);
});
