import { setTimeout as pause } from "node:timers/promises";
import { SimlockError } from "../../contract/index.ts";
import { firstLines, SharedRead, toolchainFailure, xcodeMismatch } from "../../exec/index.ts";
import type {
  DeviceReader,
  Inventory,
  InventoryDevice,
  ObservedState,
  ReadRequest,
  RunSimctl,
  Snapshot,
} from "../types.ts";
import { capabilitiesOf, capabilitiesOfShutdown, capabilitiesOfTransition } from "./capabilities.ts";
import { Commands } from "./command.ts";
import { privacyRead, readDevice } from "./device-reads.ts";
import type { DeviceReads } from "./device-reads.ts";
import { inventoryOf } from "./inventory.ts";
import { checkDomain, localizationOf, preferencesOf } from "./preferences.ts";
import { READ_SERVICES } from "./privacy.ts";

export interface ReaderOptions {
  /** What DEVELOPER_DIR is, where it is set. */
  readonly developerDirectory?: string | undefined;
  readonly now?: () => Date;
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Milliseconds. Right after a cold start of CoreSimulator a listing can take minutes (dotnet/xharness#298). */
const LIST_LIMIT = 120_000;
const RETRY_PAUSE = 1_000;

/** Reads simulators through simctl. Those who ask for the same at the same time share one reading. */
export function createReader(run: RunSimctl, options: ReaderOptions = {}): DeviceReader {
  const { now = () => new Date(), developerDirectory } = options;
  const sleep = options.sleep ?? (async (ms, signal) => void (await pause(ms, undefined, { signal })));
  const commands = new Commands(run);
  const stamp = () => `${now().toISOString().slice(0, 19)}Z`;
  let known: Inventory | undefined;
  const inventories = new SharedRead<Inventory>(async (signal) => {
    known = await listed(run, signal, stamp, developerDirectory, sleep);
    return known;
  });
  const snapshots = new Map<string, { readonly shared: SharedRead<Snapshot>; askers: number }>();

  const snapshot = async (request: ReadRequest, asker: AbortSignal): Promise<Snapshot> => {
    // One failure that says it all ends the other reads as well.
    const fatal = new AbortController();
    const signal = AbortSignal.any([asker, fatal.signal]);
    try {
      return await snapshotOf(request, signal);
    } finally {
      fatal.abort();
    }
  };

  const snapshotOf = async (request: ReadRequest, signal: AbortSignal): Promise<Snapshot> => {
    for (let attempt = 1; ; attempt += 1) {
      // A device that was booted when it was last seen most likely is: then its parts are read while the listing is made anew.
      const likely = known?.devices.find(({ udid, state }) => udid === request.udid && state === "Booted");
      const early = likely === undefined ? undefined : readDevice(commands, likely, request, signal);
      early?.catch(() => {});
      const device = deviceIn(await inventories.fresh(signal), request.udid);
      const reads =
        device.state === "Booted" ? await (early ?? readDevice(commands, device, request, signal)) : undefined;
      const failed = reads === undefined ? [] : failuresOf(reads);
      if (failed.includes("no-device")) throw vanished(request.udid);
      // Its state changed while it was read, so half of this is of a device that is no more: read it as it is now.
      if (failed.includes("state") && attempt === 1) continue;
      return {
        apiVersion: "awesome-ios-sim/snapshot-v1alpha1",
        generatedAt: stamp(),
        device,
        ...(await said(device, reads, request, signal)),
      };
    }
  };

  return {
    inventory: (signal) => cancellable(signal, () => inventories.fresh(signal)),
    async snapshot(request) {
      for (const domain of request.domains ?? []) checkDomain(domain);
      const { signal, ...asked } = request;
      const key = JSON.stringify([asked.udid, asked.domains ?? [], asked.privacyOf ?? null, asked.pasteboard === true]);
      const reading = snapshots.get(key) ?? {
        shared: new SharedRead<Snapshot>((own) => snapshot(asked, own)),
        askers: 0,
      };
      snapshots.set(key, reading);
      reading.askers += 1;
      try {
        return await cancellable(signal, () => reading.shared.fresh(signal));
      } finally {
        reading.askers -= 1;
        if (reading.askers === 0 && snapshots.get(key) === reading) snapshots.delete(key);
      }
    },
  };
}

/** Whoever gives up a reading that others share gets the signal's own reason; the door says it in our words. */
async function cancellable<T>(signal: AbortSignal | undefined, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof SimlockError || signal?.aborted !== true) throw error;
    throw new SimlockError("CANCELLED", "Reading the simulator was cancelled.");
  }
}

