import { readEmu } from "./adb-emu.ts";
import { readBackup, readBugreport, readLs, readPull, readPush, readRestore } from "./adb-files.ts";
import { readForward, readReverse } from "./adb-forward.ts";
import type { AdbReader } from "./adb-forms.ts";
import { readGlobals } from "./adb-globals.ts";
import { readInstall, readUninstall } from "./adb-install.ts";
import { atMost, needs } from "./adb-options.ts";
import { checkJoined, readExec, readLogcat, readShell } from "./adb-shell.ts";
import { ADB_VERBS } from "./adb-verbs.ts";
import { refuse } from "./refusal.ts";
import type { Reading } from "./reading.ts";

/** Reads one adb command and writes it anew, with the leased device in front. */
export function readAdb(args: readonly string[], reading: Reading): string[] {
  const { device } = reading.setting;
  const serial = "serial" in device ? device.serial : "";
  const [verb, ...rest] = readGlobals(args, serial);
  if (verb === undefined) return [];
  const known = verbNamed(verb);
  if (known.kind === "refused") return refuse(known.reason, verb, known.why, known.hint);
  if (known.kind === "open") return [verb, ...readOpen(verb, known.options ?? [], rest)];
  reading.flag(...(known.flags ?? []));
  return ["-s", serial, verb, ...READERS[known.reader](verb, rest, reading)];
}

type Reader = (verb: string, tokens: readonly string[], reading: Reading) => readonly string[];

const READERS: Readonly<Record<AdbReader, Reader>> = {
  backup: (_verb, tokens, reading) => readBackup(tokens, reading),
  bugreport: (_verb, tokens, reading) => readBugreport(tokens, reading),
  emu: (_verb, tokens, reading) => readEmu(tokens, reading),
  exec: (verb, tokens, reading) => {
    if (verb === "exec-in" && !reading.setting.stdin) {
      reading.hints.push("`exec-in` reads standard input, and none was given: pass it as `stdin`.");
    }
    return readExec(verb, tokens);
  },
  forward: (_verb, tokens, reading) => readForward(tokens, reading),
  install: readInstall,
  logcat: readLogcat,
  ls: (_verb, tokens) => readLs(tokens),
  nothing: (verb, tokens) => {
    atMost(verb, tokens, 0);
    return tokens;
  },
  pull: (_verb, tokens, reading) => readPull(tokens, reading),
  push: (_verb, tokens, reading) => readPush(tokens, reading),
  restore: (_verb, tokens, reading) => readRestore(tokens, reading),
  reverse: (_verb, tokens, reading) => readReverse(tokens, reading),
  shell: readShell,
  text: (verb, tokens) => {
    needs(verb, tokens.slice(0, 1), 1, "SERVICE ARGUMENTS…");
    checkJoined(verb, tokens);
    return tokens;
  },
  track: (verb, tokens) => {
    for (const token of tokens) {
      if (token === "--proto-text" || token === "--proto-binary") continue;
      refuse("unknown-option", token, `\`${verb}\` takes --proto-text or --proto-binary alone.`, "Leave it out.");
    }
    atMost(verb, tokens, 1);
    return tokens;
  },
  uninstall: (_verb, tokens) => readUninstall(tokens),
  "wait-for": (_verb, tokens, reading) => readBehindWait(tokens, reading),
};

function verbNamed(verb: string) {
  if (verb === "") refuse("malformed", verb, "a verb can't be empty.", "See the verbs with `adb help`.");
  const known = Object.hasOwn(ADB_VERBS, verb) ? ADB_VERBS[verb] : undefined;
  if (known === undefined) {
    refuse("unknown-verb", verb, "adb has no such verb that Simlock knows.", "See the verbs with `adb help`.");
  }
  return known;
}

function readOpen(verb: string, options: readonly string[], tokens: readonly string[]): readonly string[] {
  for (const token of tokens) {
    if (options.includes(token)) continue;
    const reason = token.startsWith("-") ? "unknown-option" : "malformed";
    refuse(reason, token, `\`${verb}\` takes no such argument.`, `Use \`adb ${verb}\`.`);
  }
  return tokens;
}

/** adb runs whatever stands behind `wait-for-device`: it is read by the same rules, without global options and without a second wait. */
function readBehindWait(tokens: readonly string[], reading: Reading): readonly string[] {
  const [verb, ...rest] = tokens;
  if (verb === undefined) return tokens;
  if (verb.startsWith("-")) {
    refuse("unknown-option", verb, "no option may stand behind `wait-for-device`.", "Write the verb there.");
  }
  const known = verbNamed(verb);
  if (known.kind === "refused") return refuse(known.reason, verb, known.why, known.hint);
  if (known.kind === "open") return [verb, ...readOpen(verb, known.options ?? [], rest)];
  if (known.reader === "wait-for") {
    refuse("malformed", verb, "adb waits once in a command.", "Leave the second wait out.");
  }
  reading.flag(...(known.flags ?? []));
  return [verb, ...READERS[known.reader](verb, rest, reading)];
}

/** Whether the decision on this command depends on the adb server's forwards: the caller need not ask for them otherwise. */
export function adbReadsForwards(args: readonly string[]): boolean {
  let at = 0;
  while (args[at] === "-s" || /^-s\d/.test(args[at] ?? "")) at += args[at] === "-s" ? 2 : 1;
  if (/^wait-for(-any|-usb|-local)?-device$/.test(args[at] ?? "")) at++;
  return args[at] === "forward" && args[at + 1] !== "--list" && args[at + 1] !== "--remove-all";
}
