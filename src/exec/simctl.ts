import type { Reading } from "./reading.ts";
import { quoted, refuse } from "./refusal.ts";
import type { SimctlForm, SimctlOperand } from "./simctl-forms.ts";
import { readOptions } from "./simctl-options.ts";
import { isDeviceWord, takeDevice } from "./simctl-device.ts";
import { RUNTIME_CHANGES, RUNTIME_LISTINGS, SIMCTL_VERBS } from "./simctl-verbs.ts";

/** Reads one simctl command and writes it anew, with the leased simulator in its place. */
export function readSimctl(args: readonly string[], reading: Reading): string[] {
  const [verb, ...rest] = args;
  if (verb === undefined) return [];
  if (verb === "") refuse("malformed", verb, "a verb can't be empty.", SEE_HELP);
  if (verb.startsWith("-")) return readGlobal(verb, rest);
  const known = Object.hasOwn(SIMCTL_VERBS, verb) ? SIMCTL_VERBS[verb] : undefined;
  if (known === undefined) refuse("unknown-verb", verb, unknownVerb(verb), SEE_HELP);
  switch (known.kind) {
    case "refused":
      return refuse(known.reason, verb, known.why, known.hint);
    case "open":
      return [verb, ...readForm([verb], known.form, rest, reading)];
    case "device":
      return [verb, ...readDeviceForm(verb, known.form, rest, reading)];
    case "actions":
      return readAction(verb, known.actions, rest, reading);
    case "runtime":
      return readRuntime(rest, reading);
  }
}

const SEE_HELP = "See the verbs with `simctl help`.";

function unknownVerb(verb: string): string {
  if (/[^ -~]/.test(verb)) return "simctl has no such verb; it holds characters that only look like letters of one.";
  if (/^\s|\s$/.test(verb)) return "simctl has no such verb; it has blanks around it.";
  if (Object.hasOwn(SIMCTL_VERBS, verb.toLowerCase())) return "simctl's verbs are written in lower case.";
  return "simctl has no such verb that Simlock knows.";
}

/** In front of the verb stands only what picks another set of devices, or nothing. */
function readGlobal(token: string, rest: readonly string[]): string[] {
  if ((token === "--help" || token === "-h") && rest.length === 0) return ["help"];
  if (/^--?(set|profiles)/.test(token)) {
    refuse(
      "device-set",
      token,
      "a lease is for one simulator of one device set.",
      "Leave it out: Simlock knows the set.",
    );
  }
  refuse("unknown-option", token, "no option may stand in front of the verb.", SEE_HELP);
}

/** `io`, `keychain`, `location`, …: the device stands between the verb and its action. */
function readAction(
  verb: string,
  actions: Readonly<Record<string, SimctlForm>>,
  tokens: readonly string[],
  reading: Reading,
): string[] {
  const taken = takeDevice(tokens, reading);
  const isAction = (token: string | undefined) => token !== undefined && Object.hasOwn(actions, token);
  const [action, ...rest] = taken.rest;
  const known = Object.keys(actions).join(", ");
  if (action === undefined) {
    refuse("malformed", verb, `it needs an action: ${known}.`, `See \`simctl help ${verb}\`.`);
  }
  const form = isAction(action) ? actions[action] : undefined;
  if (form === undefined) {
    if (action === "") refuse("malformed", action, "an action can't be empty.", `The actions are ${known}.`);
    if (action.startsWith("-")) unknownOption(verb, action, "options follow the action.");
    if (isDeviceWord(action) || (!taken.named && isAction(rest[0]))) otherDevice(action);
    refuse("unknown-verb", action, `\`${verb}\` has no such action.`, `Its actions are ${known}.`);
  }
  return [verb, taken.device, action, ...readForm([verb, action], form, rest, reading)];
}

