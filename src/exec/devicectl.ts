import { DEVICECTL_COMMANDS, OUTPUT_OPTIONS } from "./devicectl-commands.ts";
import type { DevicectlForm } from "./devicectl-forms.ts";
import { readPart, type Part } from "./devicectl-options.ts";
import { refuse } from "./refusal.ts";
import type { Reading } from "./reading.ts";

const SEE_HELP = "See the commands with `devicectl help`.";
const LEAVE_OUT = "Leave the device out: Simlock fills in the leased one.";
/** Win over everything else that is given. */
const HELP = new Set(["-h", "--help", "--version"]);

/** Reads one devicectl command and writes it anew, with the leased iPhone right behind its last word. */
export function readDevicectl(args: readonly string[], reading: Reading): string[] {
  const [first] = args;
  if (first === undefined) return [];
  if (first === "help") return readHelp(args);
  const { words, front, rest } = readWords(args, reading);
  if (words.length === 0) return front;
  const name = words.join(" ");
  const command = Object.hasOwn(DEVICECTL_COMMANDS, name) ? DEVICECTL_COMMANDS[name] : undefined;
  // A group without a command prints its usage.
  if (command === undefined) return front;
  switch (command.kind) {
    case "refused":
      return refuse(command.reason, name, command.why, command.hint);
    case "open":
      return [...front, ...readForm(name, command.form, rest, undefined, reading)];
    case "device":
      return [...front, ...readForm(name, command.form, rest, ownUdid(reading), reading)];
  }
}

function ownUdid(reading: Reading): string {
  const { device } = reading.setting;
  return device.kind === "iphone" ? device.udid : "";
}

function readHelp(args: readonly string[]): string[] {
  const wrong = args.find((word) => !/^[A-Za-z][A-Za-z-]*$/.test(word));
  if (wrong !== undefined) refuse("malformed", wrong, "`help` takes the words of a command.", SEE_HELP);
  return [...args];
}

interface Words {
  readonly words: readonly string[];
  /** The words and the output options among them, in the caller's order. */
  readonly front: string[];
  readonly rest: readonly string[];
}

const isGroup = (name: string): boolean =>
  Object.keys(DEVICECTL_COMMANDS).some((known) => known.startsWith(`${name} `));

/** Finds the words of the command: output options may stand between them, `--device` is known only behind the last. */
function readWords(args: readonly string[], reading: Reading): Words {
  const words: string[] = [];
  const front: string[] = [];
  let index = 0;
  while (index < args.length) {
    const token = args[index] ?? "";
    if (HELP.has(token)) return { words: [], front: [...words, token], rest: [] };
    if (token.startsWith("-")) {
      checkFrontOption(token);
      const { part, took } = readPart(args, index, [], false, reading);
      front.push(...part.written);
      index += took;
      continue;
    }
    if (token === "") refuse("malformed", token, "a word of the command can't be empty.", SEE_HELP);
    words.push(token);
    front.push(token);
    index++;
    const name = words.join(" ");
    if (Object.hasOwn(DEVICECTL_COMMANDS, name)) break;
    if (!isGroup(name)) refuse("unknown-verb", name, "devicectl has no such command that Simlock knows.", SEE_HELP);
  }
  return { words, front, rest: args.slice(index) };
}

function checkFrontOption(token: string): void {
  const known = OUTPUT_OPTIONS.some(({ names }) => names.includes(token.split("=")[0] ?? ""));
  if (known || /^-[a-z]{2,}$/.test(token)) return;
  if (/^(--device|-d)(=|$)/.test(token)) {
    refuse("malformed", token, "devicectl knows it only behind the last word of the command.", LEAVE_OUT);
  }
  refuse("unknown-option", token, "between the words of a command only output options may stand.", SEE_HELP);
}

function readForm(
  name: string,
  form: DevicectlForm,
  tokens: readonly string[],
  udid: string | undefined,
  reading: Reading,
): string[] {
  const { words, parts, help, app } = readParts(form, tokens, udid, reading);
  if (help !== undefined) return [help];
  reading.flag(...(form.flags ?? []).filter((flag) => flag !== "L"));
  checkOperands(name, form, parts, reading);
  const given = new Set(parts.flatMap(({ names }) => names));
  if (form.writesUnless !== undefined && !given.has(form.writesUnless)) reading.path("write", ".");
  const isLong =
    (form.flags?.includes("L") === true && !(form.endsWith !== undefined && given.has(form.endsWith))) ||
    (form.longWith !== undefined && given.has(form.longWith));
  if (isLong) reading.flag("L");
  const slot = udid === undefined ? [] : ["--device", udid];
  return [...words, ...slot, ...parts.flatMap(({ written }) => written), ...app];
}

interface Parts {
  readonly words: readonly string[];
  readonly parts: readonly Part[];
  /** `--help` or `--version`, which make the rest meaningless. */
  readonly help: string | undefined;
  readonly app: readonly string[];
}

