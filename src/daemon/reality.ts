import { toSimlockError, type DeviceKind } from "../contract/index.ts";
import type { Driver, Observed } from "../devices/index.ts";
import type { Input, Reality, Sighting } from "../leasing/index.ts";
import { bounded } from "./bounded.ts";
import { READ_TIMEOUT_MS } from "./limits.ts";
import type { Log } from "./log.ts";

/** One reading of what is there, in bounded time. A machine that can't be read is told apart from one that has nothing. */
export async function readReality(driver: Driver, log: Log): Promise<Reality> {
  const { kind } = driver;
  try {
    const bound = { timeoutMs: READ_TIMEOUT_MS, what: `Reading the devices (${kind})` };
    const devices = await bounded(bound, async (signal) => driver.read(signal));
    return { kind, readable: true, devices: devices.map(sightingOf) };
  } catch (thrown) {
    const { code, message } = toSimlockError(thrown);
    log.warn({ device: kind, code, reason: message.slice(0, 2000) }, "devices can't be read");
    if (code === "INTERNAL") log.error({ error: thrown }, "driver fault");
    return { kind, readable: false, error: message };
  }
}

export function sightingOf(device: Observed): Sighting {
  const { driverDeviceId, name, runState, address } = device;
  return { driverDeviceId, name, runState, address };
}

export interface WatchPorts {
  readonly drivers: readonly Driver[];
  readonly submit: (input: Input) => void;
  /** The kinds of which a device is leased now. */
  readonly leasedKinds: () => ReadonlySet<DeviceKind>;
  /** The kinds of which we have a device at all. */
  readonly knownKinds: () => ReadonlySet<DeviceKind>;
  readonly probeIntervalMs: number;
  readonly log: Log;
}

/**
 * Tells the decider how the machine changes: made devices are read every `probeIntervalMs` while one of them is leased, attached ones are watched
 * while one is enrolled. With nothing to look after, nothing is read.
 */
export class RealityWatch {
  readonly #ports: WatchPorts;
  readonly #reading = new Set<DeviceKind>();
  readonly #watches = new Map<DeviceKind, () => void>();
  #timer: NodeJS.Timeout | undefined;

  constructor(ports: WatchPorts) {
    this.#ports = ports;
  }

  start(): void {
    this.#timer = setInterval(() => this.#probe(), this.#ports.probeIntervalMs);
    this.#timer.unref();
    this.update();
  }

  /** Call it when devices came or went. */
  update(): void {
    if (this.#timer === undefined) return;
    const known = this.#ports.knownKinds();
    for (const driver of this.#ports.drivers) {
      const { attached, kind } = driver;
      if (attached === undefined) continue;
      const end = this.#watches.get(kind);
      if (known.has(kind) && end === undefined) this.#watch(driver, attached.watch.bind(attached));
      else if (!known.has(kind) && end !== undefined) {
        this.#watches.delete(kind);
        end();
      }
    }
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    for (const end of this.#watches.values()) end();
    this.#watches.clear();
  }

  #watch(driver: Driver, watch: NonNullable<Driver["attached"]>["watch"]): void {
    const { kind } = driver;
    let failing = false;
    const end = watch(
      (devices) => {
        failing = false;
        this.#ports.submit({ kind: "reality", reality: { kind, readable: true, devices: devices.map(sightingOf) } });
      },
      (error) => {
        const { code, message } = toSimlockError(error);
        // A server that is away fails every poll: told once, until it is back.
        if (!failing)
          this.#ports.log.warn({ device: kind, code, reason: message.slice(0, 2000) }, "devices can't be watched");
        failing = true;
        this.#ports.submit({ kind: "reality", reality: { kind, readable: false, error: message } });
      },
    );
    this.#watches.set(kind, end);
  }

  #probe(): void {
    const leased = this.#ports.leasedKinds();
    for (const driver of this.#ports.drivers) {
      if (driver.attached !== undefined || !leased.has(driver.kind) || this.#reading.has(driver.kind)) continue;
      this.#reading.add(driver.kind);
      void readReality(driver, this.#ports.log)
        .then((reality) => this.#ports.submit({ kind: "reality", reality }))
        .finally(() => this.#reading.delete(driver.kind));
    }
  }
}
