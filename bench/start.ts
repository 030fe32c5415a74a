import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { build } from "tsdown";
import { memoryOf, residentOf, Workshop } from "./child.ts";
import { atMost, percentile, type Figure } from "./figure.ts";

const ROUNDS = 21;
const root = join(import.meta.dirname, "..");
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
};

/** How soon `simlock mcp` answers for the first time, and what it and the daemon keep in memory while nobody asks for anything. */
export async function startFigures(): Promise<Figure[]> {
  const shop = new Workshop();
  try {
    await build({
      config: false,
      cwd: root,
      entry: { floor: "bench/two-tool-server.ts" },
      outDir: join(shop.folder, "floor"),
      platform: "node",
      target: "node24",
      minify: true,
      fixedExtension: false,
      dts: false,
      report: false,
      logLevel: "error",
      noExternal: () => true,
      inlineOnly: false,
    });
    const floors: number[] = [];
    const ours: number[] = [];
    const floor = [join(shop.folder, "floor", "floor.js")];
    const mcp = [join(root, "bin", "simlock.js"), "mcp"];
    const env = { PATH: process.env["PATH"] ?? "", HOME: shop.folder, SIMLOCK_HOME: join(shop.folder, "h") };
    for (let round = -2; round < ROUNDS; round += 1) {
      const a = await firstAnswer(floor, env);
      const b = await firstAnswer(mcp, env);
      a.child.kill("SIGKILL");
      b.child.kill("SIGKILL");
      if (round < 0) continue;
      floors.push(a.took);
      ours.push(b.took);
    }
    const idle = await firstAnswer(mcp, env);
    const daemon = spawn(process.execPath, [join(root, "bin", "simlock.js"), "daemon", "start"], {
      env: { ...env, SIMLOCK_VIRTUAL: "1" },
      stdio: "ignore",
    });
    await once(daemon, "exit");
    const daemonPid = await statusPid({ ...env, SIMLOCK_VIRTUAL: "1" });
    await settle();
    const figures = [
      atMost(
        "simlock mcp, start to first answer, p50",
        "a bundled two-tool server",
        percentile(floors, 0.5),
        percentile(ours, 0.5),
        1.2,
      ),
      memory("idle memory, MCP process", idle.child.pid ?? 0, 75),
      memory("idle memory, daemon", daemonPid, 110),
    ];
    idle.child.kill("SIGKILL");
    process.kill(daemonPid, "SIGTERM");
    return figures;
  } finally {
    await shop.close();
  }
}

function memory(name: string, pid: number, limit: number): Figure {
  const resident = residentOf(pid) / 1_000_000;
  return {
    name,
    floor: `proportional share: ${(memoryOf(pid) / 1_000_000).toFixed(0)} MB`,
    value: `${resident.toFixed(0)} MB resident`,
    ratio: "–",
    goal: `< ${limit} MB`,
    met: resident < limit,
  };
}

async function firstAnswer(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ readonly child: ChildProcess; readonly took: number }> {
  const started = performance.now();
  const child = spawn(process.execPath, [...args], { env, stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.on("error", () => {});
  child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
  await once(child.stdout, "data");
  return { child, took: performance.now() - started };
}

async function statusPid(env: Readonly<Record<string, string>>): Promise<number> {
  const child = spawn(process.execPath, [join(root, "bin", "simlock.js"), "status", "--json"], {
    env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  await once(child, "close");
  return (JSON.parse(text) as { daemon: { pid: number } }).daemon.pid;
}

/** Idle is after the work of starting: garbage is collected and the machine has been read. */
function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5_000));
}
