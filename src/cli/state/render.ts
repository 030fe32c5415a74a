import type {
  DiffEntry,
  ExecutionReport,
  FieldVerdict,
  Inventory,
  LintWarning,
  Preset,
  Provenance,
  Receipt,
  Snapshot,
  StateDiff,
} from "../../state/index.ts";
import type { Paint } from "../render/paint.ts";
import { safe, table } from "../render/table.ts";

export function inventoryText({ devices, runtimes }: Inventory, paint: Paint): string {
  const names = new Map(runtimes.map((runtime) => [runtime.identifier, runtime.name]));
  const rows = devices.map((device) => [
    paint("bold", safe(device.name)),
    safe(names.get(device.runtimeIdentifier) ?? device.runtimeIdentifier),
    device.isAvailable ? paintedState(device.state, paint) : paint("red", "unavailable"),
    device.udid,
  ]);
  if (rows.length === 0) return "There is no simulator.";
  return table(["NAME", "RUNTIME", "STATE", "UDID"], rows, paint).join("\n");
}

function paintedState(state: string, paint: Paint): string {
  return state === "Booted" ? paint("green", state) : paint("gray", state);
}

export function presetsText(all: readonly Preset[], paint: Paint): string {
  return table(
    ["PRESET", "WHAT IT DOES"],
    all.map(({ name, description }) => [paint("bold", name), description]),
    paint,
  ).join("\n");
}

/** What was read, at a glance; the whole of it is in the JSON. */
export function snapshotText({ device, state, capabilities }: Snapshot, paint: Paint): string {
  const lines = [`${paint("bold", safe(device.name))}  ${device.udid}  ${paintedState(device.state, paint)}`];
  const say = (name: string, value: unknown) => {
    if (value !== undefined)
      lines.push(`  ${name.padEnd(18)}${safe(typeof value === "string" ? value : JSON.stringify(value))}`);
  };
  const own = state.applications.filter((app) => app.type !== "System");
  if (own.length > 0) {
    say("apps", own.map((app) => `${app.bundleIdentifier}${app.running === true ? " (running)" : ""}`).join(", "));
  }
  if (state.statusBar !== undefined)
    say("status bar", Object.keys(state.statusBar).length === 0 ? "as it is" : state.statusBar);
  say("appearance", state.appearance);
  say("contrast", state.increaseContrast === undefined ? undefined : state.increaseContrast ? "increased" : "normal");
  say("content size", state.contentSize);
  say("localization", state.localization);
  if (state.privacy !== undefined && state.privacy.length > 0) {
    say("privacy", state.privacy.map((one) => `${one.bundleIdentifier} ${one.service} ${one.access}`).join(", "));
  }
  for (const { domain, key, value } of state.preferences) say(`${domain}.${key}`, value);
  for (const [name, capability] of Object.entries(capabilities)) {
    if (capability.readable) continue;
    lines.push(paint("gray", `  ${name} is not known${capability.note === undefined ? "" : `: ${capability.note}`}`));
  }
  return lines.join("\n");
}

const MARKS: Readonly<Record<DiffEntry["kind"], readonly [string, "green" | "yellow" | "red" | "gray" | "cyan"]>> = {
  add: ["+", "green"],
  change: ["~", "yellow"],
  remove: ["-", "red"],
  unsupported: ["!", "gray"],
  unknown: ["?", "cyan"],
};

export function diffText({ profileName, targetUDID, diff, warnings }: StateDiff, paint: Paint): string {
  const head = `${paint("bold", safe(profileName))} on ${targetUDID}`;
  const lines = diff.map((entry) => {
    const [mark, colour] = MARKS[entry.kind];
    const change =
      entry.desired === undefined
        ? ""
        : `  ${entry.current === undefined ? "" : `${shown(entry.current)} → `}${shown(entry.desired)}`;
    const note = entry.note === undefined ? "" : paint("gray", `  (${safe(entry.note)})`);
    return `  ${paint(colour, mark)} ${safe(entry.path)}${change}${note}`;
  });
  const said = lines.length === 0 ? [`  ${paint("green", "Nothing differs.")}`] : lines;
  return [head, ...said, ...warningLines(warnings, paint)].join("\n");
}

