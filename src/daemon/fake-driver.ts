import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { SimlockError, type Finding, type PlatformCatalog } from "../contract/index.ts";
import type { Driver, Observed, OwnDevice, RunState, Target, ToolCommand } from "../devices/index.ts";
import { isMissing, writeWhole } from "./files.ts";

type Step = "create" | "boot" | "clean" | "shutdown" | "destroy" | "read" | "catalog" | "target";

export interface FakeDevice {
  readonly udid: string;
  name: string;
  runState: RunState;
  mark: string | undefined;
  erased: boolean;
}

export interface FakeOptions {
  readonly models?: readonly string[];
  readonly runtimes?: readonly string[];
  /** How long each step takes, in milliseconds; 0 when left out. */
  readonly latency?: Partial<Record<Step, number>>;
  /** Called at the beginning of each step: what it throws, the step throws. */
  readonly before?: (step: Step, device: OwnDevice | undefined) => void | Promise<void>;
  /** A file that the devices live in, so that they outlive the process. In memory when left out. */
  readonly worldFile?: string;
  /** After a cleaning the device is ready again, as an emulator is; else shut down, as a simulator is. */
  readonly cleansTo?: "ready" | "shutdown";
  /** What plays `xcrun`. */
  readonly tool?: ToolCommand;
}

export interface FakeDriver extends Driver {
  readonly world: Map<string, FakeDevice>;
  /** The steps that were begun, oldest first: `boot dev_1`. */
  readonly steps: string[];
  options: FakeOptions;
  /** Writes the world to its file, after it was changed by hand. */
  save(): void;
}

/**
 * A simctl that does what its arguments say: `spawn` runs a program on this host, as the real one does; everything else tells its arguments.
 */
export const FAKE_TOOL: ToolCommand = {
  file: "/bin/sh",
  prefix: ["-c", 'case "$1" in spawn) shift 2; exec "$@";; *) echo "$@";; esac', "simctl"],
  env: { FAKE_TOOL: "1" },
};

/** A kind of simulator that is nothing but a table: for tests of the daemon and for measuring it, with latency and failures on demand. */
export function createFakeDriver(given: FakeOptions = {}): FakeDriver {
  const world = load(given.worldFile);
  const steps: string[] = [];
  const save = (): void => {
    if (given.worldFile !== undefined) writeWhole(given.worldFile, JSON.stringify([...world.values()]), 0o600);
  };
  const begin = async (step: Step, device: OwnDevice | undefined, signal?: AbortSignal): Promise<void> => {
    steps.push(device === undefined ? step : `${step} ${device.deviceId}`);
    await driver.options.before?.(step, device);
    const ms = driver.options.latency?.[step] ?? 0;
    if (ms > 0) await pause(ms, undefined, signal === undefined ? {} : { signal });
  };
  const find = (device: OwnDevice): FakeDevice => {
    const found = [...world.values()].find((one) => one.name === device.name);
    if (found === undefined) throw new SimlockError("DEVICE_UNAVAILABLE", `${device.name} is gone.`);
    return found;
  };
  const set = (device: OwnDevice, runState: RunState): FakeDevice => {
    const found = find(device);
    found.runState = runState;
    save();
    return found;
  };

  const driver: FakeDriver = {
    kind: "simulator",
    platform: "ios",
    tools: ["simctl"],
    world,
    steps,
    options: given,
    save,
    async catalog(signal) {
      await begin("catalog", undefined, signal);
      return catalogOf(driver.options);
    },
    async read(signal) {
      await begin("read", undefined, signal);
      return [...world.values()].map(observedOf);
    },
    async create(device, signal) {
      await begin("create", device, signal);
      const before = [...world.values()].find((one) => one.name === device.name);
      const udid = before?.udid ?? randomUUID().toUpperCase();
      world.set(udid, { udid, name: device.name, runState: "stopped", mark: device.mark, erased: false });
      save();
      return { driverDeviceId: udid };
    },
    async boot(device, signal) {
      await begin("boot", device, signal);
      return { address: set(device, "running").udid };
    },
    async clean(device, signal) {
      await begin("clean", device, signal);
      const state = driver.options.cleansTo ?? "shutdown";
      const { udid } = set(device, state === "ready" ? "running" : "stopped");
      return state === "ready" ? { state, strategy: "fake", address: udid } : { state, strategy: "fake" };
    },
    async shutdown(device, signal) {
      await begin("shutdown", device, signal);
      set(device, "stopped");
    },
    async destroy(device, signal) {
      await begin("destroy", device, signal);
      for (const one of [...world.values()]) if (one.name === device.name) world.delete(one.udid);
      save();
    },
    estimates: () => ({ provisionMs: 100, bootMs: 1000, reclaimMs: 200 }),
    environment: (device, address) => ({ SIMLOCK_DEVICE: address, SIMLOCK_MODEL: device.spec.model }),
    async target(device): Promise<Target> {
      await begin("target", device);
      return { kind: "simulator", udid: find(device).udid };
    },
    command: () => driver.options.tool ?? FAKE_TOOL,
    prerequisites: async (): Promise<readonly Finding[]> => [],
    hostTools: async () => [{ platform: "ios", name: "xcode", version: "26.0", build: "FAKE" }],
    dispose: async () => undefined,
  };
  return driver;
}

function catalogOf(options: FakeOptions): PlatformCatalog {
  const models = options.models ?? ["iPhone 17", "iPad Pro 11-inch (M5)"];
  const runtimes = options.runtimes ?? ["26.0", "18.6"];
  return {
    platform: "ios",
    models: [...models],
    runtimes: [...runtimes],
    ...(runtimes[0] === undefined ? {} : { defaultRuntime: runtimes[0] }),
    modelRuntimes: Object.fromEntries(models.map((model) => [model, [...runtimes]])),
    modelAliases: {},
    modelClasses: Object.fromEntries(models.map((model) => [model, model.startsWith("iPad") ? "tablet" : "phone"])),
    classDefaults: models[0] === undefined ? {} : { phone: models[0] },
  };
}

function observedOf({ udid, name, runState, mark, erased }: FakeDevice): Observed {
  return {
    driverDeviceId: udid,
    name,
    runState,
    durableMark: mark,
    erasableMark: erased ? undefined : mark,
    address: udid,
    spec: undefined,
  };
}

function load(path: string | undefined): Map<string, FakeDevice> {
  if (path === undefined) return new Map();
  try {
    const devices: FakeDevice[] = JSON.parse(readFileSync(path, "utf8"));
    return new Map(devices.map((device) => [device.udid, device]));
  } catch (error) {
    if (isMissing(error)) return new Map();
    throw error;
  }
}
