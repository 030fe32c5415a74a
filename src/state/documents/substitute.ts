import { type Path, type Problem, problemAt } from "./problems.ts";

/**
 * `${env:NAME}` and `${env:NAME:-default}` in the strings of a simlock/v1 document; `$${` stands for `${`. Only where the caller brings an
 * environment, as the reader of a file does: a document that came over the wire can't ask for the variables of this process.
 */
export interface Substituted {
  readonly value: unknown;
  readonly problems: readonly Problem[];
}

type Fields = Record<string, unknown>;
type Environment = Readonly<Record<string, string | undefined>>;

const PLACES = ["extends", "target", "targets", "spec"];
const PLACEHOLDER = /(\$?)\$\{(?:env:([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\})?/g;

export function substitute(document: Readonly<Fields>, environment: Environment | undefined): Substituted {
  const problems: Problem[] = [];
  const filled: Path[] = [];
  const fill = (value: unknown, path: Path): unknown => {
    if (typeof value === "string") {
      const result = fillText(value, environment);
      if (result.problem !== undefined) problems.push(problemAt(path, result.problem));
      if (result.filled) filled.push(path);
      return result.text;
    }
    if (Array.isArray(value)) return value.map((entry, index) => fill(entry, [...path, index]));
    if (!isFields(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, fill(entry, [...path, key])]));
  };
  const value: Fields = { ...document };
  for (const place of PLACES) if (Object.hasOwn(value, place)) value[place] = fill(value[place], [place]);
  for (const path of filled) markSensitive(value, path);
  return { value, problems };
}

/** The text as a document has to spell it, so that reading it gives the text again. */
export function escapePlaceholders(value: string): string {
  return value.replaceAll("${", () => "$${");
}

function fillText(
  value: string,
  environment: Environment | undefined,
): { readonly text: string; readonly filled: boolean; readonly problem?: string } {
  let problem: string | undefined;
  let filled = false;
  const replaced = value.replaceAll(
    PLACEHOLDER,
    (whole: string, escape: string, name: string | undefined, otherwise: string | undefined) => {
      if (escape !== "") return whole.slice(1);
      if (name === undefined) {
        problem ??= "`${` begins `${env:NAME}` or `${env:NAME:-default}`; write `$${` for the characters themselves";
        return whole;
      }
      if (environment === undefined) {
        problem ??=
          "`${env:…}` is filled in only where a document is read from a file; write `$${` for the characters themselves";
        return whole;
      }
      filled = true;
      const set = Object.hasOwn(environment, name) ? environment[name] : undefined;
      if (set !== undefined && (set !== "" || otherwise === undefined)) return set;
      if (otherwise === undefined) problem ??= `the environment variable ${name} is not set, and there is no default`;
      return otherwise ?? "";
    },
  );
  return problem === undefined ? { text: replaced, filled } : { text: replaced, filled, problem };
}

/** What came out of the environment may be a secret: it is masked wherever the document's form can say so. */
function markSensitive(document: Fields, [root, field, index, part]: Path): void {
  const spec = document["spec"];
  if (root !== "spec" || !isFields(spec)) return;
  if (field === "pasteboard" || field === "openURL" || field === "push") {
    if (field === "push" && part !== "payload") return;
    const listed = Array.isArray(spec["sensitive"]) ? spec["sensitive"] : [];
    if (!listed.includes(field)) spec["sensitive"] = [...listed, field];
    return;
  }
  const secretPart =
    (field === "applications" && (part === "launchArguments" || part === "launchEnvironment")) ||
    (field === "preferences" && part === "value");
  const list = spec[String(field)];
  const entry: unknown = secretPart && Array.isArray(list) && typeof index === "number" ? list[index] : undefined;
  if (isFields(entry)) entry["sensitive"] = true;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
