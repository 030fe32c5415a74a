import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { leaseGrant } from "./grant.fixture.ts";
import { fakeDaemon } from "./testing.ts";

test(
  "the manual's example runs as it is written: leases, runs, prints, releases, ends",
  { timeout: 60_000 },
  async () => {
    const manual = readFileSync(join(import.meta.dirname, "../../docs/client.md"), "utf8");
    const example = /```js\n([\s\S]*?)```/.exec(manual)?.[1] ?? "";
    expect(example).toContain("connectSimlock");
    await using daemon = await fakeDaemon({
      "lease.request": (_input, call) => {
        call.push("progress", { progress: { stage: "booting", etaMs: 1 } });
        return leaseGrant("lse_1");
      },
      "device.exec": (_input, call) => {
        call.push("output", { stream: "stdout", chunk: "com.example.app\n" });
        return { exitCode: 3 };
      },
      "lease.release": ({ leaseId }) => ({ leaseId }),
    });
    const folder = mkdtempSync("/tmp/sl-docs-");
    try {
      const file = join(folder, "example.mjs");
      const library = join(import.meta.dirname, "index.ts");
      writeFileSync(file, example.replace('"simlock/client"', JSON.stringify(library)));
      const child = spawn(process.execPath, [file], {
        env: { SIMLOCK_HOME: dirname(daemon.socketPath) },
        stdio: ["ignore", "pipe", "pipe"],
        timeout: 50_000,
      });
      let stdout = "";
      let stderr = "";
      child.stdout.on("data", (chunk) => (stdout += String(chunk)));
      child.stderr.on("data", (chunk) => (stderr += String(chunk)));
      const [code] = await once(child, "close");
      expect([code, stdout, stderr]).toEqual([0, "com.example.app\n", "booting\nsimctl ended with 3 on iPhone 17\n"]);
      expect(daemon.frames.map((frame) => frame.type)).toEqual([
        "hello",
        "lease.request",
        "device.exec",
        "lease.release",
      ]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
