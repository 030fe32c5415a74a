import { Redactor } from "../applying/redact.ts";
import type { DiffEntry, Plan } from "../types.ts";
import { maskedEntry } from "./mask.ts";
import { maximumRisk } from "./plan.ts";

const SHOWN_CHARACTERS = 120;

/** A plan for a review: the highest risk and the warnings first, then what differs, then what would be done. Secrets are masked. */
export function explainPlan(plan: Plan, format: "text" | "markdown"): string {
  const shown = new Redactor(plan).plan(plan);
  const diff = shown.diff.map(maskedEntry);
  return format === "text" ? asText(shown, diff) : asMarkdown(shown, diff);
}

function asText(plan: Plan, diff: readonly DiffEntry[]): string {
  const { profileName, targetUDID, operations, warnings } = plan;
  const width = Math.max(0, ...operations.map(({ id }) => id.length));
  return [
    `${clean(profileName)} on ${targetUDID}: ${countOf(operations.length)}, highest risk ${maximumRisk(plan)}`,
    ...warnings.map((warning) => `  warning: ${clean(warning)}`),
    ...diff.map((entry) => `  ${MARKS[entry.kind]} ${clean(entry.path)}${changeOf(entry)}`),
    ...(operations.length === 0 ? [] : [""]),
    ...operations.map(({ id, risk, reason }) => `  ${id.padEnd(width)}  ${risk.padEnd(11)}  ${clean(reason)}`),
    "",
  ].join("\n");
}

function asMarkdown(plan: Plan, diff: readonly DiffEntry[]): string {
  const { profileName, targetUDID, operations, warnings, digest } = plan;
  return [
    `## Plan: ${cell(profileName)}`,
    "",
    `Simulator \`${targetUDID}\`: ${countOf(operations.length)}, highest risk **${maximumRisk(plan)}**.`,
    ...(warnings.length === 0 ? [] : ["", ...warnings.map((warning) => `> **Warning:** ${cell(warning)}`)]),
    ...(diff.length === 0
      ? ["", "Nothing differs."]
      : ["", "| | field | now | wanted | note |", "| --- | --- | --- | --- | --- |", ...diff.map(rowOf)]),
    ...(operations.length === 0
      ? []
      : [
          "",
          "| operation | risk | what |",
          "| --- | --- | --- |",
          ...operations.map(({ id, risk, reason }) => `| \`${id}\` | ${risk} | ${cell(reason)} |`),
        ]),
    ...(digest === undefined ? [] : ["", `Digest: \`${digest}\``]),
    "",
  ].join("\n");
}

const MARKS: Readonly<Record<DiffEntry["kind"], string>> = {
  add: "+",
  change: "~",
  remove: "-",
  unsupported: "!",
  unknown: "?",
};

function changeOf({ current, desired, note }: DiffEntry): string {
  const values = [current, desired].filter((value) => value !== undefined).map(valueOf);
  return `${values.length === 0 ? "" : `  ${values.join(" → ")}`}${note === undefined ? "" : `  (${clean(note)})`}`;
}

function rowOf({ path, kind, current, desired, note }: DiffEntry): string {
  const value = (one: DiffEntry["current"]) =>
    one === undefined ? "" : `\`${cell(valueOf(one)).replaceAll("`", "'")}\``;
  return `| ${MARKS[kind]} | \`${cell(path)}\` | ${value(current)} | ${value(desired)} | ${cell(note ?? "")} |`;
}

function valueOf(value: DiffEntry["current"]): string {
  const text = clean(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS - 1)}…` : text;
}

function countOf(operations: number): string {
  return operations === 1 ? "1 operation" : `${operations} operations`;
}

/** Values come from documents and devices: none may move a terminal's cursor or begin a line of its own. */
function clean(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "?");
}

function cell(text: string): string {
  return clean(text).replaceAll("|", "\\|").replaceAll("<", "&lt;");
}
