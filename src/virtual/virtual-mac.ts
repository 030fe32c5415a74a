import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { SimlockError } from "../contract/index.ts";
import type { HostFacts } from "../contract/index.ts";
import { defaultSetPath, openSet } from "./mac/call.ts";
import { Control } from "./mac/control.ts";
import { storeControl } from "./mac/faults.ts";
import { DEVICE_TYPES } from "./mac/catalog/models.ts";
import { XCODE } from "./mac/xcode.ts";

export interface VirtualMac {
  readonly root: string;
  /** The folder of the default device set. */
  readonly deviceSet: string;
}

/**
 * Makes a virtual Mac in the folder `root`, or finds the one that is there. Its default device set then holds some shut-down simulators, as
 * after a fresh Xcode. `control` (pace, form of listings, faults) replaces what the Mac had. Throws `CONFIG_INVALID`.
 */
export function createVirtualMac(root: string, control?: Control): VirtualMac {
  const path = resolve(root);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (control !== undefined) setFaults(path, control);
  const deviceSet = defaultSetPath(path);
  openSet(path, deviceSet).close();
  return { root: path, deviceSet };
}

/** Replaces pace, form of listings and faults of the virtual Mac at `root`; counters of faults start anew. `{}` is a Mac without faults. Throws `CONFIG_INVALID`. */
export function setFaults(root: string, control: Control): void {
  const checked = Control.safeParse(control);
  if (!checked.success) {
    const why = checked.error.issues.map((issue) => `${issue.path.map(String).join(".")}: ${issue.message}`).join("; ");
    throw new SimlockError("CONFIG_INVALID", `The virtual Mac's faults are not as they must be: ${why}`);
  }
  storeControl(resolve(root), checked.data);
}

/** What the virtual Mac says of itself, instead of the machine that it runs on: 8 processors, 32 GiB. */
export function virtualHostFacts(): HostFacts {
  return {
    os: "macOS",
    osVersion: "26.1",
    arch: "arm64",
    cpus: 8,
    memoryBytes: 32 * 1024 ** 3,
    tools: [{ platform: "ios", name: "xcode", version: XCODE.version, build: XCODE.build }],
  };
}

/** The screen of a model in pixels, as a screenshot of it has; undefined for a name that is not in the catalog. */
export function screenSize(model: string): { readonly width: number; readonly height: number } | undefined {
  const type = DEVICE_TYPES.find((each) => each.name === model);
  return type === undefined ? undefined : { width: type.width, height: type.height };
}
