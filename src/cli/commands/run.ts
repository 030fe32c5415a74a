import type { SimlockClient } from "../../client/index.ts";
import { SimlockError, toSimlockError, type LeaseId, type OutputStream } from "../../contract/index.ts";
import { runChild } from "../child.ts";
import { withClient } from "../connect.ts";
import type { Context } from "../context.ts";
import type { RunInvocation } from "../invocation.ts";
import { OutputClosed, write, writeJson, writeLine } from "../io.ts";
import { meantLease, sayer, Stopped } from "../leasing.ts";
import { mayReadStdin, readStdin } from "../stdin.ts";

/** Runs one command of a device tool on a lease and exits with the tool's own code. */
export function run(context: Context, invocation: RunInvocation): Promise<number> {
  return withClient(context, { launch: true }, async (client) => {
    const leaseId = await meantLease(context, client, invocation.lease);
    if (invocation.dryRun) return decide(context, client, leaseId, invocation);
    if (hasTerminal(context) || invocation.raw || writesBytes(invocation)) {
      return passThrough(context, client, leaseId, invocation);
    }
    return execute(context, client, leaseId, invocation);
  });
}

function hasTerminal({ io }: Context): boolean {
  return io.stdin.isTTY === true && io.stdout.isTTY === true;
}

/** Commands that exist to write a file to standard output. The daemon's answers are text: their bytes have to come from the tool itself. */
function writesBytes({ tool, args }: RunInvocation): boolean {
  if (tool === "adb") return args.includes("exec-out");
  return tool === "simctl" && args.includes("screenshot") && args.at(-1) === "-";
}

/** The tool's arguments, decided but not run. A refusal is the answer here, with the exit code that the run would have. */
async function decide(
  context: Context,
  client: SimlockClient,
  leaseId: LeaseId,
  { tool, args }: RunInvocation,
): Promise<number> {
  const { stdout } = context.io;
  try {
    const decision = await client.call("driver.passthrough", {
      leaseId,
      tool,
      args: [...args],
      hasTerminal: hasTerminal(context),
      cwd: context.io.cwd,
      dryRun: true,
    });
    const { command, args: argv, flags, hostPaths, cwd } = decision;
    if (context.json || stdout.isTTY !== true) {
      await writeJson(stdout, {
        decision: "run",
        leaseId,
        tool,
        command,
        args: argv,
        flags,
        hostPaths,
        ...(cwd === undefined ? {} : { cwd }),
      });
      return 0;
    }
    await writeLine(stdout, `would run  ${[command, ...argv].map(shown).join(" ")}`);
    if (flags.length > 0) await writeLine(stdout, `flags      ${flags.join(" ")}`);
    for (const use of hostPaths)
      await writeLine(stdout, `${use.access === "read" ? "reads " : "writes"}     ${use.path}`);
    return 0;
  } catch (thrown) {
    const error = toSimlockError(thrown);
    if (error.code !== "PASSTHROUGH_REFUSED" && error.code !== "UNKNOWN_PASSTHROUGH_TOOL") throw thrown;
    const { code, message, hint, details } = error.toWire();
    const { reason, token } = details ?? {};
    if (context.json || stdout.isTTY !== true) {
      await writeJson(stdout, { decision: "refuse", leaseId, tool, code, reason, token, message, hint });
      return 2;
    }
    throw error;
  }
}

function shown(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The command runs here, on our own standard streams; the daemon decides it and is told of its beginning and end. */
async function passThrough(
  context: Context,
  client: SimlockClient,
  leaseId: LeaseId,
  { tool, args }: RunInvocation,
): Promise<number> {
  const terminal = hasTerminal(context);
  const decided = await client.call("driver.passthrough", {
    leaseId,
    tool,
    args: [...args],
    hasTerminal: terminal,
    cwd: context.io.cwd,
  });
  const { runId } = decided;
  const told: Promise<unknown>[] = [];
  try {
    return await runChild({
      file: decided.command,
      args: decided.args,
      env: { ...decided.env, ...(terminal ? { TERM: context.io.env["TERM"] } : {}) },
      cwd: decided.cwd ?? context.io.cwd,
      terminal,
      onStarted: (pid) => {
        if (runId !== undefined) told.push(client.call("run.start", { runId, pid }).catch(() => {}));
      },
    });
  } catch (thrown) {
    throw new SimlockError("TOOL_FAILED", `${decided.command} could not be started.`, { cause: thrown });
  } finally {
    await Promise.all(told);
    if (runId !== undefined) await client.call("run.end", { runId }).catch(() => {});
  }
}

/** The daemon runs the command; its output comes here as it is written, no faster than our reader takes it. */
async function execute(
  context: Context,
  client: SimlockClient,
  leaseId: LeaseId,
  invocation: RunInvocation,
): Promise<number> {
  const { io } = context;
  const stdin = await inputOf(context, invocation);
  const stopped = new Stopped({ parent: true });
  const outputGone = new AbortController();
  const streams: Readonly<Record<OutputStream, typeof io.stdout>> = { stdout: io.stdout, stderr: io.stderr };
  try {
    const result = await client.exec(
      {
        leaseId,
        tool: invocation.tool,
        args: [...invocation.args],
        cwd: io.cwd,
        ...(stdin === undefined ? {} : { stdin }),
      },
      {
        signal: AbortSignal.any([stopped.signal, outputGone.signal]),
        onOutput: (stream, chunk) =>
          write(streams[stream], chunk).catch(() => {
            // Nobody reads any more: the command has nothing left to run for.
            outputGone.abort();
          }),
      },
    );
    const say = sayer(context);
    for (const note of result.notes ?? []) say({ notice: note });
    return result.exitCode;
  } catch (thrown) {
    if (toSimlockError(thrown).code !== "EXEC_CANCELLED") throw thrown;
    if (outputGone.signal.aborted) throw new OutputClosed();
    if (stopped.by !== undefined) return stopped.exitCode;
    throw thrown;
  } finally {
    stopped.dispose();
  }
}

function inputOf(context: Context, { tool, args, stdin }: RunInvocation): Promise<string> | undefined {
  if (stdin === "none" || context.io.stdin.isTTY === true) return undefined;
  if (stdin === "auto" && !mayReadStdin(tool, args)) return undefined;
  return readStdin(context.io.stdin, { patient: stdin === "wait" });
}
