import { SimlockError } from "../../contract/index.ts";
import type { Layer, LayerSpec } from "../types.ts";
import { V1ALPHA1 } from "./profile-schema.ts";

export interface Preset {
  readonly name: string;
  readonly description: string;
}

/** In the order in which they are listed. Names and meanings are public behaviour. */
const catalog: readonly (Preset & { readonly spec: LayerSpec })[] = [
  { name: "booted", description: "The device ends booted.", spec: { power: "booted" } },
  {
    name: "clean-status-bar",
    description: "A status bar that never changes, for screenshots and UI tests: 09:41, full signal, full battery.",
    spec: {
      statusBar: {
        time: "09:41",
        dataNetwork: "wifi",
        wifiMode: "active",
        wifiBars: 3,
        cellularMode: "active",
        cellularBars: 4,
        batteryState: "charged",
        batteryLevel: 100,
      },
    },
  },
  { name: "shutdown", description: "The device ends shut down.", spec: { power: "shutdown" } },
];

export const PRESET_NAMES: readonly string[] = catalog.map(({ name }) => name);

export function presets(): readonly Preset[] {
  return catalog.map(({ name, description }) => ({ name, description }));
}

/** The preset as a layer. Throws STATE_INVALID, naming those that there are. */
export function presetLayer(name: string): Layer {
  const found = catalog.find((preset) => preset.name === name);
  if (found !== undefined) {
    return { apiVersion: V1ALPHA1, kind: "SimulatorStateLayer", metadata: { name }, spec: found.spec };
  }
  const available = PRESET_NAMES.join(", ");
  throw new SimlockError(
    "STATE_INVALID",
    `There is no preset ${JSON.stringify(name.slice(0, 80))}. Available: ${available}.`,
    {
      details: { available: PRESET_NAMES },
      hint: `Use one of ${available}, or a layer document.`,
    },
  );
}
