import { failure } from "./failure.ts";

export interface Grammar {
  /** Options without a value, each with all its spellings in one string: `-j --json`. */
  readonly flags?: readonly string[];
  /** Options with a value, attached by `=`. */
  readonly values?: readonly string[];
  /** Options with a value that may also stand in the next word. */
  readonly separated?: readonly string[];
  /** After this many operands everything belongs to somebody else: the app's or the program's own arguments. */
  readonly operandsThenRest?: number;
  /** Words with a dash that are no option are operands: `boot --help` is told to be an invalid device (Xcode 26.6). */
  readonly anyOperand?: boolean;
}

export interface Parsed {
  readonly operands: readonly string[];
  readonly rest: readonly string[];
  has(spelling: string): boolean;
  value(spelling: string): string | undefined;
  values(spelling: string): readonly string[];
}

/** Splits the words behind a verb. An option that the verb does not have is a usage error, as an operand it would be taken for a device. */
export function parseArguments(verb: string, args: readonly string[], grammar: Grammar): Parsed {
  const spellings = (list: readonly string[] | undefined) =>
    new Map(
      (list ?? []).flatMap((group) => group.split(" ").map((each) => [each, group.split(" ")[0] ?? each] as const)),
    );
  const flags = spellings(grammar.flags);
  const separated = spellings(grammar.separated);
  const attached = new Map([...spellings(grammar.values), ...separated]);
  const seen = new Map<string, string[]>();
  const operands: string[] = [];
  const note = (name: string, value: string) => seen.set(name, [...(seen.get(name) ?? []), value]);

  let at = 0;
  while (at < args.length && operands.length < (grammar.operandsThenRest ?? Infinity)) {
    const word = args[at++] ?? "";
    const equals = word.indexOf("=");
    const name = equals > 0 ? word.slice(0, equals) : word;
    const flag = flags.get(word);
    const valued = attached.get(name);
    // A lone dash is stdin or stdout, and a dash before a digit is a southern latitude or a western longitude.
    if (!word.startsWith("-") || word === "-" || /^-[0-9.]/.test(word)) operands.push(word);
    else if (flag !== undefined) note(flag, "");
    else if (valued !== undefined && equals > 0) note(valued, word.slice(equals + 1));
    else if (separated.has(word) && at < args.length) note(separated.get(word) ?? word, args[at++] ?? "");
    else if (grammar.anyOperand === true) operands.push(word);
    else throw failure("usage", { why: `${verb}: unrecognized option "${word}"` });
  }
  return {
    operands,
    rest: args.slice(at),
    has: (name) => seen.has(name),
    value: (name) => seen.get(name)?.at(-1),
    values: (name) => seen.get(name) ?? [],
  };
}

/** The operand at `index`, or the verb's usage. */
export function operand(parsed: Parsed, index: number, verb: string, form: string): string {
  const word = parsed.operands[index];
  if (word === undefined) throw failure("usage", { why: `Missing operand.\nusage: simctl ${verb} ${form}` });
  return word;
}
