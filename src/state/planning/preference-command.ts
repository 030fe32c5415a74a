import type { JsonValue } from "../types.ts";
import type { Command } from "./command.ts";
import { LIMITS } from "./limits.ts";
import { plistFragment } from "./plist-fragment.ts";

const INT32 = 2 ** 31;

/** `defaults` in the device. Null deletes the key. */
export function preferenceCommand(udid: string, domain: string, key: string, value: JsonValue): Command {
  const defaults = ["spawn", udid, "defaults"];
  if (value === null) {
    return {
      args: [...defaults, "delete", domain, key],
      timeoutMs: LIMITS.short,
      // The whole message differs between versions; the second line has stayed.
      alreadySo: { text: /Defaults have not been changed|does not exist/, note: "It was not set." },
    };
  }
  return { args: [...defaults, "write", domain, key, ...words(value)], timeoutMs: LIMITS.short };
}

function words(value: Exclude<JsonValue, null>): readonly string[] {
  switch (typeof value) {
    case "boolean":
      return ["-bool", value ? "true" : "false"];
    case "string":
      return ["-string", value];
    case "number":
      // `-int` has 32 bits and `-float` single precision.
      return Number.isInteger(value) && Math.abs(value) < INT32 ? ["-int", String(value)] : [plistFragment(value)];
    default:
      return [plistFragment(value)];
  }
}