function readRuntime(tokens: readonly string[], reading: Reading): string[] {
  const words = tokens.filter((token) => !token.startsWith("-"));
  const listing = Object.keys(RUNTIME_LISTINGS).find((name) => name === words.join(" "));
  const form = listing === undefined ? undefined : RUNTIME_LISTINGS[listing];
  if (listing !== undefined && form !== undefined) {
    const path = listing.split(" ");
    if (tokens.slice(0, path.length).join(" ") === listing) {
      return ["runtime", ...path, ...readForm(["runtime", ...path], form, tokens.slice(path.length), reading)];
    }
  }
  const [action] = tokens;
  if (action === undefined) refuse("malformed", "runtime", "it needs an action.", "Use `runtime list`.");
  if (action === "") refuse("malformed", action, "an action can't be empty.", "Use `runtime list`.");
  if (action.startsWith("-")) unknownOption("runtime", action, "options follow the action.");
  if (RUNTIME_CHANGES.includes(action)) {
    refuse("host-wide", action, "it changes runtimes that every simulator of the Mac shares.", "Use `runtime list`.");
  }
  if (action === "list") {
    refuse("malformed", tokens[1] ?? action, "`runtime list` takes -v and -j alone.", "Use `runtime list -j`.");
  }
  refuse("unknown-verb", action, "`runtime` has no such action.", "Use `runtime list`.");
}

/** A verb whose first operand is the device. */
function readDeviceForm(verb: string, form: SimctlForm, tokens: readonly string[], reading: Reading): string[] {
  const { options, operands } = begin([verb], form, tokens, reading);
  const { device, named, rest } = takeDevice(operands, reading);
  readOperands({ words: [verb], form, values: rest, slot: named ? "named" : "filled" }, reading);
  if (form.rest === true) hintAtLateOptions(form, rest, reading);
  return form.side === "before" ? [...options, device, ...rest] : [device, ...options, ...rest];
}

/** `launch BUNDLE --console` hands `--console` to the app: allowed, and seldom meant. */
function hintAtLateOptions(form: SimctlForm, values: readonly string[], reading: Reading): void {
  const isOption = (name: string) => name.startsWith("--") && form.options?.some(({ names }) => names.includes(name));
  const late = values.slice(1).find((value) => isOption(value.split("=")[0] ?? ""));
  if (late === undefined) return;
  reading.hints.push(
    `${quoted(late)} stands behind the operands and goes to the app: for simctl write it in front of them.`,
  );
}

/** What stands behind an action, or a verb that needs no device. */
function readForm(words: readonly string[], form: SimctlForm, tokens: readonly string[], reading: Reading): string[] {
  const { options, operands } = begin(words, form, tokens, reading);
  readOperands({ words, form, values: operands, slot: "none" }, reading);
  return [...options, ...operands];
}

function begin(words: readonly string[], form: SimctlForm, tokens: readonly string[], reading: Reading) {
  reading.flag(...(form.flags ?? []));
  if (form.takesStdin === true && !reading.setting.stdin) {
    reading.hints.push(`\`${words.join(" ")}\` reads standard input, and none was given: pass it as \`stdin\`.`);
  }
  const parted = readOptions(words, form, tokens, reading);
  if (form.needsOption === true && parted.options.length === 0) {
    const names = (form.options ?? []).flatMap((option) => option.names).join(", ");
    refuse("malformed", last(words), "it does nothing alone.", `Give at least one of ${names}, each with a value.`);
  }
  return parted;
}

/** The operands of a command, with what is known of its device: no slot here, filled by us, or named by the caller. */
interface Operands {
  readonly words: readonly string[];
  readonly form: SimctlForm;
  readonly values: readonly string[];
  readonly slot: "none" | "filled" | "named";
}

function readOperands(given: Operands, reading: Reading): void {
  assign(given).forEach((operand, index) => {
    const value = given.values[index];
    if (value !== undefined) readOperand(operand, value, index, given, reading);
  });
}

