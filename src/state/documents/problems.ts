import type { z } from "zod";
import { SimlockError } from "../../contract/index.ts";

/** One thing that is wrong with a document. */
export interface Problem {
  /** RFC 6901; empty for the document itself. */
  readonly pointer: string;
  readonly message: string;
}

export type Path = readonly PropertyKey[];

/** A document with one mistake in each of its thousand entries is shown this many. */
const MAX_PROBLEMS = 20;

export function pointerTo(path: Path): string {
  return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

export function problemAt(path: Path, message: string): Problem {
  return { pointer: pointerTo(path), message };
}

/** STATE_INVALID with a line for each problem; `details.problems` has them as data. `what` names the document: "profile", "layer base.yaml". */
export function stateInvalid(what: string, problems: readonly Problem[], hint?: string): SimlockError {
  const shown = problems.slice(0, MAX_PROBLEMS);
  const more = problems.length - shown.length;
  const lines = shown.map(({ pointer, message }) => `${pointer === "" ? "$" : pointer}: ${message}`);
  if (more > 0) lines.push(`and ${more} more`);
  return new SimlockError("STATE_INVALID", `The ${what} is not valid. ${lines.join("; ")}.`, {
    details: { problems: shown, ...(more > 0 ? { omitted: more } : {}) },
    ...(hint === undefined ? {} : { hint }),
  });
}

/** What the schema found, in our words. Values are not repeated: they can be secrets. */
export function problemsOf(error: z.ZodError): readonly Problem[] {
  const misshapen = new Set(
    error.issues.filter(({ code }) => code === "unrecognized_keys").map(({ path }) => pointerTo(path)),
  );
  return (
    error.issues
      // A rule between fields says nothing of use where one of them is spelled wrong.
      .filter(({ code, path }) => code !== "custom" || !misshapen.has(pointerTo(path)))
      .map((issue) => problemAt(issue.path, messageOf(issue)))
  );
}

function messageOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "unrecognized_keys": {
      const names = issue.keys.toSorted();
      return `unknown field${names.length === 1 ? "" : "s"} ${names.map((name) => JSON.stringify(name)).join(", ")}`;
    }
    case "invalid_type":
      return issue.message.includes("received undefined")
        ? `required: ${article(issue.expected)}`
        : `must be ${article(issue.expected)}${quoteHint(issue)}`;
    case "invalid_value":
      return `must be ${issue.values.length === 1 ? "" : "one of "}${issue.values.map((value) => JSON.stringify(value)).join(", ")}`;
    case "too_small":
      if (issue.origin === "string") return "must not be empty";
      return `must ${issue.origin === "array" ? "have" : "be"} at least ${issue.minimum}${issue.origin === "array" ? " entries" : ""}`;
    case "too_big":
      if (issue.origin === "string") return `must be at most ${issue.maximum} characters long`;
      return `must ${issue.origin === "array" ? "have" : "be"} at most ${issue.maximum}${issue.origin === "array" ? " entries" : ""}`;
    default:
      return issue.message;
  }
}

function article(type: string): string {
  const name = TYPE_NAMES[type] ?? type;
  return `${/^[aeiou]/.test(name) ? "an" : "a"} ${name}`;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  int: "whole number",
  array: "list",
  record: "object",
  boolean: "true or false value",
};

/** YAML reads an unquoted 26.10 as a number, and as the number 26.1. */
function quoteHint(issue: z.core.$ZodIssueInvalidType): string {
  return issue.expected === "string" && issue.message.includes("received number") ? "; put it in quotes" : "";
}
