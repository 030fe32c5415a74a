import type { Call } from "./call.ts";
import { findRuntime } from "./catalog/runtimes.ts";
import { stateAt } from "./device.ts";
import { pairState } from "./listing-json.ts";
import { isAvailable, UNAVAILABLE } from "./selection.ts";
import { devicesByRuntime, runtimesFor, typesFor } from "./listing.ts";
import type { Section, Term } from "./listing.ts";

const HEADS: Readonly<Record<Section, string>> = {
  devicetypes: "Device Types",
  runtimes: "Runtimes",
  devices: "Devices",
  pairs: "Device Pairs",
};

/** `list` for people. A device's line is indented by four blanks and ends in one. */
export function listingText(call: Call, sections: readonly Section[], term: Term): string {
  const lines: Readonly<Record<Section, () => readonly string[]>> = {
    devicetypes: () => typesFor(term).map((type) => `${type.name} (${type.identifier})`),
    runtimes: () =>
      runtimesFor(call, term).map(
        ({ name, version, build, identifier }) => `${name} (${version} - ${build}) - ${identifier}`,
      ),
    devices: () => deviceLines(call, term),
    pairs: () => pairLines(call),
  };
  return sections.map((section) => [`== ${HEADS[section]} ==`, ...lines[section](), ""].join("\n")).join("");
}

function deviceLines(call: Call, term: Term): readonly string[] {
  const now = Date.now();
  return [...devicesByRuntime(call, term)].flatMap(([runtimeId, devices]) => {
    const available = isAvailable(call.control, runtimeId);
    const head = available ? `-- ${findRuntime(runtimeId)?.name ?? runtimeId} --` : `-- Unavailable: ${runtimeId} --`;
    const why = available ? "" : ` (unavailable, ${UNAVAILABLE})`;
    return [head, ...devices.map((device) => `    ${device.name} (${device.udid}) (${stateAt(device, now)})${why} `)];
  });
}

function pairLines(call: Call): readonly string[] {
  const now = Date.now();
  return call.set.pairs().flatMap((pair) => {
    const sides = [pair.watch, pair.phone].map((udid) => call.set.device(udid));
    const states = sides.map((side) => (side === undefined ? "Shutdown" : stateAt(side, now)));
    const line = (label: string, index: number) =>
      `    ${label}: ${sides[index]?.name ?? ""} (${sides[index]?.udid ?? ""}) (${states[index] ?? ""})`;
    return [
      `${pair.id} ${pairState(
        pair.active,
        states.every((state) => state === "Booted"),
      )}`,
      line("Watch", 0),
      line("Phone", 1),
    ];
  });
}
