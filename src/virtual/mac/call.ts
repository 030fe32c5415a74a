import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Control } from "./control.ts";
import { DeviceSet } from "./device-set.ts";
import { FRESH_DEVICES } from "./catalog/fresh.ts";
import { findDeviceType } from "./catalog/models.ts";
import { findRuntime } from "./catalog/runtimes.ts";
import { paceOf } from "./pace.ts";
import type { Outside } from "./outside.ts";
import { newDevice } from "./device-folder.ts";

/** One call of `simctl`: what it was given, the set that it works on, and where its words go. */
export interface Call extends Outside {
  /** The virtual Mac's folder. */
  readonly root: string;
  readonly set: DeviceSet;
  readonly control: Control;
  readonly boot: "never" | "no-display" | undefined;
  close(): void;
  /** Waits as long as `verb` takes at this Mac's pace. */
  takeTime(verb: string): Promise<void>;
}

/** Ends with the call's exit code; nothing means 0. */
export type Verb = (call: Call, args: readonly string[]) => Promise<number | void> | number | void;

export function defaultSetPath(root: string): string {
  return join(root, "CoreSimulator", "Devices");
}

/** The set that `--set` names: a folder, or one of the tool's three words. */
export function setPathOf(root: string, word: string | undefined): string {
  if (word === undefined || word === "default") return defaultSetPath(root);
  if (word === "testing") return join(root, "XCTestDevices");
  if (word === "previews") return join(root, "Xcode", "UserData", "Previews", "Simulator Devices");
  return resolve(word);
}

export interface CallOptions {
  readonly outside: Outside;
  readonly root: string;
  readonly setWord: string | undefined;
  readonly control: Control;
  readonly boot: "never" | "no-display" | undefined;
  readonly committed: () => void;
}

export function openCall(options: CallOptions): Call {
  const path = setPathOf(options.root, options.setWord);
  let set: DeviceSet | undefined;
  return {
    root: options.root,
    control: options.control,
    ...options.outside,
    boot: options.boot,
    // Opened when a verb first asks: `help` needs none, and must not make a folder.
    get set() {
      set ??= openSet(options.root, path, options.committed);
      return set;
    },
    close: () => set?.close(),
    takeTime: async (verb) => {
      const time = paceOf(options.control, verb);
      if (time > 0) await sleep(time);
    },
  };
}

/** Opens a set, made if it is not there. The default one is then filled, any other stays empty. */
export function openSet(root: string, path: string, committed: () => void = () => {}): DeviceSet {
  const fill = path === defaultSetPath(root) ? fillFresh : undefined;
  return new DeviceSet(path, fill === undefined ? { committed } : { committed, fill });
}

function fillFresh(set: DeviceSet): void {
  for (const [model, runtimeName] of FRESH_DEVICES) {
    const type = findDeviceType(model);
    const runtime = findRuntime(runtimeName);
    if (type === undefined || runtime === undefined)
      throw new Error(`${model} on ${runtimeName} is not in the catalog`);
    newDevice(set, { name: model, type, runtime, state: "Shutdown", until: null });
  }
}
