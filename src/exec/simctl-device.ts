import type { Reading } from "./reading.ts";
import { refuse } from "./refusal.ts";

const UUID = /^[0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{12}$/i;
/** simctl takes these for every device, those that can't be used, and the Mac. */
const WORDS = new Set(["all", "unavailable", "host"]);

/** Whether a token can only be meant as a device: a word for several, or an id. */
export const isDeviceWord = (token: string): boolean => WORDS.has(token) || UUID.test(token);

export interface DeviceTaken {
  /** What is written in the slot: always the lease's own id. */
  readonly device: string;
  /** Whether the caller had written a device there. */
  readonly named: boolean;
  readonly rest: readonly string[];
}

/** Takes the device from the front of the operands: the own id in any case, `booted`, or nothing. */
export function takeDevice(operands: readonly string[], reading: Reading): DeviceTaken {
  const { device } = reading.setting;
  const own = device.kind === "simulator" ? device.udid : "";
  const [first, ...rest] = operands;
  if (first === undefined) return { device: own, named: false, rest: operands };
  if (first.toUpperCase() === own.toUpperCase() || first === "booted") return { device: own, named: true, rest };
  if (isDeviceWord(first)) {
    refuse(
      "other-device",
      first,
      "it is not the leased simulator.",
      "Leave the device out: Simlock fills it in. Lease another device to use it.",
    );
  }
  return { device: own, named: false, rest: operands };
}
