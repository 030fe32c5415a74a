import { LeaseId, SimlockError, toSimlockError, type DeviceKind } from "../contract/index.ts";
import type { Driver, OwnDevice } from "../devices/index.ts";
import type { Device, Effect, EffectResult, Input, Intent } from "../leasing/index.ts";
import { bounded, settlesWithin } from "./bounded.ts";
import { EFFECT_ABORT_GRACE_MS, EFFECT_TIMEOUT_MS, MAX_EFFECT_MS, STOP_STEP_MS } from "./limits.ts";
import type { Log } from "./log.ts";

export interface EffectPorts {
  readonly driverOf: (kind: DeviceKind) => Driver | undefined;
  readonly submit: (input: Input) => void;
  /** Resolves when no command of the lease runs any more: within `exec.drainMs` and the time that ending them takes. */
  readonly drained: (leaseId: LeaseId) => Promise<void>;
  readonly bootTimeoutMs: number;
  readonly log: Log;
}

/** Carries out what was decided and committed, and feeds what came of it back in. */
export class Effects {
  readonly #ports: EffectPorts;
  readonly #running = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #closed = false;

  constructor(ports: EffectPorts) {
    this.#ports = ports;
  }

  get running(): number {
    return this.#running.size;
  }

  start(effect: Effect): void {
    if (this.#closed) return;
    const work = this.#carryOut(effect).finally(() => this.#running.delete(work));
    this.#running.add(work);
  }

  /** Begins nothing new. */
  close(): void {
    this.#closed = true;
  }

  /** Lets work end by itself for `waitMs`, then tells it to end. What was cut off is taken up again by the next daemon: its intent is stored. */
  async stop(waitMs: number): Promise<void> {
    this.close();
    const all = async (): Promise<unknown> => Promise.all(this.#running);
    if (await settlesWithin(all(), waitMs)) {
      this.#stop.abort(stopped());
      return;
    }
    this.#ports.log.warn({ running: this.#running.size }, "driver work is cut off: the daemon stops");
    this.#stop.abort(stopped());
    await settlesWithin(all(), STOP_STEP_MS);
  }

  /**
   * A driver takes much work at once one after another, and does not count the wait as the work's own time: nor do we. What is bounded here is a driver
   * that never answers.
   */
  #timeLimit(kind: Intent["kind"]): number {
    const alone = EFFECT_TIMEOUT_MS[kind] + (kind === "boot" ? this.#ports.bootTimeoutMs : 0);
    return Math.min(alone * Math.max(1, this.#running.size), MAX_EFFECT_MS);
  }

  async #carryOut(effect: Effect): Promise<void> {
    const { device, intent } = effect;
    // Replies of the same commit go out first.
    await new Promise(setImmediate);
    const drain = drainOf(effect);
    if (drain !== undefined) await this.#ports.drained(drain);
    if (this.#closed) return;
    const startedAt = performance.now();
    const result = await this.#attempt(effect);
    // A daemon that stops reports nothing of what it cut off itself: that was no failure of the device.
    if (this.#stop.signal.aborted && !result.ok) return;
    const line = {
      deviceId: device.id,
      work: intent.kind,
      attempt: intent.attempt,
      durationMs: Math.round(performance.now() - startedAt),
    };
    if (result.ok) this.#ports.log.info(line, "driver work done");
    else {
      this.#ports.log.warn(
        { ...line, code: result.error.code, reason: result.error.message.slice(0, 2000) },
        "driver work failed",
      );
    }
    this.#ports.submit({
      kind: "effect-done",
      deviceId: device.id,
      intentId: intent.id,
      attempt: intent.attempt,
      result,
    });
  }

  async #attempt(effect: Effect): Promise<EffectResult> {
    const { device, intent } = effect;
    try {
      const driver = this.#ports.driverOf(device.kind);
      if (driver === undefined) throw new SimlockError("NO_DRIVER", `No driver for a device of kind ${device.kind}.`);
      const bound = {
        timeoutMs: this.#timeLimit(intent.kind),
        graceMs: EFFECT_ABORT_GRACE_MS,
        what: `The ${intent.kind} of ${device.name}`,
        signal: this.#stop.signal,
      };
      return await bounded(bound, async (signal) => perform(driver, device, intent.kind, signal));
    } catch (thrown) {
      const error = toSimlockError(thrown);
      if (error.code === "INTERNAL") this.#ports.log.error({ deviceId: device.id, error: thrown }, "driver fault");
      return { ok: false, error: error.toWire() };
    }
  }
}

async function perform(
  driver: Driver,
  device: Device,
  kind: Effect["intent"]["kind"],
  signal: AbortSignal,
): Promise<EffectResult> {
  const own = ownDevice(device);
  switch (kind) {
    case "create":
      return { ok: true, kind, driverDeviceId: (await driver.create(own, signal)).driverDeviceId };
    case "boot": {
      const { address } = await driver.boot(own, signal);
      return { ok: true, kind, address, environment: driver.environment(own, address) };
    }
    case "clean": {
      const cleaned = await driver.clean(own, signal);
      const { address } = cleaned;
      return {
        ok: true,
        kind,
        state: cleaned.state,
        strategy: cleaned.strategy,
        ...(address === undefined ? {} : { address, environment: driver.environment(own, address) }),
      };
    }
    case "shutdown":
      await driver.shutdown(own, signal);
      return { ok: true, kind };
    case "destroy":
      await driver.destroy(own, signal);
      return { ok: true, kind };
  }
}

/** A cleaning that is begun again after a restart still waits for what its lease's holder runs: its intent names the lease. */
function drainOf({ drain, intent }: Effect): LeaseId | undefined {
  if (drain !== undefined || intent.kind !== "clean") return drain;
  const because = LeaseId.safeParse(intent.because);
  return because.success ? because.data : undefined;
}

/** What a driver is told of a device. */
export function ownDevice(device: Device): OwnDevice {
  return {
    deviceId: device.id,
    driverDeviceId: device.driverDeviceId,
    name: device.name,
    mark: device.mark,
    spec: device.spec,
    baseline: device.baseline,
  };
}

function stopped(): SimlockError {
  return new SimlockError("DAEMON_STOPPING", "The daemon is stopping.");
}
