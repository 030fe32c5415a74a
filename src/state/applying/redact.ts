import type { DiffEntry, JsonValue, Operation, Plan } from "../types.ts";
import { MASK, maskedEntry } from "../planning/mask.ts";

/** Names under which people keep secrets. */
const SECRET_NAME = /(pass(word|wd|phrase)?|secret|token|api[-_ ]?key|private[-_ ]?key|credential|authorization)s?$/i;

/** Secrets by their form, wherever they stand; each is bounded, as what a tool prints may be long and hostile. What comes before the secret itself is kept, as the first group. */
const SECRET_FORMS: readonly RegExp[] = [
  /((?:^|[\s"'])bearer\s+)[A-Za-z0-9._~+/=-]{8,}/gi,
  /()\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?/g,
  /\b([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/@:"']{1,256}:[^\s/@"']{1,1024}(?=@)/gi,
  /((?:pass(?:word|wd|phrase)?|secret|token|api[-_]?key|private[-_]?key)s?["']?\s*[=:]\s*["']?)[^\s"'&,;]+/gi,
  /()\b(?:sk|pk|rk)[-_](?:live|test|proj|ant)?[-_]?[A-Za-z0-9_-]{16,}/g,
  /()\bgh[pousr]_[A-Za-z0-9]{20,}/g,
  /()\bxox[abprs]-[A-Za-z0-9-]{10,}/g,
  /()\bAKIA[A-Z0-9]{16}\b/g,
  /()-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
];

/** A shorter secret is masked only where it is the whole word: it would blot out everything. */
const SHORTEST_WITHIN = 4;
/** Characters that a receipt keeps of each stream. */
const MOST_OUTPUT = 16_384;
const MARGIN = 4_096;

/** Masks what a plan marks as sensitive, what is named like a secret, and what looks like one. */
export class Redactor {
  readonly #secrets: readonly string[];

  constructor(plan: Plan) {
    const all = plan.operations.flatMap((operation) => secretsOf(operation));
    this.#secrets = [...new Set(all)].filter((each) => each !== "").toSorted((a, b) => b.length - a.length);
  }

  text(text: string): string {
    let masked = text;
    for (const secret of this.#secrets) {
      if (masked === secret) return MASK;
      if (secret.length >= SHORTEST_WITHIN) masked = masked.replaceAll(secret, MASK);
    }
    for (const form of SECRET_FORMS) masked = masked.replace(form, (_whole, before: string) => `${before}${MASK}`);
    return masked;
  }

  /**
   * A stream of a tool: its middle is left out where it is too long. Masked are the parts that stay, with a margin, so that a flood costs nothing and a
   * secret at a cut is still seen whole.
   */
  output(text: string): string {
    if (text.length <= MOST_OUTPUT) return this.text(text);
    const half = MOST_OUTPUT / 2;
    const head = this.text(text.slice(0, half + MARGIN)).slice(0, half);
    const tail = this.text(text.slice(-half - MARGIN)).slice(-half);
    return `${head}\n… ${text.length - MOST_OUTPUT} characters left out …\n${tail}`;
  }

  command(args: readonly string[]): readonly string[] {
    return args.map((word, at) => (isSecretFlag(args[at - 1]) ? MASK : this.text(word)));
  }

  /** The plan as a report shows it. It can't be applied any more: its digests are those of the plan with its values. */
  plan(plan: Plan): Plan {
    return {
      ...plan,
      diff: plan.diff.map((entry) => this.#entry(entry)),
      operations: plan.operations.map((operation) => this.#operation(operation)),
      warnings: plan.warnings.map((warning) => this.text(warning)),
    };
  }

  #entry(entry: DiffEntry): DiffEntry {
    const name = /\.([^.\]]+)\]$/.exec(entry.path)?.[1];
    const masked = maskedEntry(
      name !== undefined && entry.path.startsWith("spec.preferences[") && SECRET_NAME.test(name)
        ? { ...entry, sensitive: true }
        : entry,
    );
    return {
      ...masked,
      ...(masked.current === undefined ? {} : { current: this.#value(masked.current) }),
      ...(masked.desired === undefined ? {} : { desired: this.#value(masked.desired) }),
    };
  }

  #operation(operation: Operation): Operation {
    const given = Object.entries(operation.arguments).map(([name, value]) => {
      if (isSecretArgument(operation, name)) return [name, maskedValue(value)] as const;
      if (name === "launchArguments" && isTexts(value)) return [name, this.command(value)] as const;
      return [name, this.#value(value)] as const;
    });
    return { ...operation, arguments: Object.fromEntries(given), reason: this.text(operation.reason) };
  }

  #value(value: JsonValue): JsonValue {
    if (typeof value === "string") return this.text(value);
    if (typeof value !== "object" || value === null) return value;
    if (isList(value)) return value.map((each) => this.#value(each));
    return Object.fromEntries(
      Object.entries(value).map(([name, each]: [string, JsonValue]) => [
        name,
        SECRET_NAME.test(name) ? maskedValue(each) : this.#value(each),
      ]),
    );
  }
}

/** Which app, key or service it is about is no secret. */
const PLAIN_ARGUMENTS: ReadonlySet<string> = new Set(["bundleIdentifier", "domain", "key", "index", "sensitive"]);

function isSecretArgument(operation: Operation, name: string): boolean {
  if (PLAIN_ARGUMENTS.has(name)) return false;
  if (operation.arguments["sensitive"] === true) return true;
  const key = operation.arguments["key"];
  return name === "value" && typeof key === "string" && SECRET_NAME.test(key);
}

function secretsOf(operation: Operation): readonly string[] {
  const marked = Object.entries(operation.arguments).flatMap(([name, value]) =>
    isSecretArgument(operation, name) ? [...leaves(value), ...whole(operation, name, value)] : [],
  );
  const environment = operation.arguments["launchEnvironment"];
  if (typeof environment !== "object" || environment === null) return marked;
  const named = Object.entries(environment).flatMap(([name, value]: [string, JsonValue]) =>
    SECRET_NAME.test(name) ? leaves(value) : [],
  );
  return [...marked, ...named];
}

/** A list of preferences goes out as one word: see `plistFragment`. */
function whole(operation: Operation, name: string, value: JsonValue): readonly string[] {
  return operation.action === "sendPush" && name === "payload" ? [JSON.stringify(value)] : [];
}

function leaves(value: JsonValue): readonly string[] {
  if (value === null || typeof value === "boolean") return [];
  if (typeof value !== "object") return [String(value)];
  return Object.values(value).flatMap((each: JsonValue) => leaves(each));
}

function maskedValue(value: JsonValue): JsonValue {
  if (value === null) return null;
  if (isList(value)) return value.map(() => MASK);
  if (typeof value !== "object") return MASK;
  return Object.fromEntries(Object.keys(value).map((name) => [name, MASK]));
}

function isSecretFlag(word: string | undefined): boolean {
  return word !== undefined && word.startsWith("-") && !word.includes("=") && SECRET_NAME.test(word);
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function isTexts(value: JsonValue): value is readonly string[] {
  return isList(value) && value.every((each) => typeof each === "string");
}