function shown(value: unknown): string {
  const text = safe(typeof value === "string" ? value : JSON.stringify(value));
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}

function warningLines(warnings: readonly string[], paint: Paint): string[] {
  return warnings.map((warning) => `  ${paint("yellow", "warning:")} ${safe(warning)}`);
}

export function verdictsText(
  { targetUDID, fields }: { readonly targetUDID: string; readonly fields: readonly FieldVerdict[] },
  paint: Paint,
): string {
  const rows = fields.map(({ path, verdict, note }) => [painted(verdict, paint), safe(path), safe(note ?? "")]);
  return [targetUDID, ...table(["VERDICT", "FIELD", "NOTE"], rows, paint)].join("\n");
}

function painted(verdict: FieldVerdict["verdict"], paint: Paint): string {
  return paint(verdict === "satisfied" ? "green" : verdict === "different" ? "red" : "yellow", verdict);
}

export function findingsText(findings: readonly LintWarning[], paint: Paint): string {
  if (findings.length === 0) return paint("green", "Nothing is wrong with it.");
  return table(
    ["CODE", "AT", "WHAT"],
    findings.map(({ code, pointer, message }) => [paint("yellow", code), pointer, safe(message)]),
    paint,
  ).join("\n");
}

export function provenanceText(provenance: Provenance, paint: Paint): string {
  return table(
    ["FIELD", "COMES FROM"],
    provenance.map(({ path, source }) => [
      safe(path),
      [source.kind, source.name, source.file]
        .filter((part) => part !== undefined)
        .map(safe)
        .join(" "),
    ]),
    paint,
  ).join("\n");
}

const STATUS = { dryRun: "dry run, nothing was changed", succeeded: "done", failed: "failed" } as const;

export function reportText(report: ExecutionReport, paint: Paint): string {
  const { plan, status, receipts, failure, verification, journal, deviceUDID } = report;
  const colour = status === "failed" ? "red" : status === "dryRun" ? "cyan" : "green";
  const lines = [
    `${paint("bold", safe(plan.profileName))} on ${deviceUDID ?? plan.targetUDID}: ${paint(colour, STATUS[status])}`,
  ];
  for (const receipt of receipts) lines.push(`  ${receiptLine(receipt, paint)}`);
  if (receipts.length === 0) lines.push("  There is nothing to do.");
  if (failure !== undefined) lines.push(`  ${paint("red", "failed:")} ${safe(failure)}`);
  const open = (verification ?? []).filter(({ verdict }) => verdict !== "satisfied");
  if (verification !== undefined) {
    lines.push(open.length === 0 ? `  ${paint("green", "verified")}: every field is as it should be` : "  verified:");
  }
  for (const { path, verdict, note } of open) {
    lines.push(`    ${painted(verdict, paint)} ${safe(path)}${note === undefined ? "" : `  (${safe(note)})`}`);
  }
  if (status === "dryRun" && receipts.length > 0) lines.push("  Carry it out with --confirm.");
  if (status === "failed" && journal !== undefined) {
    lines.push(`  Go on: simlock state apply --resume ${journal} --confirm`);
    lines.push(`  Take it back: simlock state apply --rollback ${journal} --confirm`);
  }
  return lines.join("\n");
}

function receiptLine({ operationID, outcome = "done", note, commands }: Receipt, paint: Paint): string {
  const colour = {
    done: "green",
    satisfied: "green",
    failed: "red",
    skipped: "gray",
    planned: "cyan",
    undone: "yellow",
  } as const;
  const command = outcome === "planned" ? commands.map((argv) => safe(argv.join(" "))).join("; ") : (note ?? "");
  return `${paint(colour[outcome], outcome.padEnd(9))} ${operationID}${command === "" ? "" : paint("gray", `  ${command}`)}`;
}
