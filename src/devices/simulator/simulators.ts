import type { Slots } from "../../exec/index.ts";
import type { DeviceSet } from "./device-set.ts";
import type { Clock, Log, Simctl } from "./simctl.ts";

/** What every act on a simulator needs: the tool, the device set, time, and the bounds. */
export interface Simulators {
  readonly simctl: Simctl;
  readonly set: DeviceSet;
  readonly clock: Clock;
  readonly log: Log;
  readonly instanceId: string;
  /** Boots at once. */
  readonly boots: Slots;
  readonly bootTimeoutMs: number;
}