/** The operand that each value stands for. */
function assign({ words, form, values, slot }: Operands): readonly SimctlOperand[] {
  const operands = form.operands ?? [];
  const required = operands.filter((operand) => operand.optional !== true);
  if (values.length < required.length) {
    const names = operands.map((operand) => operand.name).join(" ");
    refuse("malformed", last(words), `it needs ${names}.`, seeHelp(words));
  }
  if (values[0] === "") refuse("malformed", "", "an operand can't be empty.", seeHelp(words));
  const assigned: SimctlOperand[] = [];
  let spare = values.length - required.length;
  for (const operand of operands) {
    if (operand.optional === true) {
      // A search term may stand without the kind of thing that is searched for.
      const fits = operand.is !== "word" || operand.words?.includes(values[assigned.length] ?? "") === true;
      if (spare === 0 || !fits) continue;
      spare--;
    }
    assigned.push(operand);
    for (; operand.many === true && spare > 0; spare--) assigned.push(operand);
  }
  const extra = values[assigned.length];
  if (extra === undefined || form.rest === true) return assigned;
  // One operand too many and no device given: the first can only be meant as one.
  if (slot === "filled") otherDevice(values[0] ?? extra);
  if (isDeviceWord(extra) || (slot === "named" && operands.length === 0)) otherDevice(extra);
  refuse("malformed", extra, `\`${words.join(" ")}\` takes no such operand.`, seeHelp(words));
}

const last = (words: readonly string[]): string => words[words.length - 1] ?? "";
const seeHelp = (words: readonly string[]): string => `See \`simctl help ${words[0] ?? ""}\`.`;

const BUNDLE = /^[A-Za-z0-9._-]+$/;
const NUMBER = String.raw`[-+]?(?:\d+\.?\d*|\.\d+)`;
const COORDINATES = new RegExp(`^${NUMBER},${NUMBER}$`);
/** A file name may hold a colon, but these can only be URLs. */
const SURELY_URL = /^(file:|[a-z][a-z0-9+.-]*:\/\/)/i;
const ANY_SCHEME = /^[a-z][a-z0-9+.-]+:/i;

function readOperand(
  operand: SimctlOperand,
  value: string,
  index: number,
  { words, form, values, slot }: Operands,
  reading: Reading,
): void {
  if (value === "") refuse("malformed", value, `${operand.name} can't be empty.`, seeHelp(words));
  if (form.rest === true && value.startsWith("-")) {
    refuse("unknown-option", value, "options stand in front of the device and the operands.", seeHelp(words));
  }
  switch (operand.is) {
    case "bundle":
      if (BUNDLE.test(value)) return;
      if (slot === "filled" && index === 0 && values.length > 1) otherDevice(value);
      return refuse(
        "malformed",
        value,
        "it is no bundle id.",
        "A bundle id is made of letters, digits, `.`, `-`, `_`.",
      );
    case "word":
      if (operand.words?.includes(value) === true) return;
      return refuse("malformed", value, `it must be ${operand.name}.`, seeHelp(words));
    case "coordinates":
      if (value === "-" && operand.dash === "stdin") return readsStdin(reading);
      if (COORDINATES.test(value)) return;
      return refuse("malformed", value, `it must be ${operand.name}.`, "For example `47.37,8.54` or `-33.87,151.21`.");
    case "path":
      return readPath(operand, value, reading);
    case "text":
      return;
  }
}

function readPath(operand: SimctlOperand, value: string, reading: Reading): void {
  if (value === "-") {
    if (operand.dash === "stdin") return readsStdin(reading);
    if (operand.dash === "stdout") return;
    refuse("host-path", value, "this command can't use a standard stream for it.", "Name a file.");
  }
  if ((operand.url === true ? ANY_SCHEME : SURELY_URL).test(value)) {
    refuse("host-path", value, "a URL can't be checked.", "Name the file by its path.");
  }
  reading.path(operand.access ?? "write", value);
}

function readsStdin(reading: Reading): void {
  reading.flag("S");
  if (!reading.setting.stdin) reading.hints.push("`-` reads standard input, and none was given: pass it as `stdin`.");
}

function otherDevice(token: string): never {
  refuse("other-device", token, "it is not the leased simulator.", "Leave the device out: Simlock fills it in.");
}

function unknownOption(verb: string, token: string, why: string): never {
  refuse("unknown-option", token, why, `See \`simctl help ${verb}\`.`);
}
