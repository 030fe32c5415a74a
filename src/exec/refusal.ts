import { SimlockError } from "../contract/index.ts";
import type { RefusalReason, Verdict } from "./types.ts";

/** A command that may not run. Thrown by the readers, turned into a verdict by `decideCommand`; never leaves this room. */
export class Refusal extends Error {
  readonly reason: RefusalReason;
  readonly token: string;
  readonly hint: string;

  constructor(reason: RefusalReason, token: string, why: string, hint: string) {
    super(`${quoted(token)} was refused: ${why}`);
    this.name = "Refusal";
    this.reason = reason;
    this.token = shortened(token);
    this.hint = hint;
  }
}

export function refuse(reason: RefusalReason, token: string, why: string, hint: string): never {
  throw new Refusal(reason, token, why, hint);
}

/** An argument as a message shows it: short, on one line, and with what the eye can't see written as an escape. */
export function quoted(text: string): string {
  return JSON.stringify(shortened(text)).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]|(?! )\p{Zs}/gu,
    (hidden) => `\\u{${hidden.codePointAt(0)?.toString(16) ?? ""}}`,
  );
}

const LONGEST_SHOWN = 200;

function shortened(text: string): string {
  if (text.length <= LONGEST_SHOWN) return text;
  return `${text.slice(0, LONGEST_SHOWN)}…`;
}

/** The error behind a verdict that lets nothing run: `PASSTHROUGH_REFUSED` or `UNKNOWN_PASSTHROUGH_TOOL`. */
export function toError(verdict: Exclude<Verdict, { kind: "run" }>, tool: string): SimlockError {
  if (verdict.kind === "unknown-tool") {
    return new SimlockError("UNKNOWN_PASSTHROUGH_TOOL", `There is no device tool ${quoted(verdict.tool)}.`, {
      details: { tool: verdict.tool },
    });
  }
  return new SimlockError("PASSTHROUGH_REFUSED", verdict.message, {
    details: { tool, reason: verdict.reason, token: verdict.token },
    hint: verdict.hint,
  });
}
