import type { Reading } from "./reading.ts";
import { refuse } from "./refusal.ts";
import type { SimctlForm, SimctlOption } from "./simctl-forms.ts";

interface Parted {
  /** As they are written, in the caller's order. */
  readonly options: readonly string[];
  readonly operands: readonly string[];
}

/** Parts the options of a form from its operands. Only exact names count: simctl's own parser may take abbreviations. */
export function readOptions(
  words: readonly string[],
  form: SimctlForm,
  tokens: readonly string[],
  reading: Reading,
): Parted {
  const options: string[] = [];
  const operands: string[] = [];
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index];
    if (token === undefined) break;
    if (!isOption(token, form)) {
      if (form.rest === true) return { options, operands: tokens.slice(index) };
      operands.push(token);
      continue;
    }
    const read = readOption(words, form, token, tokens[index + 1], reading);
    options.push(...read.written);
    if (read.tookNext) index++;
  }
  return { options, operands };
}

/** A lone dash is an operand, and so is a negative number where coordinates are wanted. */
function isOption(token: string, form: SimctlForm): boolean {
  if (!token.startsWith("-") || token === "-") return false;
  const wantsNumbers = form.operands?.some((operand) => operand.is === "coordinates") === true;
  return !(wantsNumbers && /^-[.\d]/.test(token));
}

function readOption(
  words: readonly string[],
  form: SimctlForm,
  token: string,
  next: string | undefined,
  reading: Reading,
): { readonly written: readonly string[]; readonly tookNext: boolean } {
  const verb = words[0] ?? "";
  const equals = token.indexOf("=");
  const name = equals === -1 ? token : token.slice(0, equals);
  const attached = equals === -1 ? undefined : token.slice(equals + 1);
  const option = form.options?.find(({ names }) => names.includes(name));
  if (option === undefined) {
    if (form.grouped === true && isGroup(form, token)) {
      for (const letter of token.slice(1)) flagOf(form, `-${letter}`, reading);
      return { written: [token], tookNext: false };
    }
    unknown(verb, token, name);
  }
  if (option.refused !== undefined) refuse(option.refused.reason, token, option.refused.why, option.refused.hint);
  reading.flag(...(option.flags ?? []));
  const writtenAs = option.writtenAs ?? name;
  if (option.value === undefined) {
    if (attached !== undefined) unknown(verb, token, name, `\`${name}\` takes no value.`);
    return { written: [writtenAs], tookNext: false };
  }
  if (attached !== undefined && option.value !== "separate") {
    checkValue(option, name, attached, reading);
    return { written: [`${writtenAs}=${attached}`], tookNext: false };
  }
  if (attached !== undefined) unknown(verb, token, name, `write \`${name} VALUE\`.`);
  if (option.value === "attached") unknown(verb, token, name, `write \`${name}=VALUE\`.`);
  if (next === undefined) refuse("malformed", token, "its value is missing.", `See \`simctl help ${verb}\`.`);
  checkValue(option, name, next, reading);
  // Joined, so that the value can't be taken for the operand behind it. The pairs of `status_bar` are known only apart.
  const joined = option.value === "either" || option.writtenAs !== undefined;
  return { written: joined ? [`${writtenAs}=${next}`] : [writtenAs, next], tookNext: true };
}

function checkValue(option: SimctlOption, name: string, value: string, reading: Reading): void {
  // `status_bar --operatorName ""` is meant: the pairs alone may be empty.
  if (value === "" && option.value !== "separate") {
    refuse("malformed", name, "its value is empty.", `Write \`${name}=VALUE\`.`);
  }
  if (option.words !== undefined && !option.words.includes(value)) {
    refuse("malformed", value, `${name} is one of ${option.words.join(", ")}.`, "Take one of them, or leave it out.");
  }
  if (option.writes !== true) return;
  reading.path("write", value);
  if (name === "--stdout" || name === "--stderr") {
    reading.hints.push(
      `${name} is resolved on the simulator's side: the file can be in its data folder instead. \`--console\` shows the output here.`,
    );
  }
}

function isGroup(form: SimctlForm, token: string): boolean {
  const letters = token.slice(1).split("");
  return letters.length > 1 && letters.every((letter) => optionNamed(form, `-${letter}`) !== undefined);
}

function flagOf(form: SimctlForm, name: string, reading: Reading): void {
  reading.flag(...(optionNamed(form, name)?.flags ?? []));
}

const optionNamed = (form: SimctlForm, name: string): SimctlOption | undefined =>
  form.options?.find(({ names }) => names.includes(name));

function unknown(verb: string, token: string, name: string, why?: string): never {
  if (name === "--help" || name === "-h") {
    refuse("unknown-option", token, "simctl takes it for a device here.", `Use \`simctl help ${verb}\`.`);
  }
  if (/^--?(set|profiles)$/.test(name)) {
    refuse(
      "device-set",
      token,
      "a lease is for one simulator of one device set.",
      "Leave it out: Simlock knows the set.",
    );
  }
  refuse(
    "unknown-option",
    token,
    why ?? `\`${verb}\` has no such option that Simlock knows.`,
    `Options are written in full, in front of what they are for: see \`simctl help ${verb}\`.`,
  );
}
