import { planState, type Profile, type Snapshot } from "../src/state/index.ts";
import { atMost, ms, percentile, sample, times, type Figure } from "./figure.ts";

const APPLICATIONS = 1_000;
const PREFERENCES = 5_000;
const GOAL_MS = 20;

/** What a large plan costs, and that it costs by its size: against a tenth of it, ten times. */
export async function planFigures(): Promise<Figure[]> {
  const tenth = await sample(60, 60, planning(0.1));
  const whole = await sample(30, 20, planning(1));
  const floor = percentile(tenth, 0.5) * 10;
  const measured = percentile(whole, 0.5);
  const name = `plan of ${APPLICATIONS} apps and ${PREFERENCES} preferences`;
  return [
    atMost(`${name}, linear`, "ten plans of a tenth", floor, measured, 1.5),
    {
      name,
      floor: `goal: ${ms(GOAL_MS)}`,
      value: ms(measured),
      ratio: times(measured / GOAL_MS),
      goal: "≤ 1×",
      met: measured <= GOAL_MS,
    },
  ];
}

function planning(share: number): () => void {
  const profile: Profile = {
    apiVersion: "simlock/v1",
    kind: "SimulatorState",
    metadata: { name: "large" },
    target: { name: "phone" },
    spec: {
      power: "booted",
      eraseBeforeApply: false,
      applications: Array.from({ length: APPLICATIONS * share }, (_, at) => ({
        bundleIdentifier: `com.acme.app${at}`,
        sourcePath: `/builds/App${at}.app`,
        presence: "present",
        launchArguments: [],
      })),
      preferences: Array.from({ length: PREFERENCES * share }, (_, at) => ({
        domain: `com.acme.app${at % 100}`,
        key: `key${at}`,
        value: at,
      })),
    },
  };
  const writable = { support: "exact", readable: true, writable: true } as const;
  const snapshot: Snapshot = {
    apiVersion: "awesome-ios-sim/snapshot-v1alpha1",
    generatedAt: "2026-08-18T00:00:00Z",
    device: {
      udid: "0A1B2C3D-0000-4000-8000-00000000A001",
      name: "phone",
      state: "Booted",
      runtimeIdentifier: "com.apple.CoreSimulator.SimRuntime.iOS-26-1",
      isAvailable: true,
    },
    state: { power: "booted", applications: [], preferences: [] },
    capabilities: { power: writable, applications: writable, preferences: writable },
  };
  return () => {
    const { operations } = planState(profile, snapshot);
    if (operations.length !== (APPLICATIONS + PREFERENCES) * share) throw new Error("the plan is not whole");
  };
}
