import { refuse } from "./refusal.ts";
import type { Reading } from "./reading.ts";

/** adb writes a service's length as four hexadecimal digits: from 65,536 bytes on the server drops one and the device gets another command. */
const LONGEST_SERVICE_BYTES = 60_000;

/** adb puts an argument into single quotes and each quote in it into four characters. */
const quotedBytes = (arg: string): number => Buffer.byteLength(arg) + 2 + 3 * (arg.split("'").length - 1);

function checkLength(verb: string, bytes: number): void {
  if (bytes <= LONGEST_SERVICE_BYTES) return;
  refuse(
    "malformed",
    verb,
    `the command is ${bytes} bytes long; adb breaks at 65,536 and ${LONGEST_SERVICE_BYTES} are let through.`,
    "Push it as a script and run that, or pass it as `stdin` to `shell sh`.",
  );
}

export function checkJoined(verb: string, args: readonly string[]): void {
  checkLength(
    verb,
    args.reduce((sum, arg) => sum + 1 + quotedBytes(arg), 0),
  );
}

/** `shell` reads its options by getopt and stops at the first operand; what is left is joined with blanks, not quoted. */
export function readShell(verb: string, tokens: readonly string[], reading: Reading): readonly string[] {
  const start = skipOptions(tokens);
  const command = tokens.slice(start).join(" ");
  // `shell ""`, `shell -tt` and `shell --` are interactive shells too, so the joined command counts, not the number of arguments.
  if (command === "" && !reading.setting.terminal) noTerminal(verb);
  checkLength(verb, Buffer.byteLength(command));
  guard(command);
  return tokens;
}

function noTerminal(verb: string): never {
  refuse(
    "no-terminal",
    verb,
    "without a command it is an interactive shell, and there is no terminal.",
    "Add the command, or use `shell sh` with the script as `stdin`.",
  );
}

function skipOptions(tokens: readonly string[]): number {
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index] ?? "";
    if (token === "--") return index + 1;
    if (!token.startsWith("-") || token === "-") return index;
    if (readGroup(token, tokens[index + 1])) index++;
  }
  return tokens.length;
}

/** Reads one group of letters; says whether its `e` took the next argument. */
function readGroup(group: string, next: string | undefined): boolean {
  const letters = group.slice(1);
  for (let at = 0; at < letters.length; at++) {
    const letter = letters[at] ?? "";
    if (letter === "e") {
      const attached = letters.slice(at + 1);
      checkEscape(attached === "" ? next : attached);
      return attached === "";
    }
    if (!"nTtx".includes(letter)) {
      refuse(
        "unknown-option",
        group,
        "`shell` has the options -e -n -T -t -x.",
        "Put options of the command behind it.",
      );
    }
  }
  return false;
}

function checkEscape(value: string | undefined): void {
  if (value === undefined) refuse("malformed", "-e", "its character is missing.", "Leave it out, or use `-e none`.");
  if (value === "none" || [...value].length === 1) return;
  refuse("malformed", value, "-e takes one character or `none`.", "Leave it out, or use `-e none`.");
}

/** `exec-out` and `exec-in` have no options: the first word goes to the device as it is, the others quoted. */
export function readExec(verb: string, tokens: readonly string[]): readonly string[] {
  const [first, ...others] = tokens;
  if (first === undefined) refuse("malformed", verb, "it needs a command.", `Use \`${verb} COMMAND\`.`);
  const command = tokens.join(" ");
  if (command === "") noTerminal(verb);
  checkLength(
    verb,
    others.reduce((sum, arg) => sum + 1 + quotedBytes(arg), Buffer.byteLength(first)),
  );
  guard(command);
  return tokens;
}

/**
 * Against accidents only: the plain forms of turning the device off. No one can parse a shell for the others; the health check sees the device go.
 */
function guard(command: string): void {
  const words = command.split(/[\s]+/).filter((word) => word !== "");
  const program = (words[0] ?? "").split("/").pop();
  const turnsOff =
    program === "reboot" ||
    (program === "svc" && words[1] === "power" && (words[2] === "reboot" || words[2] === "shutdown")) ||
    (program === "setprop" && words[1] === "sys.powerctl");
  if (!turnsOff) return;
  refuse(
    "lifecycle",
    command,
    "it turns the device off or restarts it, and the lease would lose it.",
    "Release the lease and lease again for a fresh device; `am force-stop` restarts an app.",
  );
}

const LOGCAT_WITH_VALUE = "tTGfrnvbPme";
/** Options with which logcat prints what is there and ends. */
const LOGCAT_ENDS = "dtcgGLpPS";
const LOGCAT_ENDS_LONG = ["--help", "--clear", "--last", "--statistics", "--buffer-size", "--prune"];

export function readLogcat(verb: string, tokens: readonly string[], reading: Reading): readonly string[] {
  checkJoined(verb, tokens);
  if (!logcatEnds(tokens)) reading.flag("L");
  return tokens;
}

function logcatEnds(tokens: readonly string[]): boolean {
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index] ?? "";
    if (token === "--") return false;
    if (token.startsWith("--")) {
      if (LOGCAT_ENDS_LONG.some((name) => token === name || token.startsWith(`${name}=`))) return true;
      continue;
    }
    if (!token.startsWith("-")) continue;
    for (const [at, letter] of token.slice(1).split("").entries()) {
      if (LOGCAT_ENDS.includes(letter)) return true;
      if (!LOGCAT_WITH_VALUE.includes(letter)) continue;
      if (at === token.length - 2) index++;
      break;
    }
  }
  return false;
}