function readParts(form: DevicectlForm, tokens: readonly string[], udid: string | undefined, reading: Reading): Parts {
  const own = form.options ?? [];
  const parts: Part[] = [];
  let index = 0;
  if (form.family === true) while (isWord(tokens[index])) index++;
  const words = tokens.slice(0, index);
  while (index < tokens.length) {
    const token = tokens[index] ?? "";
    if (HELP.has(token)) return { words, parts, help: token, app: [] };
    if (token === "--") {
      const operands = tokens.slice(index + 1);
      parts.push({ written: [token], names: [], operand: false });
      for (const operand of operands) parts.push({ written: [operand], names: [], operand: true });
      break;
    }
    const device = readDevice(tokens, index, udid, own);
    if (device > 0) {
      index += device;
    } else if (token.startsWith("-") && token !== "-") {
      const { part, took } = readPart(tokens, index, own, form.family === true, reading);
      parts.push(part);
      index += took;
    } else {
      parts.push({ written: [token], names: [], operand: true });
      index++;
      if (form.rest === true) {
        const app = tokens.slice(index);
        checkAppArguments(app, own, reading);
        return { words, parts, help: undefined, app };
      }
    }
  }
  return { words, parts, help: undefined, app: [] };
}

const isWord = (token: string | undefined): boolean => token !== undefined && /^[A-Za-z][A-Za-z-]*$/.test(token);

/** Takes the caller's own `--device` away, in every form the parser knows, and refuses any other. Gives how many tokens it was. */
function readDevice(
  tokens: readonly string[],
  index: number,
  udid: string | undefined,
  own: Parameters<typeof readPart>[2],
): number {
  const token = tokens[index] ?? "";
  if (isDeviceGroup(token, own)) {
    refuse("other-device", token, "a group of letters with `d` names a device.", LEAVE_OUT);
  }
  const match = /^(?:--device|-d)(=(.*))?$/s.exec(token);
  if (match === null) return 0;
  if (udid === undefined) refuse("unknown-option", token, "this command takes no device.", "Leave it out.");
  const value = match[1] === undefined ? tokens[index + 1] : match[2];
  if (value === undefined || value === "") refuse("malformed", token, "its value is missing.", LEAVE_OUT);
  if (value.toUpperCase() !== udid.toUpperCase()) {
    refuse("other-device", value, "it is not the leased iPhone's UDID.", LEAVE_OUT);
  }
  return match[1] === undefined ? 2 : 1;
}

/** `-vd P2`: short flags group, and the last takes the next token. */
function isDeviceGroup(token: string, own: Parameters<typeof readPart>[2]): boolean {
  if (!/^-[A-Za-z]{2,}(=|$)/.test(token)) return false;
  const letters = [...(token.slice(1).split("=")[0] ?? "")];
  const known = new Set([...own, ...OUTPUT_OPTIONS].flatMap(({ names }) => names));
  return letters.includes("d") && letters.every((letter) => letter === "d" || known.has(`-${letter}`));
}

/**
 * What follows the bundle id is the app's in the versions we know of. In others devicectl might still read it: so nothing may stand there that
 * would name a device or a closed file.
 */
function checkAppArguments(app: readonly string[], own: Parameters<typeof readPart>[2], reading: Reading): void {
  for (const [index, token] of app.entries()) {
    if (token === "--") return;
    if (/^(--device|-d)(=|$)/.test(token) || isDeviceGroup(token, own)) {
      const shown = token.split("=")[0] ?? token;
      refuse("other-device", shown, "behind the bundle id some versions still take it for a device.", LEAVE_OUT);
    }
    const output = /^(?:--json-output|--log-output|-j|-l)(?:=(.*))?$/s.exec(token);
    const path = output === null ? undefined : (output[1] ?? app[index + 1]);
    if (path !== undefined && path !== "" && path !== "-") reading.askPolicy("write", path);
  }
}

function checkOperands(name: string, form: DevicectlForm, parts: readonly Part[], reading: Reading): void {
  const operands = parts.filter(({ operand }) => operand).flatMap(({ written }) => written);
  const needs = form.needs ?? [];
  if (operands.length < needs.length) {
    refuse("malformed", name, `it needs ${needs.join(" ")}.`, `See \`devicectl help ${name}\`.`);
  }
  if (operands.includes("")) refuse("malformed", "", "an operand can't be empty.", `See \`devicectl help ${name}\`.`);
  const most = form.rest === true || form.family === true ? Infinity : (form.operands ?? 0);
  const extra = operands[most];
  if (extra !== undefined) {
    refuse("malformed", extra, `\`${name}\` takes no such operand.`, `See \`devicectl help ${name}\`.`);
  }
  if (form.reads === true) for (const path of operands) reading.path("read", path);
}
