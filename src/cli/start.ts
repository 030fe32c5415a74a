import { SimlockError, toSimlockError } from "../contract/index.ts";
import { contextOf } from "./context.ts";
import { dispatch } from "./dispatch.ts";
import { readBare, type Globals } from "./globals.ts";
import type { Invocation } from "./invocation.ts";
import { OutputClosed, tolerateClosedPipes, write, writeLine, type Io } from "./io.ts";
import { dropInText, errorLine, errorText, exitCodeOf } from "./render/error.ts";
import { paintFor } from "./render/paint.ts";

/** 128 + SIGPIPE: what a shell sees of any tool whose reader has gone. */
const EXIT_OUTPUT_CLOSED = 141;
/** The drop-in's one code for whatever was refused or went wrong before a confirmed apply had begun. */
const EXIT_DROP_IN_ERROR = 1;

/** One command line from beginning to end. Resolves with the exit code, which the error table gives for a failure. */
export async function start(argv: readonly string[], io: Io): Promise<number> {
  tolerateClosedPipes(io);
  try {
    const understood = (await bare(argv)) ?? (await parsed(argv));
    if (understood.kind === "help") {
      await write(io.stdout, understood.text);
      return understood.exitCode;
    }
    return await dispatch(contextOf(io, understood.globals), understood.invocation);
  } catch (thrown) {
    return await fail(thrown, argv, io);
  }
}

type Understood =
  | {
      readonly kind: "invocation";
      readonly invocation: Invocation;
      readonly globals: Globals & { readonly json?: boolean };
    }
  | { readonly kind: "help"; readonly text: string; readonly exitCode: number };

/** The two commands that agents and the daemon start all the time, without the cost of the full parser. */
async function bare(argv: readonly string[]): Promise<Understood | undefined> {
  const mcp = readBare(argv, ["mcp"]);
  if (mcp !== undefined)
    return { kind: "invocation", invocation: { command: "mcp", toolsets: ["leases"], http: false }, globals: mcp };
  const run = readBare(argv, ["daemon", "run"]);
  return run === undefined ? undefined : { kind: "invocation", invocation: { command: "daemon run" }, globals: run };
}

async function parsed(argv: readonly string[]): Promise<Understood> {
  return (await import("./program.ts")).parse(argv);
}

async function fail(thrown: unknown, argv: readonly string[], io: Io): Promise<number> {
  if (thrown instanceof OutputClosed) return EXIT_OUTPUT_CLOSED;
  const error = toSimlockError(thrown);
  const readable = io.stderr.isTTY === true && !argv.includes("--json");
  const dropIn = argv[0] === "state" && argv[1] === "--ios-sim-state";
  const text = dropIn
    ? dropInText(error)
    : readable
      ? errorText(error, paintFor(io.stderr, io.env), Date.now())
      : errorLine(error);
  await writeLine(io.stderr, text).catch(() => {});
  // A fault of ours: whoever debugs it needs the trace, and it holds nothing of the caller's.
  if (
    error.code === "INTERNAL" &&
    io.env["SIMLOCK_DEBUG"] === "1" &&
    thrown instanceof Error &&
    !(thrown instanceof SimlockError)
  ) {
    await writeLine(io.stderr, thrown.stack ?? thrown.message).catch(() => {});
  }
  return dropIn ? EXIT_DROP_IN_ERROR : exitCodeOf(error);
}
