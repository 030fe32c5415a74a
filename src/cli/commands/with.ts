import { toSimlockError, type LeaseGrant } from "../../contract/index.ts";
import { runChild } from "../child.ts";
import { connect } from "../connect.ts";
import type { Context } from "../context.ts";
import { executableOf } from "../executable.ts";
import { Hold } from "../hold.ts";
import type { Invocation } from "../invocation.ts";
import { leaseEnvironment } from "../lease-environment.ts";
import { leaseFor, reportLost, sayer, Stopped } from "../leasing.ts";
import { onParentGone } from "../signals.ts";
import { toolFolder, type ToolFolder } from "../tool-folder.ts";

type With = Extract<Invocation, { command: "with" }>;

/** Leases a device, runs a command with it, gives it back, and exits with the command's code. */
export async function withLease(context: Context, invocation: With): Promise<number> {
  const [name = "", ...args] = invocation.argv;
  // A command that is not there is told before a device is taken.
  const file = executableOf(name, context.io);
  const tools = await toolFolder(context);
  const stopped = new Stopped({ parent: true });
  try {
    const hold = await take(context, invocation, stopped);
    if (hold === undefined) return stopped.exitCode;
    // From here on signals are the command's: it is handed them, and its end is ours.
    stopped.dispose();
    return await runWith(context, hold, { file, args, tools });
  } finally {
    stopped.dispose();
    await tools?.remove();
  }
}

/** Undefined when we were told to stop while we waited. */
async function take(context: Context, invocation: With, stopped: Stopped): Promise<Hold | undefined> {
  const client = await connect(context, { launch: true });
  try {
    const grant = await leaseFor(context, client, { bindPid: process.pid, ...invocation.ask }, stopped);
    return new Hold(client, grant, { reconnect: () => connect(context, { launch: false }), say: sayer(context) });
  } catch (thrown) {
    await client.close();
    if (stopped.by !== undefined && toSimlockError(thrown).code === "CANCELLED") return undefined;
    throw thrown;
  }
}

async function runWith(
  context: Context,
  hold: Hold,
  command: { readonly file: string; readonly args: readonly string[]; readonly tools: ToolFolder | undefined },
): Promise<number> {
  const stop = new AbortController();
  const unwatch = onParentGone(() => stop.abort());
  try {
    const running = runChild({
      file: command.file,
      args: command.args,
      cwd: context.io.cwd,
      env: environmentOf(context, hold.grant, command.tools),
      terminal: context.io.stdin.isTTY === true || context.io.stdout.isTTY === true,
      stop: stop.signal,
    });
    const end = await Promise.race([hold.lost, running.then((code) => ({ kind: "exit", code }) as const)]);
    if (end.kind === "exit") {
      await hold.release();
      return end.code;
    }
    // The device may be somebody else's any moment: what runs must not touch it again.
    stop.abort();
    await running;
    await hold.abandon();
    return await reportLost(context, end);
  } catch (thrown) {
    // The command could not be started.
    await hold.release();
    throw thrown;
  } finally {
    unwatch();
  }
}

function environmentOf(
  context: Context,
  grant: LeaseGrant,
  tools: ToolFolder | undefined,
): Record<string, string | undefined> {
  const { PATH: path = "", SIMLOCK_ADMIN_TOKEN: _secret, ...rest } = context.io.env;
  return {
    ...rest,
    PATH: tools === undefined ? path : `${tools.path}:${path}`,
    ...leaseEnvironment(context, grant),
  };
}
