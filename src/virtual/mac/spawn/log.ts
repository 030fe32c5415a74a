import { setTimeout as sleep } from "node:timers/promises";
import type { Call } from "../call.ts";
import { stateAt } from "../device.ts";
import type { Device } from "../device.ts";
import { sessionOf } from "../session.ts";

interface Line {
  readonly key: string;
  readonly at: number;
  readonly process: string;
  readonly pid: number;
  readonly text: string;
}

/**
 * `log stream` and `log show`: what the virtual device has to tell, its boot and the starts of apps. A predicate is taken as a filter on the
 * words in its quotes; every other option is heard and means nothing.
 */
export async function log(call: Call, device: Device, args: readonly string[]): Promise<number> {
  const [action] = args;
  const filter = filterOf(args);
  const head = "Timestamp                       Thread     Type        Activity             PID    TTL  \n";
  if (action === "show") {
    call.out(head + linesOf(call, device).filter(filter).map(textOf).join(""));
    return 0;
  }
  if (action !== "stream") {
    call.err("usage: log <command>\n  stream, show\n");
    return 64;
  }
  const end = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => end.abort());
  const seen = new Set(linesOf(call, device).map((line) => line.key));
  const until = Date.now() + timeoutOf(args);
  call.out(`Filtering the log data using ""\n${head}`);
  while (!end.signal.aborted && Date.now() < until) {
    const current = call.set.device(device.udid);
    if (current === undefined || stateAt(current, Date.now()) !== "Booted") return 0;
    for (const line of linesOf(call, current)) {
      if (!seen.has(line.key) && filter(line)) call.out(textOf(line));
      seen.add(line.key);
    }
    await sleep(100, undefined, { signal: end.signal }).catch(() => {});
  }
  return 0;
}

function linesOf(call: Call, device: Device): readonly Line[] {
  const { bootedAt } = sessionOf(device);
  const boot = { key: "boot", at: bootedAt, process: "SpringBoard", pid: 4_900_001, text: "SpringBoard is ready" };
  const starts = call.set.processes(device.udid).map((process) => ({
    key: `start ${process.pid}`,
    at: process.startedAt,
    process: process.bundleId.split(".").at(-1) ?? process.bundleId,
    pid: process.pid,
    text: `[${process.bundleId}] started with ${JSON.stringify(process.args)}`,
  }));
  return [boot, ...starts];
}

function textOf(line: Line): string {
  const time = new Date(line.at).toISOString().replace("T", " ").replace("Z", "000+0000");
  return `${time} 0x1        Default     0x0                  ${line.pid} 0    ${line.process}: ${line.text}\n`;
}

function filterOf(args: readonly string[]): (line: Line) => boolean {
  const at = args.findIndex((word) => word === "--predicate");
  const predicate = at < 0 ? "" : (args[at + 1] ?? "");
  const words = [...predicate.matchAll(/"([^"]*)"|'([^']*)'/g)].map((match) => match[1] ?? match[2] ?? "");
  return (line) => words.every((word) => textOf(line).includes(word));
}

/** `--timeout 5`, `5s`, `2m`, `1h`; without it for ever. */
function timeoutOf(args: readonly string[]): number {
  const at = args.findIndex((word) => word === "--timeout");
  const match = at < 0 ? null : /^(\d+)([smh]?)$/.exec(args[at + 1] ?? "");
  if (match === null) return Infinity;
  const unit = match[2] === "h" ? 3_600_000 : match[2] === "m" ? 60_000 : 1000;
  return Number(match[1]) * unit;
}
