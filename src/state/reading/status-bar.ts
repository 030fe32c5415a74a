import type { StatusBar } from "../types.ts";

/** What simctl prints for each word, as captured from Xcode 26. A mode of Wi-Fi has no 0: there 0 is not set. */
const NETWORKS = new Map<number, NonNullable<StatusBar["dataNetwork"]>>([
  [0, "hide"],
  [1, "wifi"],
  [6, "3g"],
  [7, "4g"],
  [8, "lte"],
  [9, "lte-a"],
  [10, "lte+"],
  [11, "5g"],
  [12, "5g+"],
  [13, "5g-uwb"],
  [14, "5g-uc"],
]);
const WIFI_MODES = new Map<number, NonNullable<StatusBar["wifiMode"]>>([
  [1, "searching"],
  [2, "failed"],
  [3, "active"],
]);
const CELLULAR_MODES = new Map<number, NonNullable<StatusBar["cellularMode"]>>([
  [0, "notSupported"],
  [1, "searching"],
  [2, "failed"],
  [3, "active"],
]);
const BATTERY_STATES = new Map<number, NonNullable<StatusBar["batteryState"]>>([
  [0, "discharging"],
  [1, "charging"],
  [2, "charged"],
]);

export interface ReadStatusBar {
  readonly statusBar: StatusBar;
  readonly uncertain: readonly (keyof StatusBar)[];
}

/**
 * The overrides in what `status_bar list` prints: a header, a line of `=`, and a line for each group that has an override. Within a printed group what is
 * not set is printed as 0 as well, so a 0 beside another value is uncertain. Throws `Error` for a line, a repetition or a number that is not known, as
 * then something else is set than what can be told.
 */
export function statusBarOf(output: string): ReadStatusBar {
  const [header = "", ...rest] = output.replace(/\r?\n$/, "").split(/\r?\n/);
  if (!/^Current Status Bar Overrides:?\s*$/i.test(header)) throw new Error("simctl listed no status bar");
  const lines = /^=+\s*$/.test(rest[0] ?? "") ? rest.slice(1) : rest;
  const seen = new Set<string>();
  let found: ReadStatusBar = { statusBar: {}, uncertain: [] };
  for (const line of lines) {
    if (line === "") continue;
    const group = groupOf(line);
    if (seen.has(group.name)) throw new Error(`the status bar's listing says twice what ${group.name} is`);
    seen.add(group.name);
    found = {
      statusBar: { ...found.statusBar, ...group.statusBar },
      uncertain: [...found.uncertain, ...(group.uncertain ?? [])],
    };
  }
  return found;
}

interface Group {
  readonly name: string;
  readonly statusBar: StatusBar;
  readonly uncertain?: readonly (keyof StatusBar)[];
}

function groupOf(line: string): Group {
  const time = /^Time: (.*)$/s.exec(line)?.[1];
  if (time !== undefined) return { name: "Time", statusBar: { time } };
  const operatorName = /^Operator Name: (.*)$/s.exec(line)?.[1];
  if (operatorName !== undefined) return { name: "Operator Name", statusBar: { operatorName } };
  const network = numbers(/^DataNetworkType: (\d+)$/, line);
  if (network !== undefined) {
    return { name: "DataNetworkType", statusBar: { dataNetwork: known(NETWORKS, network[0], "data network") } };
  }
  const wifi = numbers(/^WiFi Mode: (\d+), WiFi Bars: (\d+)$/, line);
  if (wifi !== undefined) return wifiOf(wifi);
  const cell = numbers(/^Cell Mode: (\d+), Cell Bars: (\d+)$/, line);
  if (cell !== undefined) return cellOf(cell);
  const battery = numbers(/^Battery State: (\d+), Battery Level: (\d+)(?:, Not Charging: \d+)?$/, line);
  if (battery !== undefined) return batteryOf(battery);
  throw new Error("the status bar's listing has a line that is not known");
}

/** Mode 0 is not set, so the bars are, whatever they read. */
function wifiOf([mode, bars]: readonly [number, number]): Group {
  const name = "WiFi Mode";
  if (mode === 0) return { name, statusBar: { wifiBars: within(bars, 3) } };
  const statusBar = { wifiMode: known(WIFI_MODES, mode, "Wi-Fi mode"), wifiBars: within(bars, 3) };
  return { name, statusBar, uncertain: bars === 0 ? ["wifiBars"] : [] };
}

function cellOf([mode, bars]: readonly [number, number]): Group {
  return {
    name: "Cell Mode",
    statusBar: { cellularMode: known(CELLULAR_MODES, mode, "cellular mode"), cellularBars: within(bars, 4) },
    uncertain: [...(mode === 0 ? (["cellularMode"] as const) : []), ...(bars === 0 ? (["cellularBars"] as const) : [])],
  };
}

function batteryOf([state, level]: readonly [number, number]): Group {
  return {
    name: "Battery State",
    statusBar: { batteryState: known(BATTERY_STATES, state, "battery state"), batteryLevel: within(level, 100) },
    uncertain: [
      ...(state === 0 ? (["batteryState"] as const) : []),
      ...(level === 0 ? (["batteryLevel"] as const) : []),
    ],
  };
}

function numbers(form: RegExp, line: string): readonly [number, number] | undefined {
  const found = form.exec(line);
  return found === null ? undefined : [Number(found[1]), Number(found[2] ?? 0)];
}

function known<T>(words: ReadonlyMap<number, T>, code: number, what: string): T {
  const word = words.get(code);
  if (word === undefined) throw new Error(`the ${what} ${code} has no name`);
  return word;
}

function within(value: number, most: number): number {
  if (value > most) throw new Error(`the status bar's listing says ${value} where ${most} is the most`);
  return value;
}
