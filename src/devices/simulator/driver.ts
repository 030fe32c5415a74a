import { availableParallelism, homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { SimlockError } from "../../contract/index.ts";
import type { DeviceSpec } from "../../contract/index.ts";
import { runtimeName, Slots } from "../../exec/index.ts";
import type { SimDevice } from "../../exec/index.ts";
import type { Driver, Observed, OwnDevice } from "../driver.ts";
import { claimRoot, proveRoot, refuseRoot } from "../owned-root.ts";
import type { CallTool } from "../tool-call.ts";
import { clean } from "./clean.ts";
import { create } from "./create.ts";
import { destroy } from "./destroy.ts";
import { DeviceSet } from "./device-set.ts";
import { MeasuredEstimates } from "./estimates.ts";
import type { Step } from "./estimates.ts";
import { readMarks, writeErasableMark } from "./marks.ts";
import { catalogOf } from "./models.ts";
import type { DefaultModels } from "./models.ts";
import { prerequisites, xcodeVersion } from "./prerequisites.ts";
import { goneError, markOf, observe } from "./provenance.ts";
import { start, stop } from "./run-state.ts";
import type { Simulators } from "./simulators.ts";
import { Simctl, systemClock } from "./simctl.ts";
import type { Clock, Log, Xcrun } from "./simctl.ts";

export interface SimulatorDriverOptions {
  readonly xcrun: Xcrun;
  readonly call: CallTool;
  /** An absolute path: a device set of our own. Left out, devices live in the user's default set, which xcodebuild and the like see. */
  readonly deviceSet?: string | undefined;
  /** Where the default set lies, when it is not the user's own: devices whose listing does not say where they lie are looked for there. */
  readonly defaultSet?: string | undefined;
  /** Of the home. A device that another instance has marked is never ours. */
  readonly instanceId: string;
  readonly defaultModels?: DefaultModels;
  /** Of one boot, its wait for others not counted. */
  readonly bootTimeoutMs: number;
  /** Boots at once. Left out: a quarter of the processors, at least two. */
  readonly maxBoots?: number;
  readonly clock?: Clock;
  readonly log?: Log;
}

/** More boots at once than this make each of them slower than one after the other. */
const defaultMaxBoots = () => Math.max(2, Math.floor(availableParallelism() / 4));
const MAX_WAITING_BOOTS = 256;

/** simctl knows the user's device set without being told; older ones don't say where it lies. */
function userSet(xcrun: Xcrun): string {
  return join(xcrun.env["HOME"] ?? homedir(), "Library", "Developer", "CoreSimulator", "Devices");
}

/** Simulators through `xcrun simctl`. Nothing is started before the first call. */
export function createSimulatorDriver(options: SimulatorDriverOptions): Driver {
  const { xcrun, deviceSet, instanceId } = options;
  const clock = options.clock ?? systemClock;
  const log: Log = options.log ?? (() => undefined);
  const ended = new AbortController();
  const running = new Set<Promise<unknown>>();
  const estimates = new MeasuredEstimates();
  const simctl = new Simctl({
    xcrun,
    deviceSet,
    call: options.call,
    clock,
    log,
    proveSet: setProof(deviceSet, instanceId),
  });
  const set = new DeviceSet({
    simctl,
    folder: deviceSet ?? options.defaultSet ?? userSet(xcrun),
    instanceId,
    clock,
    log,
  });
  const simulators: Simulators = {
    simctl,
    set,
    clock,
    log,
    instanceId,
    boots: new Slots(options.maxBoots ?? defaultMaxBoots(), MAX_WAITING_BOOTS),
    bootTimeoutMs: options.bootTimeoutMs,
  };

  /** Every call ends with the driver, and an end that was asked for is told as `CANCELLED`. */
  async function bounded<T>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const either = signal === undefined ? ended.signal : AbortSignal.any([ended.signal, signal]);
    const done = Promise.resolve().then(() => {
      either.throwIfAborted();
      return work(either);
    });
    running.add(done);
    try {
      return await done;
    } catch (error) {
      if (error instanceof SimlockError || !either.aborted) throw error;
      throw new SimlockError("CANCELLED", "The work on the simulator was cancelled.", { cause: error });
    } finally {
      running.delete(done);
    }
  }

  async function timed<T>(step: Step, work: () => Promise<T>): Promise<T> {
    const began = clock.now();
    const result = await work();
    estimates.took(step, clock.now() - began);
    return result;
  }

  return {
    kind: "simulator",
    platform: "ios",
    tools: ["simctl"],

    catalog: (signal) =>
      bounded(signal, async (either) => {
        const { deviceTypes, runtimes } = await set.kinds(either);
        return catalogOf(deviceTypes, runtimes, options.defaultModels ?? {});
      }),

    read: (signal) =>
      bounded(signal, async (either) => {
        const devices = await set.list(either);
        const observed = await Promise.all(
          devices.map(async (device): Promise<Observed | undefined> => {
            return observe(device, await readMarks(set.place(device)), instanceId, specOf(set, device));
          }),
        );
        return observed.filter((device) => device !== undefined);
      }),

    create: (device, signal) =>
      bounded(signal, async (either) => {
        const driverDeviceId = await timed("provisionMs", () => create(simulators, device, either));
        return { driverDeviceId };
      }),

    remark: (device, signal) =>
      bounded(signal, async (either) => {
        const udid = udidOf(device);
        const { place } = await set.prove(device, udid, either);
        await writeErasableMark(place, markOf(device, udid, instanceId));
      }),

    boot: (device, signal) =>
      bounded(signal, async (either) => {
        const udid = udidOf(device);
        const proven = await set.prove(device, udid, either);
        if (proven.device.unavailable !== undefined) {
          throw new SimlockError(
            "DEVICE_START_FAILED",
            `The simulator can't be booted: ${proven.device.unavailable}.`,
            {
              details: { deviceId: device.deviceId },
            },
          );
        }
        await simulators.boots.run(either, () =>
          timed("bootMs", () => start(simulators, device, proven.device, either)),
        );
        return { address: udid };
      }),

    clean: (device, signal) =>
      bounded(signal, async (either) => {
        await timed("reclaimMs", () => clean(simulators, device, udidOf(device), either));
        return { state: "shutdown", strategy: "erase" };
      }),

    shutdown: (device, signal) =>
      bounded(signal, async (either) => {
        const { device: found } = await set.prove(device, udidOf(device), either);
        if (found.runState === "stopped") return;
        if ((await stop(simulators, found.udid, either)) === "gone") throw goneError(device);
      }),

    destroy: (device, signal) =>
      bounded(signal, async (either) => {
        if (deviceSet !== undefined) await proveRoot(deviceSet, instanceId);
        await destroy(simulators, device, either);
      }),

    estimates: () => estimates.get(),

    environment: (_device, address) => ({
      SIMLOCK_DEVICE_UDID: address,
      ...(deviceSet === undefined ? {} : { SIMLOCK_IOS_DEVICE_SET: deviceSet }),
    }),

    target: async (device) => {
      const udid = udidOf(device);
      if ((await set.stillMarked(device, udid)) === "no") {
        throw new SimlockError(
          "DEVICE_UNAVAILABLE",
          `The simulator of ${device.deviceId} was changed or deleted outside Simlock.`,
          {
            hint: "Release the lease and ask for another device; `simlock doctor` shows what changed.",
            details: { deviceId: device.deviceId },
          },
        );
      }
      return { kind: "simulator", udid };
    },

    command: (tool) => {
      if (tool !== "simctl") {
        throw new SimlockError("UNKNOWN_PASSTHROUGH_TOOL", `${tool} can't reach a simulator.`, { hint: "Use simctl." });
      }
      return { file: xcrun.file, prefix: simctl.prefix, env: xcrun.env };
    },

    prerequisites: () => bounded(undefined, (either) => prerequisites(simctl, set, xcrun, either)),
    hostTools: async () => bounded(undefined, (either) => xcodeVersion(simctl, either)).catch(() => []),

    dispose: async () => {
      ended.abort(new SimlockError("CANCELLED", "Simlock is stopping."));
      await Promise.allSettled(running);
    },
  };
}