/** What is there of the device, and what may be said of it. */
async function said(
  device: InventoryDevice,
  reads: DeviceReads | undefined,
  request: ReadRequest,
  signal: AbortSignal,
): Promise<Pick<Snapshot, "state" | "capabilities">> {
  if (reads !== undefined) return { state: stateOf(reads), capabilities: capabilitiesOf(device, reads) };
  const state = { power: "shutdown", applications: [], preferences: [] } as const;
  if (device.state !== "Shutdown") return { state, capabilities: capabilitiesOfTransition(device) };
  const privacy = await privacyRead(device, request.privacyOf, signal);
  return {
    state: {
      ...state,
      statusBar: {},
      ...(privacy.ok ? { privacy: privacy.value, privacyServices: READ_SERVICES } : {}),
    },
    capabilities: capabilitiesOfShutdown(device, privacy),
  };
}

function stateOf(reads: DeviceReads): ObservedState {
  const { applications, running, statusBar, appearance, increaseContrast, contentSize, pasteboard, privacy } = reads;
  const domains = [...reads.domains].flatMap(([name, read]) => (read.ok ? [{ name, values: read.value }] : []));
  return {
    power: "booted",
    applications: (applications.ok ? applications.value : []).map((app) =>
      running.ok ? { ...app, running: running.value.has(app.bundleIdentifier) } : app,
    ),
    preferences: domains.flatMap(({ name, values }) => preferencesOf(name, values)),
    preferenceDomains: domains.map(({ name }) => name),
    ...(statusBar.ok ? { statusBar: statusBar.value.statusBar } : {}),
    ...(statusBar.ok && statusBar.value.uncertain.length > 0 ? { statusBarUncertain: statusBar.value.uncertain } : {}),
    ...(appearance.ok ? { appearance: appearance.value } : {}),
    ...(increaseContrast.ok && increaseContrast.value !== undefined
      ? { increaseContrast: increaseContrast.value }
      : {}),
    ...(contentSize.ok && contentSize.value !== undefined ? { contentSize: contentSize.value } : {}),
    ...(reads.global.ok ? { localization: localizationOf(reads.global.value) } : {}),
    ...(privacy.ok ? { privacy: privacy.value, privacyServices: READ_SERVICES } : {}),
    ...(pasteboard?.ok === true ? { pasteboard: pasteboard.value } : {}),
  };
}

function failuresOf(reads: DeviceReads): readonly ("no-device" | "state" | undefined)[] {
  const { domains, pasteboard, ...others } = reads;
  return [...Object.values(others), ...domains.values(), ...(pasteboard === undefined ? [] : [pasteboard])].map(
    (read) => (read.ok ? undefined : read.because),
  );
}

/**
 * CoreSimulator's service may just have been replaced by another Xcode's: the first command then prints its complaint and no answer, and the next one
 * works (luosheng/OpenSim#30).
 */
async function listed(
  run: RunSimctl,
  signal: AbortSignal,
  stamp: () => string,
  developerDirectory: string | undefined,
  sleep: (ms: number, signal: AbortSignal) => Promise<void>,
): Promise<Inventory> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await run({ args: ["list", "-j"], timeoutMs: LIST_LIMIT, signal });
    const broken = toolchainFailure(answer);
    if (broken !== undefined) throw broken;
    if (answer.exitCode === 0 && answer.stdout.trim() !== "") {
      return inventoryOf(answer.stdout, { generatedAt: stamp(), developerDirectory });
    }
    const mismatch = xcodeMismatch(answer);
    if (mismatch === undefined || attempt === 2) {
      throw (
        mismatch ??
        new SimlockError("TOOL_FAILED", `\`simctl list -j\` gave no listing: ${firstLines(answer)}`, {
          hint: "Run `xcrun simctl list -j` yourself; `simlock doctor` checks the Xcode installation.",
          details: { exitCode: answer.exitCode },
        })
      );
    }
    await sleep(RETRY_PAUSE, signal);
  }
}

/** A UDID, whole and exact: `booted` or `all` names no device here. */
function deviceIn(inventory: Inventory, udid: string): InventoryDevice {
  const device = inventory.devices.find((each) => each.udid === udid);
  if (device !== undefined) return device;
  throw new SimlockError("UNKNOWN_DEVICE", `No simulator has the UDID "${udid.slice(0, 80)}".`, {
    hint: WHICH_DEVICES,
  });
}

function vanished(udid: string): SimlockError {
  return new SimlockError("UNKNOWN_DEVICE", `The simulator ${udid} was deleted while it was read.`, {
    hint: WHICH_DEVICES,
  });
}

const WHICH_DEVICES = "See the simulators with `simulator_inventory`, or `simlock state inventory`.";
