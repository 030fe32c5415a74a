import { existsSync } from "node:fs";
import { join } from "node:path";
import { SimlockError } from "../../contract/index.ts";
import { parseDevices, parseKinds, SharedRead } from "../../exec/index.ts";
import type { DeviceType, Runtime, SimDevice } from "../../exec/index.ts";
import type { OwnDevice } from "../driver.ts";
import { placeOf, readMark, readMarks } from "./marks.ts";
import type { Place } from "./marks.ts";
import { doubtOf, goneError, isOurName, unproven } from "./provenance.ts";
import { LIMITS } from "./simctl.ts";
import type { Clock, Log, Simctl } from "./simctl.ts";

export interface Kinds {
  readonly deviceTypes: readonly DeviceType[];
  readonly runtimes: readonly Runtime[];
}

/** A simulator that was proven to be the registry's device, and where it lies. */
export interface Proven {
  readonly device: SimDevice;
  readonly place: Place;
}

/** Readings without an answer about a device, or with one that must be asked twice, before it is given up. */
const MAX_READINGS = 4;
const READING_PAUSE_MS = 500;

export interface DeviceSetOptions {
  readonly simctl: Simctl;
  /** Where a device lies whose listing does not say. */
  readonly folder: string;
  readonly instanceId: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** The device set as simctl lists it. One listing at a time, whoever asks. */
export class DeviceSet {
  readonly #options: DeviceSetOptions;
  readonly #devices: SharedRead<readonly SimDevice[]>;
  readonly #kinds: SharedRead<Kinds>;
  /** Where devices of our names were last seen: only a shortcut, a restart learns it anew. */
  readonly #places = new Map<string, Place>();
  #lastKinds: Kinds | undefined;
  #listedBefore = false;

  constructor(options: DeviceSetOptions) {
    this.#options = options;
    this.#devices = new SharedRead((signal) => this.#readDevices(signal));
    this.#kinds = new SharedRead((signal) => this.#readKinds(signal));
  }

  /** All devices; a listing that runs already will do. Throws `TOOL_FAILED`, `TOOL_MISSING`. */
  list(signal: AbortSignal | undefined): Promise<readonly SimDevice[]> {
    return this.#devices.join(signal);
  }

  /** All devices, by a listing that begins now: for decisions about one of them. */
  listFresh(signal: AbortSignal | undefined): Promise<readonly SimDevice[]> {
    return this.#devices.fresh(signal);
  }

  kinds(signal: AbortSignal | undefined): Promise<Kinds> {
    return this.#kinds.join(signal);
  }

  /** The kinds of an earlier listing, where there was one. */
  get lastKinds(): Kinds | undefined {
    return this.#lastKinds;
  }

  place(device: SimDevice): Place {
    return placeOf(device, this.#options.folder);
  }

  /**
   * One device by its UDID, freshly read. A listing that lacks it while its folder is there is asked again, since one taken while CoreSimulator's
   * service restarts can lack everything: undefined only when it is steadily missing. Throws what the last reading threw.
   */
  async find(udid: string, signal: AbortSignal): Promise<SimDevice | undefined> {
    for (let reading = 1; ; reading += 1) {
      try {
        const found = (await this.listFresh(signal)).find((device) => device.udid === udid);
        if (found !== undefined || reading === MAX_READINGS || !this.#isOnDisk(udid)) return found;
      } catch (error) {
        signal.throwIfAborted();
        if (reading === MAX_READINGS || !(error instanceof SimlockError) || error.code !== "TOOL_FAILED") throw error;
        this.#options.log("info", "The simulators can't be listed now; asking again", { udid, error: error.message });
      }
      await this.#options.clock.sleep(READING_PAUSE_MS, signal);
    }
  }

  /** The device of the registry, proven by name and durable mark. Throws `DEVICE_UNAVAILABLE` when it is gone or not proven: nothing was touched. */
  async prove(own: OwnDevice, udid: string, signal: AbortSignal): Promise<Proven> {
    const device = await this.find(udid, signal);
    if (device === undefined) throw goneError(own);
    return { device, place: await this.proveDevice(own, device, false) };
  }

  async proveDevice(own: OwnDevice, device: SimDevice, unmarkedAllowed: boolean): Promise<Place> {
    const place = this.place(device);
    const doubt = doubtOf(own, device, await readMarks(place), this.#options.instanceId, unmarkedAllowed);
    if (doubt !== undefined) throw unproven(own, device, doubt);
    return place;
  }

  /** Devices of exactly its name, which nobody else can guess: those with its mark first, then those not marked yet. Throws at any other. */
  async namesakes(own: OwnDevice, signal: AbortSignal): Promise<readonly SimDevice[]> {
    const marked: SimDevice[] = [];
    const unmarked: SimDevice[] = [];
    for (const device of await this.listFresh(signal)) {
      if (device.name !== own.name) continue;
      const place = await this.proveDevice(own, device, true);
      ((await readMark(place.folder)).kind === "missing" ? unmarked : marked).push(device);
    }
    return [...marked, ...unmarked];
  }

  /** Without a listing, for the moment before a command runs: the durable mark where the device was last seen. */
  async stillMarked(own: OwnDevice, udid: string): Promise<"yes" | "no" | "unknown"> {
    const place = this.#places.get(udid);
    if (place === undefined) return "unknown";
    const reading = await readMark(place.folder);
    if (reading.kind === "unreadable") return "unknown";
    return reading.kind === "mark" && reading.mark.token === own.mark && reading.mark.udid === udid ? "yes" : "no";
  }

  /** Waits until the device is neither starting nor stopping, at most until `deadline` on the clock. Undefined when it is gone. */
  async settled(udid: string, deadline: number, signal: AbortSignal): Promise<SimDevice | undefined> {
    const { clock } = this.#options;
    for (;;) {
      const device = await this.find(udid, signal);
      if (device === undefined || device.runState !== "transitioning" || clock.now() >= deadline) return device;
      await clock.sleep(READING_PAUSE_MS, signal);
    }
  }

  /** A device that was removed needs no place any more. */
  forget(udid: string): void {
    this.#places.delete(udid);
  }

  #isOnDisk(udid: string): boolean {
    return existsSync(this.#places.get(udid)?.folder ?? join(this.#options.folder, udid));
  }

  async #readDevices(signal: AbortSignal): Promise<readonly SimDevice[]> {
    const output = await this.#query(["list", "-j", "devices"], signal);
    const { devices, noise } = parseDevices(output);
    this.#note(noise);
    for (const device of devices) {
      if (isOurName(device.name)) this.#places.set(device.udid, this.place(device));
    }
    return devices;
  }

  async #readKinds(signal: AbortSignal): Promise<Kinds> {
    const { deviceTypes, runtimes, noise } = parseKinds(
      await this.#query(["list", "-j", "devicetypes", "runtimes"], signal),
    );
    this.#note(noise);
    this.#lastKinds = { deviceTypes, runtimes };
    return this.#lastKinds;
  }

  /** The first answer after a cold start can take minutes: CoreSimulator looks at every runtime first. */
  async #query(args: readonly string[], signal: AbortSignal): Promise<string> {
    const timeoutMs = this.#listedBefore ? LIMITS.list : LIMITS.firstList;
    const output = await this.#options.simctl.query(args, { timeoutMs, signal });
    this.#listedBefore = true;
    return output;
  }

  #note(noise: string | undefined): void {
    if (noise !== undefined)
      this.#options.log("info", "simctl wrote this in front of its answer", { noise: noise.slice(0, 500) });
  }
}