/** A device set of our own is made and proven before its first use; the default set is the user's and needs no proof. */
function setProof(deviceSet: string | undefined, instanceId: string): () => Promise<void> {
  if (deviceSet === undefined) return async () => undefined;
  let proof: Promise<void> | undefined;
  return () => {
    if (!isAbsolute(deviceSet)) refuseRoot(deviceSet, "not-absolute");
    // A refusal is not kept: what was wrong with the folder may be mended while we run.
    proof ??= claimRoot(deviceSet, instanceId).catch((error: unknown) => {
      proof = undefined;
      throw error;
    });
    return proof;
  };
}

function udidOf(device: OwnDevice): string {
  if (device.driverDeviceId !== undefined) return device.driverDeviceId;
  throw new SimlockError("DEVICE_UNAVAILABLE", `The simulator of ${device.deviceId} has not been made.`);
}

/** What it was made of, as far as the last listing of device types knows. */
function specOf(set: DeviceSet, device: SimDevice): DeviceSpec | undefined {
  const kinds = set.lastKinds;
  const model = kinds?.deviceTypes.find((type) => type.id === device.deviceType)?.name;
  if (model === undefined) return undefined;
  const runtime = kinds?.runtimes.find((candidate) => candidate.id === device.runtime);
  return { platform: "ios", model, osVersion: runtime?.version ?? runtimeName(device.runtime).version };
}
