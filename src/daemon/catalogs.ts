import {
  SimlockError,
  toSimlockError,
  type DeviceKind,
  type Platform,
  type PlatformCatalog,
} from "../contract/index.ts";
import type { Driver } from "../devices/index.ts";
import type { Estimate, Input } from "../leasing/index.ts";
import { bounded } from "./bounded.ts";
import { CATALOG_FRESH_MS, CATALOG_TIMEOUT_MS } from "./limits.ts";
import type { Log } from "./log.ts";

interface Reading {
  readAt: number;
  error: SimlockError | undefined;
  underWay: Promise<void> | undefined;
}

/** Keeps the decider's catalogs: reads them from the drivers, one reading of each at a time, however many ask. */
export class Catalogs {
  readonly #drivers: readonly Driver[];
  readonly #submit: (input: Input) => void;
  readonly #log: Log;
  /** Until the decider has recovered, what is read waits here: recovery is its first input. */
  #held: Input[] | undefined = [];
  readonly #readings = new Map<DeviceKind, Reading>();

  constructor(drivers: readonly Driver[], submit: (input: Input) => void, log: Log) {
    this.#drivers = drivers;
    this.#submit = submit;
    this.#log = log;
  }

  /**
   * Reads the catalogs of a platform, or of all, unless they were read within `freshMs`. Resolves when what came of it has been handed to the
   * decider, true when something was read; a catalog that can't be read keeps its last good state.
   */
  async refresh(platform: Platform | undefined, freshMs: number = CATALOG_FRESH_MS): Promise<boolean> {
    const stale = this.#of(platform).filter((driver) => {
      const reading = this.#readings.get(driver.kind);
      return reading?.underWay !== undefined || performance.now() - (reading?.readAt ?? -Infinity) > freshMs;
    });
    await Promise.all(stale.map(async (driver) => this.#read(driver)));
    return stale.length > 0;
  }

  /** The decider has recovered: it gets what was read so far, and all else as it comes. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const input of held) this.#submit(input);
  }

  /** Why the last reading failed, where it did. */
  errorOf(platform: Platform | undefined): SimlockError | undefined {
    for (const driver of this.#of(platform)) {
      const error = this.#readings.get(driver.kind)?.error;
      if (error !== undefined) return error;
    }
    return undefined;
  }

  hasDriver(platform: Platform): boolean {
    return this.#of(platform).length > 0;
  }

  #of(platform: Platform | undefined): readonly Driver[] {
    return this.#drivers.filter((driver) => platform === undefined || driver.platform === platform);
  }

  async #read(driver: Driver): Promise<void> {
    const reading = this.#readings.get(driver.kind) ?? { readAt: -Infinity, error: undefined, underWay: undefined };
    this.#readings.set(driver.kind, reading);
    reading.underWay ??= this.#readOnce(driver, reading).finally(() => (reading.underWay = undefined));
    return reading.underWay;
  }

  async #readOnce(driver: Driver, reading: Reading): Promise<void> {
    try {
      const bound = { timeoutMs: CATALOG_TIMEOUT_MS, what: `Reading what can be made (${driver.kind})` };
      const catalog = await bounded(bound, async (signal) => driver.catalog(signal));
      reading.error = undefined;
      const input: Input = { kind: "catalog", of: driver.kind, catalog, estimate: estimateOf(driver, catalog) };
      if (this.#held === undefined) this.#submit(input);
      else this.#held.push(input);
    } catch (thrown) {
      reading.error = toSimlockError(thrown);
      const { code, message } = reading.error;
      this.#log.warn({ device: driver.kind, code, reason: message.slice(0, 2000) }, "catalog can't be read");
      if (code === "INTERNAL") this.#log.error({ error: thrown }, "driver fault");
    } finally {
      reading.readAt = performance.now();
    }
  }
}

/** What the usual device takes: the default of the platform's first class, on its newest OS. */
function estimateOf(driver: Driver, catalog: PlatformCatalog): Estimate {
  const model = Object.values(catalog.classDefaults)[0] ?? catalog.models[0] ?? "";
  const osVersion = catalog.modelRuntimes[model]?.[0] ?? catalog.defaultRuntime ?? "";
  const { provisionMs, bootMs, reclaimMs } = driver.estimates({ platform: driver.platform, model, osVersion });
  return { provisionMs, bootMs, reclaimMs };
}
