import { readdirSync } from "node:fs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PROCESS_TEST_MS, TestHome } from "../cli.fixture.ts";
import { processesNaming } from "../daemon-process.ts";

vi.setConfig({ testTimeout: PROCESS_TEST_MS, hookTimeout: PROCESS_TEST_MS });

/** Only its folder for temporary files is used: the demo makes a home of its own in it. */
let home: TestHome;
beforeEach(() => {
  home = new TestHome();
});
afterEach(() => home.dispose());

const leftIn = (folder: string) => readdirSync(folder).filter((name) => name.startsWith("simlock-"));

test("it plays to its end, says what happened, and leaves no process and no file", async () => {
  const done = await home.run(["demo"], { env: { TMPDIR: home.folder } });
  expect(done).toMatchObject({ code: 0, stderr: "" });
  for (const part of [
    "Anna speaks 2026-07-28, Ben 2025-11-25",
    "PASSTHROUGH_REFUSED",
    "PNG of 1206 by 2622",
    "Next in queue",
    "Secret.app is not there",
    "Checked:",
  ]) {
    expect(done.stdout).toContain(part);
  }
  expect(leftIn(home.folder)).toEqual([]);
  expect(await processesNaming(home.folder)).toEqual([]);
});

test.each(["A daemon starts", "at the same time"])("interrupted after %j it cleans up and says so", async (moment) => {
  const demo = home.start(["demo"], { env: { TMPDIR: home.folder } });
  await demo.said("stdout", moment);
  demo.child.kill("SIGINT");
  const done = await demo.done;
  expect(done).toMatchObject({ code: 130, stdout: expect.stringContaining("Interrupted") });
  expect(leftIn(home.folder)).toEqual([]);
  expect(await processesNaming(home.folder)).toEqual([]);
});
