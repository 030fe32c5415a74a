import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { ADBD_ROOTFS, ADBD_RUN, adbdAvailable } from "../scripts/adbd/available.ts";
import { atMost, percentile, type Figure } from "./figure.ts";

const ROUNDS = 200;
const WARM_UP = 30;
const SERIAL = "emulator-5554";
const simlock = join(import.meta.dirname, "..", "bin", "simlock.js");

/** One command on a device, over MCP, daemon and adb, against the same command spawned by Node. It runs in a bed with a real adbd. */
export function runOnDeviceFigures(): Figure[] {
  const able = adbdAvailable();
  if (!able.ok) {
    process.stderr.write(`left out: run_on_device: ${able.why}\n`);
    return [];
  }
  const { stdout, status } = spawnSync(ADBD_RUN, [ADBD_ROOTFS, "1", process.execPath, import.meta.filename], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) throw new Error(`the bed ended with ${status}`);
  const { floor, ours } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as { floor: number[]; ours: number[] };
  return [
    atMost(
      "run_on_device over MCP, adb shell true, p50",
      "spawned directly by Node",
      percentile(floor, 0.5),
      percentile(ours, 0.5),
      1.3,
    ),
  ];
}

async function measure(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "slb-"));
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: process.env["HOME"] ?? "/",
    SIMLOCK_HOME: join(folder, "h"),
    SIMLOCK_AGENT_ID: "bench",
  };
  const cli = (...args: string[]) => {
    const { status, stderr } = spawnSync(process.execPath, [simlock, ...args], { env, encoding: "utf8" });
    if (status !== 0) throw new Error(`simlock ${args.join(" ")}: ${stderr}`);
  };
  spawnSync("adb", ["start-server"], { env });
  spawnSync("adb", ["-s", SERIAL, "wait-for-device"], { env });
  cli("device", "add", SERIAL, "--shared");
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [simlock, "mcp"], env }));
  const call = (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args });
  await call("lease_simulator", { platform: "android" });
  const floor: number[] = [];
  const ours: number[] = [];
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    const plain = await timed(() => spawned("adb", ["-s", SERIAL, "shell", "true"], env));
    const mcp = await timed(() => call("run_on_device", { tool: "adb", args: ["shell", "true"] }));
    if (round < 0) continue;
    floor.push(plain);
    ours.push(mcp);
  }
  await client.close();
  cli("daemon", "stop");
  rmSync(folder, { recursive: true, force: true });
  process.stdout.write(`${JSON.stringify({ floor, ours })}\n`);
}

async function timed(call: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await call();
  return performance.now() - started;
}

function spawned(file: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, [...args], { env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    child.stdout.resume();
    child.stderr.resume();
    child.on("error", reject);
    child.on("close", () => resolve());
  });
}

if (process.argv[1] === import.meta.filename) await measure();
