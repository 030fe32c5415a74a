/** One simulator as its set stores it. Pure data and the rules of its life; `device-set.ts` keeps it. */
export type DeviceState = "Creating" | "Shutdown" | "Booting" | "Booted" | "Shutting Down";

export interface StatusBar {
  readonly time?: string;
  readonly dataNetwork?: string;
  readonly wifiMode?: string;
  readonly wifiBars?: number;
  readonly cellularMode?: string;
  readonly cellularBars?: number;
  readonly operatorName?: string;
  readonly batteryState?: string;
  readonly batteryLevel?: number;
}

/** What lives as long as the device runs. */
export interface Session {
  /** When `bootstatus` ends, epoch milliseconds: later than the moment at which the state becomes Booted. */
  readonly readyAt: number;
  readonly bootedAt: number;
  /** False when the device came up without a screen. */
  readonly display: boolean;
  readonly env: Readonly<Record<string, string>>;
  /** The app in front; undefined is the home screen. */
  readonly foreground?: string | undefined;
  /** What the app in front shows beside its name, a line each. */
  readonly content: readonly string[];
  readonly statusBar: StatusBar;
  readonly location?: string | undefined;
  /** The last push notification's words, shown until an app comes to the front. */
  readonly banner?: string | undefined;
  /** Jobs that were disabled when it booted: `launchctl disable` takes effect at the next boot. */
  readonly withoutLabels: readonly string[];
  readonly verbose: boolean;
}

/** What an erase puts back, and a reboot does not. */
export interface Settings {
  readonly appearance: "light" | "dark";
  readonly increaseContrast: boolean;
  readonly contentSize: string;
  readonly disabledLabels: readonly string[];
}

export interface Device {
  readonly udid: string;
  readonly name: string;
  readonly typeId: string;
  readonly runtimeId: string;
  /** As stored. Transitional states carry the time at which they are over; `stateAt` says what holds now. */
  readonly state: DeviceState;
  /** Epoch milliseconds; null in a transitional state means that it never ends by itself. */
  readonly until: number | null;
  readonly lastBootedAt: number | null;
  readonly session: Session | null;
  readonly settings: Settings;
  /** Process ids are given out upwards and never twice in the life of a set. */
  readonly bootCount: number;
}

export const FACTORY_SETTINGS: Settings = {
  appearance: "light",
  increaseContrast: false,
  contentSize: "large",
  disabledLabels: [],
};

const NEXT: Partial<Record<DeviceState, DeviceState>> = {
  Creating: "Shutdown",
  Booting: "Booted",
  "Shutting Down": "Shutdown",
};

/**
 * The state that holds at `now`. A transition ends by the clock and not by the process that began it: as with CoreSimulator's service,
 * killing `simctl boot` does not stop the boot.
 */
export function stateAt(device: Device, now: number): DeviceState {
  const next = NEXT[device.state];
  return next !== undefined && device.until !== null && now >= device.until ? next : device.state;
}

export function isRunning(device: Device, now: number): boolean {
  return stateAt(device, now) === "Booted";
}
