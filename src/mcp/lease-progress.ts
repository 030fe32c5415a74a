import type { LeaseProgress } from "../contract/index.ts";
import type { ToolCall } from "../tool/index.ts";
import type { Clock } from "./clock.ts";

/** The whole way from the queue to a booted device: each of its three stretches is a thousand long. */
const TOTAL = 3000;
const STRETCH = 1000;
/** Clients give up after 60 s without progress. */
const SILENCE_MS = 10_000;

const WHY = {
  capacity: "every device that fits is in use, and no more may be made",
  "device-on-its-way": "a device that fits is being made ready",
  "older-request": "an older request goes first",
  absent: "the device that fits is not connected",
} as const;

/**
 * Tells the client how far its lease request is: each report of the daemon, and while there is none, every ten seconds where it stands.
 * Returns the sink and its end.
 */
export function leaseProgress(
  clock: Clock,
  progress: NonNullable<ToolCall["progress"]>,
): { report: (progress: LeaseProgress) => void; stop: () => void } {
  let latest: { readonly progress: LeaseProgress; readonly at: number } | undefined;
  let stopped = false;
  let callOff = () => {};
  const say = (): void => {
    callOff();
    callOff = clock.after(SILENCE_MS, say);
    if (latest === undefined) progress({ progress: 0, total: TOTAL, message: "Asking for a device" });
    else progress({ ...positionOf(latest.progress, clock.now() - latest.at), total: TOTAL });
  };
  callOff = clock.after(SILENCE_MS, say);
  return {
    report(report) {
      if (stopped) return;
      latest = { progress: report, at: clock.now() };
      say();
    },
    stop() {
      stopped = true;
      callOff();
    },
  };
}

/** Where a report stands on the way, and what it means in words. `sinceMs`: how long ago it was made. */
export function positionOf(report: LeaseProgress, sinceMs: number): { progress: number; message: string } {
  switch (report.stage) {
    case "queued": {
      const ahead = report.queuePosition - 1;
      const place = ahead === 0 ? "Next in queue" : `Queued behind ${ahead} other request${ahead === 1 ? "" : "s"}`;
      const why = report.reason === undefined ? "" : `: ${WHY[report.reason]}`;
      return { progress: within(ahead), message: place + why };
    }
    case "provisioning":
      return inWork("Provisioning device", STRETCH, report.etaMs, sinceMs);
    case "reclaiming":
      return inWork("Cleaning device", STRETCH, report.etaMs, sinceMs);
    case "booting":
      return inWork("Booting device", 2 * STRETCH, report.etaMs, sinceMs);
    case "downloading": {
      const done = report.percent === undefined ? "" : `, ${report.percent} %`;
      const what = report.waiting ? `Waiting to download ${report.component}` : `Downloading ${report.component}`;
      return { progress: STRETCH + (report.percent ?? 0) * 5, message: what + done };
    }
  }
}

function inWork(what: string, base: number, etaMs: number, sinceMs: number) {
  const seconds = Math.max(0, Math.ceil((etaMs - sinceMs) / 1000));
  return { progress: base + within(seconds), message: `${what} (~${seconds}s remaining)` };
}

/** The nearer the end of a stretch, the bigger the steps. */
const within = (remaining: number): number => Math.round(STRETCH / (remaining + 1));
