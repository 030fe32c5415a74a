import { Command, CommanderError } from "commander";
import { SimlockError } from "../contract/index.ts";
import { declareLeasing } from "./declare-leasing.ts";
import { declareMachine } from "./declare-machine.ts";
import { declareState } from "./declare-state.ts";
import type { Globals } from "./globals.ts";
import type { Invocation, Understood } from "./invocation.ts";

export type Parsed =
  | {
      readonly kind: "invocation";
      readonly invocation: Invocation;
      readonly globals: Globals & { readonly json?: boolean };
    }
  /** `exitCode` is 2 where a command was begun and not finished, as in `simlock device`. */
  | { readonly kind: "help"; readonly text: string; readonly exitCode: 0 | 2 };

/** Reads a command line. Throws `USAGE` with what was wrong and where to read more. */
export function parse(argv: readonly string[]): Parsed {
  let text = "";
  const understood: Parsed[] = [];
  const program = buildProgram((command, invocation) => {
    understood.push({ kind: "invocation", invocation, globals: globalsOf(command) });
  });
  const keep = (part: string) => (text += part);
  everyCommand(program, (command) => command.configureOutput({ writeOut: keep, writeErr: keep }));
  try {
    program.parse([...argv], { from: "user" });
  } catch (thrown) {
    if (!(thrown instanceof HelpShown)) throw thrown;
    return understood[0] ?? { kind: "help", text, exitCode: thrown.asked || argv.length === 0 ? 0 : 2 };
  }
  return understood[0] ?? { kind: "help", text: program.helpInformation(), exitCode: 0 };
}

/** All commands with their flags: what is parsed, and what `help` and the documents are made from. */
export function buildProgram(understood: Understood): Command {
  const program = new Command("simlock");
  program
    .description("Lease a simulator or phone that nobody else touches, run commands on it, give it back.")
    .enablePositionalOptions()
    .helpCommand("help [command]", "Show the help of a command.")
    .configureHelp({ showGlobalOptions: false, sortOptions: false })
    .option("-v, --version", "Print the version.")
    .on("option:version", () => understood(program, { command: "version" }));
  declareLeasing(program, understood);
  declareState(program, understood);
  declareMachine(program, understood);
  program.addHelpText(
    "after",
    "\nStart here: simlock demo, or simlock instructions.\nResults are JSON on standard output; a failure is one JSON line on standard error, and its code decides the exit code.",
  );
  everyCommand(program, (command, path) => {
    addGlobals(command);
    command.exitOverride((error) => {
      throw usageOf(error, path);
    });
  });
  return program;
}

/** Visits every command with its path below `simlock`: "lease", "device add". */
export function everyCommand(command: Command, visit: (command: Command, path: string) => void, path = ""): void {
  visit(command, path);
  for (const child of command.commands) {
    everyCommand(child, visit, path === "" ? child.name() : `${path} ${child.name()}`);
  }
}

export const GLOBAL_FLAGS = [
  ["--virtual", "Use the virtual home: a simulated Mac, no Xcode needed."],
  ["--home <path>", "The folder of the daemon's data. Default: SIMLOCK_HOME, else ~/.simlock."],
  ["--agent-id <id>", "Who asks. Default: SIMLOCK_AGENT_ID, the agent's session, else user:<uid>."],
  [
    "--token <secret>",
    "The admin secret, for the commands that need it. Default: SIMLOCK_ADMIN_TOKEN, else the home's own.",
  ],
] as const;

function addGlobals(command: Command): void {
  command.optionsGroup("Global options:");
  for (const [flags, says] of GLOBAL_FLAGS) command.option(flags, says);
}

function globalsOf(command: Command): Globals & { readonly json?: boolean } {
  return command.optsWithGlobals<Globals & { json?: boolean }>();
}

/** Help was asked for and printed: no failure, but the end of parsing. */
class HelpShown extends Error {
  readonly asked: boolean;
  constructor(asked: boolean) {
    super();
    this.asked = asked;
  }
}

function usageOf(error: CommanderError, path: string): Error {
  if (error.exitCode === 0 || error.code === "commander.help") return new HelpShown(error.exitCode === 0);
  const [first = "", ...rest] = error.message.replace(/^error: /, "").split("\n");
  const guess = rest.join(" ").match(/\(Did you mean (.+)\?\)/)?.[1];
  const more = `See \`simlock help${path === "" ? "" : ` ${path}`}\`.`;
  const json = first.includes("'--json'") ? "Its output is JSON already." : undefined;
  return new SimlockError(
    "USAGE",
    `${first.charAt(0).toUpperCase()}${first.slice(1)}${/[.?!]$/.test(first) ? "" : "."}`,
    {
      hint: [json, guess === undefined ? undefined : `Did you mean ${guess}?`, more].filter(Boolean).join(" "),
    },
  );
}
