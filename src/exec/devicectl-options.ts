import { OUTPUT_OPTIONS } from "./devicectl-commands.ts";
import type { DevicectlOption } from "./devicectl-forms.ts";
import { refuse } from "./refusal.ts";
import type { Reading } from "./reading.ts";

/** One option with its values, or one operand, as it is written again. */
export interface Part {
  readonly written: readonly string[];
  /** The names that it is known by; none for an operand. */
  readonly names: readonly string[];
  readonly operand: boolean;
}

const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)$/;
const SEE_HELP = "See `devicectl help` and the words of the command.";

/**
 * Reads one token by the rules of Apple's argument parser: `--name V`, `--name=V`, `-n V`, `-n=V`; short flags group and the last may take the next
 * token; a value that starts with a dash must be attached; a list takes all up to the next option. Gives the part and how many tokens it took.
 */
export function readPart(
  tokens: readonly string[],
  index: number,
  own: readonly DevicectlOption[],
  numbers: boolean,
  reading: Reading,
): { readonly part: Part; readonly took: number } {
  const token = tokens[index] ?? "";
  const equals = token.indexOf("=");
  const name = equals === -1 ? token : token.slice(0, equals);
  const attached = equals === -1 ? undefined : token.slice(equals + 1);
  const options = [...own, ...OUTPUT_OPTIONS];
  const option = options.find(({ names }) => names.includes(name));
  if (option === undefined) {
    const group = groupOf(token, options);
    if (group !== undefined) return readGroup(tokens, index, group, reading);
    if (numbers && token.startsWith("--")) return readNumber(tokens, index, attached);
    refuse("unknown-option", token, "the command has no such option that Simlock knows.", SEE_HELP);
  }
  if (option.value === undefined) {
    if (attached !== undefined) refuse("malformed", token, `${name} takes no value.`, SEE_HELP);
    return { part: { written: [token], names: option.names, operand: false }, took: 1 };
  }
  if (attached !== undefined) {
    checkValue(option, name, attached, reading);
    return { part: { written: [token], names: option.names, operand: false }, took: 1 };
  }
  const values = valuesBehind(tokens, index + 1, option, name);
  for (const value of values) checkValue(option, name, value, reading);
  return { part: { written: [token, ...values], names: option.names, operand: false }, took: 1 + values.length };
}

function valuesBehind(
  tokens: readonly string[],
  from: number,
  option: DevicectlOption,
  name: string,
): readonly string[] {
  const most = option.value === "list" ? tokens.length : 1;
  const values: string[] = [];
  for (const token of tokens.slice(from)) {
    // A lone dash is a value: `--json-output -`.
    if (values.length === most || (token.startsWith("-") && token !== "-")) break;
    values.push(token);
  }
  if (values.length === 0) {
    refuse("malformed", name, "its value is missing.", `A value that starts with a dash is attached: \`${name}=-1\`.`);
  }
  return values;
}

function checkValue(option: DevicectlOption, name: string, value: string, reading: Reading): void {
  if (value === "") refuse("malformed", name, "its value is empty.", SEE_HELP);
  if (option.access === undefined || option.streams?.includes(value) === true) return;
  reading.path(option.access, value);
}

/** The options of a group such as `-vq`; undefined where the token is none. */
function groupOf(token: string, options: readonly DevicectlOption[]): readonly DevicectlOption[] | undefined {
  if (!/^-[A-Za-z]{2,}$/.test(token)) return undefined;
  const found = Array.from(token.slice(1)).map((letter) => options.find(({ names }) => names.includes(`-${letter}`)));
  const known = found.filter((option) => option !== undefined);
  return known.length === found.length ? known : undefined;
}

function readGroup(
  tokens: readonly string[],
  index: number,
  group: readonly DevicectlOption[],
  reading: Reading,
): { readonly part: Part; readonly took: number } {
  const token = tokens[index] ?? "";
  const last = group[group.length - 1];
  if (last === undefined || group.slice(0, -1).some((option) => option.value !== undefined)) {
    refuse("malformed", token, "only the last letter of a group may take a value.", "Write the options one by one.");
  }
  const names = group.flatMap((option) => option.names);
  if (last.value === undefined) return { part: { written: [token], names, operand: false }, took: 1 };
  const values = valuesBehind(tokens, index + 1, last, token);
  for (const value of values) checkValue(last, token, value, reading);
  return { part: { written: [token, ...values], names, operand: false }, took: 1 + values.length };
}

function readNumber(
  tokens: readonly string[],
  index: number,
  attached: string | undefined,
): { readonly part: Part; readonly took: number } {
  const token = tokens[index] ?? "";
  const value = attached ?? tokens[index + 1] ?? "";
  if (!NUMBER.test(value) || (attached === undefined && value.startsWith("-"))) {
    refuse(
      "unknown-option",
      token,
      "of options that Simlock does not know, only those with a number may stand here.",
      SEE_HELP,
    );
  }
  const written = attached === undefined ? [token, value] : [token];
  return { part: { written, names: [], operand: false }, took: written.length };
}
