import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterAll, expect, test } from "vitest";
import { TestHome } from "../support/virtual-home.ts";

const home = new TestHome();
afterAll(() => home.close());

test("the demo shows the main job, and leaves nothing running or on disk", { timeout: 120_000 }, async () => {
  const demos = () => readdirSync(tmpdir()).filter((name) => name.startsWith("simlock-demo-"));
  const before = demos();
  const { code, stdout } = await home.run(["demo"], { timeoutMs: 110_000 });
  expect(code).toBe(0);
  for (const said of ["Anna", "Ben", "Carol", "refused", "Nobody holds anything", "no process of it runs"]) {
    expect(stdout).toContain(said);
  }
  expect(demos()).toEqual(before);
});
