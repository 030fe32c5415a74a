import type { Call } from "../call.ts";
import { failure } from "../failure.ts";
import { VERB_HELP } from "../verb-help.ts";

/** The list of verbs. The words that describe them are ours; the verbs are the tool's. */
export function usage(): string {
  const lines = Object.entries(VERB_HELP).map(([name, { what }]) => `\t${name.padEnd(20)}${what}`);
  return [
    "usage: simctl [--set <path>] [--profiles <path>] <subcommand> ...",
    "       simctl help [subcommand]",
    "Command line utility to control the Simulator (virtual: no simulator runs on this machine)",
    "",
    "A <device> is a UDID, a name, or the word booted, which means one of the booted devices.",
    "",
    "Subcommands:",
    ...lines,
  ].join("\n");
}

/** `help [VERB]` */
export function help(call: Call, args: readonly string[]): void {
  const [name] = args;
  if (name === "--version") {
    call.out("@(#)PROGRAM:simctl  PROJECT:CoreSimulator-1051.9\n");
    return;
  }
  if (name === undefined) {
    call.out(`${usage()}\n`);
    return;
  }
  const known = Object.hasOwn(VERB_HELP, name) ? VERB_HELP[name] : undefined;
  if (known === undefined) throw failure("unknownVerb", { verb: name });
  call.out(`${known.what}\nUsage: simctl ${name} ${known.form}\n`);
}
