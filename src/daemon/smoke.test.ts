import { afterEach, beforeEach, expect, test } from "vitest";
import { at, TestBench, text } from "./daemon.fixture.ts";

let bench: TestBench;
beforeEach(() => {
  bench = new TestBench();
});
afterEach(async () => bench.close());

test("an agent leases a device, runs on it, and gives it back", async () => {
  const { daemon, agent } = await bench.start();
  await daemon.running;
  const client = await agent("a");
  const grant = await client.ok("lease.request", { platform: "ios", model: "iphone 17" });
  const leaseId = text(grant, "lease", "id");
  const run = await client.ok("device.exec", {
    leaseId,
    tool: "simctl",
    args: ["spawn", "/bin/sh", "-c", "echo out; echo err >&2; exit 3"],
    keepLast: 100,
  });
  expect(run).toMatchObject({ exitCode: 3, stdout: "out\n", stderr: "err\n", truncated: false });
  expect(at(await client.ok("lease.release", { leaseId }), "leaseId")).toBe(leaseId);
});
