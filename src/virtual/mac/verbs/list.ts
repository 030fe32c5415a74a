import { writeFileSync } from "node:fs";
import { parseArguments } from "../arguments.ts";
import type { Call } from "../call.ts";
import { DEVICE_TYPES } from "../catalog/models.ts";
import { RUNTIMES } from "../catalog/runtimes.ts";
import { stateAt } from "../device.ts";
import type { Device } from "../device.ts";
import { appleJson } from "../formats/apple-json.ts";
import { listingJson } from "../listing-json.ts";
import { listingText } from "../listing-text.ts";
import { isAvailable } from "../selection.ts";

export const SECTIONS = ["devicetypes", "runtimes", "devices", "pairs"] as const;
export type Section = (typeof SECTIONS)[number];

/** Whether an entry is listed, by its names and, for a device, its state. */
export type Term = (entry: {
  readonly texts: readonly string[];
  readonly available: boolean;
  readonly state?: string;
}) => boolean;

/** `list [-j] [-v] [devices|devicetypes|runtimes|pairs]… [term]`. Several sections may be named, as `list -j devicetypes runtimes` is in use. */
export async function list(call: Call, args: readonly string[]): Promise<void> {
  const parsed = parseArguments("list", args, {
    flags: ["-j --json", "-v --verbose", "-e --no-escape-slashes"],
    values: ["--json-output"],
  });
  const split = parsed.operands.findIndex((word) => !isSection(word));
  const named = (split < 0 ? parsed.operands : parsed.operands.slice(0, split)).filter(isSection);
  const sections = named.length === 0 ? SECTIONS : SECTIONS.filter((section) => named.includes(section));
  const term = termOf(split < 0 ? [] : parsed.operands.slice(split));
  await call.takeTime("list");

  const file = parsed.value("--json-output");
  if (file === undefined && !parsed.has("-j")) {
    call.out(listingText(call, sections, term));
    return;
  }
  const text = `${appleJson(listingJson(call, sections, term), { escapeSlashes: !parsed.has("-e") })}\n`;
  if (file === undefined) call.out(text);
  else writeFileSync(file, text);
}

function isSection(word: string): word is Section {
  return SECTIONS.some((section) => section === word);
}

function termOf(words: readonly string[]): Term {
  const term = words.join(" ").toLowerCase();
  if (term === "") return () => true;
  if (term === "available") return (entry) => entry.available;
  if (term === "booted") return (entry) => entry.state === "Booted";
  return (entry) => entry.texts.some((text) => text.toLowerCase().includes(term));
}

/** The set's devices that a term lets through, by runtime: every installed runtime is there, with or without devices. */
export function devicesByRuntime(call: Call, term: Term): ReadonlyMap<string, readonly Device[]> {
  const now = Date.now();
  const groups = new Map<string, Device[]>();
  for (const runtime of RUNTIMES) if (isAvailable(call.control, runtime.identifier)) groups.set(runtime.identifier, []);
  for (const device of call.set.devices()) {
    const available = isAvailable(call.control, device.runtimeId);
    const state = stateAt(device, now);
    if (!term({ texts: [device.name, device.udid, device.runtimeId], available, state })) continue;
    groups.set(device.runtimeId, [...(groups.get(device.runtimeId) ?? []), device]);
  }
  return groups;
}

export function typesFor(term: Term) {
  return DEVICE_TYPES.filter((type) => term({ texts: [type.name, type.identifier], available: true }));
}

export function runtimesFor(call: Call, term: Term) {
  return RUNTIMES.filter((runtime) => isAvailable(call.control, runtime.identifier)).filter((runtime) =>
    term({ texts: [runtime.name, runtime.identifier], available: true }),
  );
}
