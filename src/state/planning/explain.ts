import type { DiffEntry, JsonValue, Plan } from "../types.ts";
import { maskedEntry } from "./mask.ts";
import { maximumRisk } from "./plan.ts";

/** What a reader of a review needs: the risk and the warnings first, then what differs, then what would be done. Hand in a masked plan. */
export function explainPlan(plan: Plan, form: "text" | "markdown" = "text"): string {
  return form === "text" ? asText(plan) : asMarkdown(plan);
}

const MOST_VALUE = 60;
const KIND_SIGNS = { add: "+", change: "~", remove: "-", unsupported: "!", unknown: "?" } as const;

function headline(plan: Plan): string {
  const count = plan.operations.length;
  if (count === 0) return `${plan.profileName}: nothing to do on ${plan.targetUDID}`;
  const noun = count === 1 ? "operation" : "operations";
  return `${plan.profileName}: ${count} ${noun} on ${plan.targetUDID}, ${maximumRisk(plan)}`;
}

function asText(plan: Plan): string {
  const warnings = plan.warnings.map((warning) => `  warning: ${warning}`);
  const fields = aligned(plan.diff.map((entry) => [`  ${KIND_SIGNS[entry.kind]} ${entry.path}`, changeOf(entry)]));
  const steps = aligned(
    plan.operations.map(({ id, risk, reason }) => [`  ${id}`, risk === "destructive" ? "DESTRUCTIVE" : "", reason]),
  );
  return sections([[headline(plan), ...warnings], fields, steps]);
}

function asMarkdown(plan: Plan): string {
  const warnings = plan.warnings.map((warning) => `> **Warning:** ${cell(warning)}`);
  const fields = plan.diff.map((entry) => `| ${entry.kind} | ${code(entry.path)} | ${cell(changeOf(entry))} |`);
  const steps = plan.operations.map(
    ({ id, risk, reason }) =>
      `| ${code(id)} | ${risk === "destructive" ? "**destructive**" : risk} | ${cell(reason)} |`,
  );
  return sections([
    [`### ${cell(headline(plan))}`],
    warnings,
    fields.length === 0 ? [] : ["| | field | |", "|---|---|---|", ...fields],
    steps.length === 0 ? [] : ["| operation | risk | |", "|---|---|---|", ...steps],
  ]);
}

function changeOf(entry: DiffEntry): string {
  const { current, desired, note } = maskedEntry(entry);
  const change = [
    ...(current === undefined ? [] : [short(current)]),
    ...(desired === undefined ? [] : [`→ ${short(desired)}`]),
  ].join(" ");
  return note === undefined ? change : `${change} (${oneLine(note)})`.trimStart();
}

function short(value: JsonValue): string {
  const text = oneLine(typeof value === "string" ? value : JSON.stringify(value));
  return text.length <= MOST_VALUE ? text : `${text.slice(0, MOST_VALUE)}…`;
}

/** Values come from devices and documents: none may draw over the lines around it. */
function oneLine(text: string): string {
  return text.replace(/\p{C}+/gu, " ");
}

const cell = (text: string): string => oneLine(text).replace(/[\\|<>`*_[\]]/g, "\\$&");
const code = (text: string): string => `\`${oneLine(text).replaceAll("`", "'").replaceAll("|", "\\|")}\``;

function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? [];
  const kept = widths.map((width) => width > 0);
  return rows.map((row) =>
    row
      .flatMap((text, at) => (kept[at] === true ? [text.padEnd(widths[at] ?? 0)] : []))
      .join("  ")
      .trimEnd(),
  );
}

function sections(parts: readonly (readonly string[])[]): string {
  const filled = parts.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}
