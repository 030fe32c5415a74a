import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLog, fileDestination } from "./log.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync("/tmp/sll-");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const lines = (path: string): Record<string, unknown>[] =>
  readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

test("each line is JSON with time, level, module and message; errors keep their cause", async () => {
  const path = join(root, "daemon.log");
  const log = createLog("info", fileDestination(path, 1_000_000));
  log.of("loop").debug("not told");
  log.of("loop").error({ error: new Error("outer", { cause: new Error("inner") }), leaseId: "lse_1" }, "failed");
  await log.close();
  expect(lines(path)).toEqual([
    expect.objectContaining({
      timestamp: expect.any(Number),
      level: "error",
      module: "loop",
      message: "failed",
      leaseId: "lse_1",
      error: expect.objectContaining({ message: "outer", cause: expect.objectContaining({ message: "inner" }) }),
    }),
  ]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("the file is rotated at its size, one old generation is kept, and no line is lost but by age", async () => {
  const path = join(root, "daemon.log");
  let last = 0;
  for (let round = 0; round < 40; round++) {
    const log = createLog("info", fileDestination(path, 4096));
    for (let index = 0; index < 10; index++) log.of("test").info({ index: last++ }, "x".repeat(100));
    await log.close();
  }
  const kept = [...lines(`${path}.1`), ...lines(path)].map((line) => line["index"]);
  expect(kept.length).toBeGreaterThan(20);
  expect(kept.length).toBeLessThan(200);
  expect(kept).toEqual(Array.from({ length: kept.length }, (_, index) => last - kept.length + index));
});

test("last words are on disk when flush returns", () => {
  const path = join(root, "daemon.log");
  const log = createLog("info", fileDestination(path, 1_000_000));
  log.of("a").info("first");
  log.of("a").info("last");
  log.flush();
  expect(readFileSync(path, "utf8")).toContain("last");
});
