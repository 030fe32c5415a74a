import type { StatusBar } from "../types.ts";
import { byText, sameJson } from "./canonical.ts";

/** As a schema reads it: an optional field may be there as undefined. */
type Overrides = { readonly [K in keyof StatusBar]?: StatusBar[K] | undefined };

/**
 * Whether two sets of overrides look the same. `status_bar list` prints a group whole as soon as one of its members is set, and an unset one reads 0
 * there, so 0 and unset are the same within a group that is set.
 */
export function sameStatusBar(a: Overrides, b: Overrides): boolean {
  return sameJson(printed(a), printed(b));
}

function printed(bar: Overrides): { readonly [key: string]: string | number | null } {
  const wifi = bar.wifiMode !== undefined || bar.wifiBars !== undefined;
  const cell = bar.cellularMode !== undefined || bar.cellularBars !== undefined;
  const battery = bar.batteryState !== undefined || bar.batteryLevel !== undefined;
  return {
    time: bar.time ?? null,
    dataNetwork: bar.dataNetwork ?? null,
    operatorName: bar.operatorName ?? null,
    ...(wifi ? { wifiMode: bar.wifiMode ?? "unset", wifiBars: bar.wifiBars ?? 0 } : {}),
    ...(cell ? { cellularMode: bar.cellularMode ?? "notSupported", cellularBars: bar.cellularBars ?? 0 } : {}),
    ...(battery ? { batteryState: bar.batteryState ?? "discharging", batteryLevel: bar.batteryLevel ?? 0 } : {}),
  };
}

/** The overrides as simctl's options, in the order of their names. */
export function overrideOptions(bar: Overrides): readonly string[] {
  return Object.entries(bar)
    .toSorted(([a], [b]) => byText(a, b))
    .flatMap(([key, value]) => (value === undefined ? [] : [`--${key}`, String(value)]));
}
