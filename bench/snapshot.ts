import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createReader, simctlRunner, type RunSimctl, type SimctlRun } from "../src/state/index.ts";
import { createVirtualMac, makeSampleApp, setFaults, virtualXcrun } from "../src/virtual/index.ts";
import { atMost, percentile, type Figure } from "./figure.ts";

const APPS = 60;
const ROUNDS = 15;
const WARM_UP = 2;
const DOMAINS = ["com.bench.app0", "com.bench.app1"];
/** As measured on a Mac, where simctl mostly waits for CoreSimulator. */
const PACE = { pace: "real" } as const;

/** A snapshot of a booted simulator with many apps, against the very commands that it runs, one after another. */
export async function snapshotFigures(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "slb-"));
  try {
    const mac = createVirtualMac(join(folder, "mac"), { pace: "none" });
    const run = simctlRunner({ xcrun: virtualXcrun(mac.root), env: process.env });
    const udid = await prepared(run, folder);
    setFaults(mac.root, PACE);
    const commands: SimctlRun[] = [];
    const reader = createReader((command) => {
      commands.push(command);
      return run(command);
    });
    const floor: number[] = [];
    const ours: number[] = [];
    for (let round = -WARM_UP; round < ROUNDS; round += 1) {
      commands.length = 0;
      const together = await timed(() => reader.snapshot({ udid, domains: DOMAINS }));
      const asked = commands.map(({ args, timeoutMs }) => ({ args, timeoutMs }));
      const apart = await timed(async () => {
        for (const command of asked) await run(command);
      });
      if (round < 0) continue;
      ours.push(together);
      floor.push(apart);
    }
    return [
      atMost(
        `snapshot of a booted simulator with ${APPS} apps, p50`,
        "its reads one after another",
        percentile(floor, 0.5),
        percentile(ours, 0.5),
        0.5,
      ),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function prepared(run: RunSimctl, folder: string): Promise<string> {
  const simctl = async (...args: readonly string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await run({ args, timeoutMs: 60_000 });
    if (exitCode !== 0) throw new Error(`simctl ${args.join(" ")}: ${stderr}`);
    return stdout.trim();
  };
  const udid = await simctl("create", "bench", "iPhone 17");
  await simctl("bootstatus", udid, "-b");
  for (let at = 0; at < APPS; at += 1) {
    await simctl("install", udid, makeSampleApp(folder, { bundleId: `com.bench.app${at}`, name: `App ${at}` }));
  }
  for (const domain of DOMAINS) await simctl("spawn", udid, "defaults", "write", domain, "seen", "-bool", "true");
  return udid;
}

async function timed(call: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await call();
  return performance.now() - started;
}
