import type { Capability, CapabilityName, DesiredState, ObservedState, Profile, Snapshot } from "../types.ts";

export const UDID = "0A1B2C3D-0000-4000-8000-00000000A001";
export const RUNTIME = "com.apple.CoreSimulator.SimRuntime.iOS-26-1";

export function profile(spec: Partial<DesiredState> = {}, more: Partial<Profile> = {}): Profile {
  return {
    apiVersion: "simlock/v1",
    kind: "SimulatorState",
    metadata: { name: "example" },
    target: { udid: UDID },
    spec: { power: "unchanged", eraseBeforeApply: false, applications: [], preferences: [], ...spec },
    ...more,
  };
}

export const app = (bundleIdentifier: string, more: Partial<DesiredState["applications"][number]> = {}) => ({
  bundleIdentifier,
  presence: "present" as const,
  launchArguments: [],
  ...more,
});

const exact: Capability = { support: "exact", readable: true, writable: true };
const NAMES: readonly CapabilityName[] = [
  "power",
  "applications",
  "running",
  "preferences",
  "statusBar",
  "appearance",
  "increaseContrast",
  "contentSize",
  "localization",
  "privacy",
  "location",
  "pasteboard",
  "media",
  "rootCertificates",
  "push",
  "openURL",
];

interface Seen {
  readonly state?: Partial<ObservedState>;
  readonly capabilities?: Partial<Record<CapabilityName, Partial<Capability>>>;
  readonly device?: Partial<Snapshot["device"]>;
}

export function snapshot(power: "booted" | "shutdown", { state, capabilities, device }: Seen = {}): Snapshot {
  const all = NAMES.map((name) => [name, { ...exact, ...capabilities?.[name] }]);
  return {
    apiVersion: "awesome-ios-sim/snapshot-v1alpha1",
    generatedAt: "2026-08-18T00:00:00Z",
    device: {
      udid: UDID,
      name: "phone",
      state: power === "booted" ? "Booted" : "Shutdown",
      runtimeIdentifier: RUNTIME,
      isAvailable: true,
      ...device,
    },
    state: { power, applications: [], preferences: [], ...state },
    capabilities: Object.fromEntries(all),
  };
}

export const booted = (seen: Seen = {}): Snapshot => snapshot("booted", seen);
/** As a live read of one gives it: what needs a running device is not known. */
export const off = (seen: Seen = {}): Snapshot =>
  snapshot("shutdown", { ...seen, capabilities: { applications: { readable: false }, ...seen.capabilities } });
