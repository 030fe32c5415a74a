import { ERRORS, type SimlockError } from "../../contract/index.ts";
import { untilOf } from "../duration.ts";
import type { Paint } from "./paint.ts";
import { safe } from "./table.ts";

export function exitCodeOf(error: SimlockError): number {
  return ERRORS[error.code].exitCode;
}

/** One line for a program to read. */
export function errorLine(error: SimlockError): string {
  const { code, message, hint, details } = error.toWire();
  return JSON.stringify({
    error: { code, message, ...(hint === undefined ? {} : { hint }), ...(details === undefined ? {} : { details }) },
  });
}

/** As `ios-sim-state` says it: `error: ` and one line. */
export function dropInText(error: SimlockError): string {
  return `error: ${safe(error.hint === undefined ? error.message : `${error.message} ${error.hint}`)}`;
}

/** For a person: what was refused and why, who is in the way, what to do next. */
export function errorText(error: SimlockError, paint: Paint, now: number): string {
  const lines = [`${paint("red", "error")} ${safe(error.message)} ${paint("gray", `(${error.code})`)}`];
  lines.push(...holdersOf(error.details, now).map((line) => `  ${line}`));
  const tried = error.details?.["tried"];
  if (Array.isArray(tried)) lines.push(...tried.map((path) => `  looked at ${safe(String(path))}`));
  if (error.hint !== undefined) lines.push(`${paint("cyan", "next")}  ${safe(error.hint)}`);
  return lines.join("\n");
}

/** Who holds what a busy answer was about: `holders: [{requesterId, leaseId, model, expiresAt}]` of its details. */
function holdersOf(details: SimlockError["details"], now: number): string[] {
  const holders = details?.["holders"];
  if (!Array.isArray(holders)) return [];
  return holders.slice(0, 8).map((holder: Readonly<Record<string, unknown>>) => {
    const { requesterId, leaseId, model, expiresAt } = holder;
    const expiry = typeof expiresAt === "number" ? `, expires ${untilOf(expiresAt, now)}` : "";
    const what = typeof model === "string" ? `${model} ` : "";
    return `${safe(String(requesterId))} holds ${safe(what)}(${safe(String(leaseId))})${expiry}`;
  });
}
