import type { Capacity, DeviceKind, HostFacts, Platform } from "../contract/index.ts";
import type { Device, Settings } from "./state.ts";

const GIB = 1024 ** 3;
/** Memory kept for the host itself, and what one running device takes. */
const HOST_RESERVE_BYTES = 4 * GIB;
const DEVICE_BYTES: Readonly<Record<Platform, number>> = { ios: 1.5 * GIB, android: 4 * GIB };

export interface PlatformLimit {
  readonly maxDevices: number;
  readonly maxRunning: number;
}
export interface Limits {
  readonly ios: PlatformLimit;
  readonly android: PlatformLimit;
  readonly maxRunning: number;
  /** Undefined under the fixed strategy. */
  readonly ramBytes: number | undefined;
}

/** What the host, or the configuration, allows. Without host facts nothing is started: they come before the first request is decided. */
export function limitsOf(settings: Settings["capacity"], host: HostFacts | undefined): Limits {
  if (settings.strategy === "fixed") {
    const total = settings.maxRunning ?? 2;
    const limit = (own: { maxDevices?: number | undefined; maxRunning?: number | undefined }): PlatformLimit => {
      const maxRunning = own.maxRunning ?? total;
      return { maxRunning, maxDevices: own.maxDevices ?? maxRunning };
    };
    return { ios: limit(settings.ios), android: limit(settings.android), maxRunning: total, ramBytes: undefined };
  }
  const cpus = host?.cpus ?? 0;
  const memory = host?.memoryBytes ?? 0;
  const byHost = {
    ios: Math.max(1, Math.floor(cpus / 2)),
    android: Math.max(1, Math.min(Math.floor(cpus / 4), Math.floor(memory / (8 * GIB)))),
  };
  const limit = (platform: Platform): PlatformLimit => {
    const maxDevices = settings[platform].maxDevices ?? byHost[platform];
    return { maxDevices, maxRunning: settings[platform].maxRunning ?? maxDevices };
  };
  const ios = limit("ios");
  const android = limit("android");
  return {
    ios,
    android,
    maxRunning: settings.maxRunning ?? ios.maxRunning + android.maxRunning,
    ramBytes: Math.max(0, memory - HOST_RESERVE_BYTES),
  };
}

/** Attached devices take no slot: they are there whatever we do. */
export function isMade(kind: DeviceKind): boolean {
  return kind === "simulator" || kind === "emulator";
}

/** Whether it runs or is about to: what is being made or booted holds its place from the commit of the intent on. */
export function holdsRunningSlot(device: Device): boolean {
  if (!isMade(device.kind)) return false;
  switch (device.state) {
    case "shutdown":
      // One that is told to stop may have been starting when the last daemon died: it counts until it is known to be off.
      return device.intent?.kind === "boot" || device.intent?.kind === "shutdown";
    case "absent":
    case "deleted":
      return false;
    default:
      return true;
  }
}

/** Counted once a row is written, so that a decision need not count. */
export interface Usage {
  readonly devices: Record<Platform, number>;
  readonly running: Record<Platform, number>;
  /** Running or about to, though no result has said so yet. */
  readonly reserved: Record<Platform, number>;
  readonly warm: Record<Platform, number>;
}

export function emptyUsage(): Usage {
  const none = () => ({ ios: 0, android: 0 });
  return { devices: none(), running: none(), reserved: none(), warm: none() };
}

export function countIn(usage: Usage, device: Device, by: 1 | -1): void {
  const { platform } = device.spec;
  if (device.state === "ready") usage.warm[platform] += by;
  if (!isMade(device.kind) || device.state === "deleted") return;
  usage.devices[platform] += by;
  if (!holdsRunningSlot(device)) return;
  usage.running[platform] += by;
  if (device.intent?.kind === "create" || device.intent?.kind === "boot") usage.reserved[platform] += by;
}

export type Obstacle = "device-limit" | "platform-running-limit" | "global-running-limit" | "ram-budget";

/** Why one more device of the platform may not run, or undefined. */
export function bootObstacle(limits: Limits, usage: Usage, platform: Platform): Obstacle | undefined {
  if (usage.running[platform] >= limits[platform].maxRunning) return "platform-running-limit";
  if (usage.running.ios + usage.running.android >= limits.maxRunning) return "global-running-limit";
  if (limits.ramBytes !== undefined && ramUsed(usage) + DEVICE_BYTES[platform] > limits.ramBytes) {
    // One device always may run: a small host is slow, not useless.
    return usage.running.ios + usage.running.android === 0 ? undefined : "ram-budget";
  }
  return undefined;
}

/** Why one more device may not be made (and run), or undefined. */
export function createObstacle(limits: Limits, usage: Usage, platform: Platform): Obstacle | undefined {
  if (usage.devices[platform] >= limits[platform].maxDevices) return "device-limit";
  return bootObstacle(limits, usage, platform);
}

function ramUsed(usage: Usage): number {
  return usage.running.ios * DEVICE_BYTES.ios + usage.running.android * DEVICE_BYTES.android;
}

export function describeCapacity(limits: Limits, usage: Usage): Capacity {
  const of = (platform: Platform) => ({
    running: usage.running[platform],
    maxRunning: limits[platform].maxRunning,
    reserved: usage.reserved[platform],
    overLimit:
      usage.running[platform] > limits[platform].maxRunning || usage.devices[platform] > limits[platform].maxDevices,
    limit: limits[platform].maxDevices,
    warm: usage.warm[platform],
    used: usage.devices[platform],
    atRamBudget: bootObstacle(limits, usage, platform) === "ram-budget",
  });
  const running = usage.running.ios + usage.running.android;
  return {
    ios: of("ios"),
    android: of("android"),
    global: {
      running,
      maxRunning: limits.maxRunning,
      reserved: usage.reserved.ios + usage.reserved.android,
      overLimit: running > limits.maxRunning,
      warm: usage.warm.ios + usage.warm.android,
    },
    ...(limits.ramBytes === undefined
      ? {}
      : {
          ramBudget: {
            limitBytes: limits.ramBytes,
            usedBytes: ramUsed(usage),
            overLimit: ramUsed(usage) > limits.ramBytes,
          },
        }),
  };
}
