import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { runCommand } from "../src/exec/index.ts";
import { ms, percentile, times, type Figure } from "./figure.ts";

const BYTES = 200_000_000;
const ROUNDS = 7;
const COMMAND = ["head", "-c", String(BYTES), "/dev/zero"] as const;

/** A flood of output: against the same child drained by Node and thrown away. */
export async function outputFigures(): Promise<Figure[]> {
  const floor: number[] = [];
  const measured: number[] = [];
  let extra = 0;
  for (let round = 0; round <= ROUNDS; round += 1) {
    const plain = await drained();
    const before = process.memoryUsage.rss();
    let peak = before;
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 5);
    const ours = await throughTheRoom();
    clearInterval(watch);
    // The first round grows the heap for both.
    if (round === 0) continue;
    floor.push(plain);
    measured.push(ours);
    extra = Math.max(extra, peak - before);
  }
  const ratio = percentile(floor, 0.5) / percentile(measured, 0.5);
  const megabytes = extra / 1_000_000;
  return [
    {
      name: "200 MB of output through the exec room",
      floor: `drained by Node: ${ms(percentile(floor, 0.5))}`,
      value: ms(percentile(measured, 0.5)),
      ratio: times(ratio),
      goal: "≥ 0.8×",
      met: ratio >= 0.8,
    },
    {
      name: "extra memory for it",
      floor: "–",
      value: `${megabytes.toFixed(1)} MB`,
      ratio: "–",
      goal: "< 20 MB",
      met: megabytes < 20,
    },
  ];
}

function drained(): Promise<number> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const [file, ...args] = COMMAND;
    const child = spawn(file, args, { stdio: ["ignore", "pipe", "pipe"], detached: true });
    child.stdout.resume();
    child.stderr.resume();
    child.on("error", reject);
    child.on("close", () => resolve(performance.now() - started));
  });
}

async function throughTheRoom(): Promise<number> {
  const started = performance.now();
  const [file, ...args] = COMMAND;
  await runCommand({
    file,
    args,
    env: { PATH: process.env["PATH"] ?? "" },
    cwd: tmpdir(),
    timeoutMs: 60_000,
    interruptFirst: false,
    keepLast: 32_768,
  });
  return performance.now() - started;
}
