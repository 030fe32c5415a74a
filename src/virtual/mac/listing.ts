import type { Call } from "./call.ts";
import { DEVICE_TYPES } from "./catalog/models.ts";
import type { DeviceType } from "./catalog/models.ts";
import { RUNTIMES } from "./catalog/runtimes.ts";
import type { Runtime } from "./catalog/runtimes.ts";
import { stateAt } from "./device.ts";
import type { Device } from "./device.ts";
import { isAvailable } from "./selection.ts";

export const SECTIONS = ["devicetypes", "runtimes", "devices", "pairs"] as const;
export type Section = (typeof SECTIONS)[number];

/** Whether an entry is listed, by its names and, for a device, its state. */
export type Term = (entry: {
  readonly texts: readonly string[];
  readonly available: boolean;
  readonly state?: string;
}) => boolean;

/** The set's devices that a term lets through, by runtime: every installed runtime is there, with or without devices. */
export function devicesByRuntime(call: Call, term: Term): ReadonlyMap<string, readonly Device[]> {
  const now = Date.now();
  const groups = new Map<string, Device[]>();
  for (const runtime of RUNTIMES) if (isAvailable(call.control, runtime.identifier)) groups.set(runtime.identifier, []);
  for (const device of call.set.devices()) {
    const available = isAvailable(call.control, device.runtimeId);
    const state = stateAt(device, now);
    if (!term({ texts: [device.name, device.udid, device.runtimeId], available, state })) continue;
    groups.set(device.runtimeId, [...(groups.get(device.runtimeId) ?? []), device]);
  }
  return groups;
}

export function typesFor(term: Term): readonly DeviceType[] {
  return DEVICE_TYPES.filter((type) => term({ texts: [type.name, type.identifier], available: true }));
}

export function runtimesFor(call: Call, term: Term): readonly Runtime[] {
  return RUNTIMES.filter((runtime) => isAvailable(call.control, runtime.identifier)).filter((runtime) =>
    term({ texts: [runtime.name, runtime.identifier], available: true }),
  );
}
