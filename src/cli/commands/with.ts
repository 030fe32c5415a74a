import { toSimlockError, type LeaseGrant } from "../../contract/index.ts";
import { runChild } from "../child.ts";
import { connect } from "../connect.ts";
import type { Context } from "../context.ts";
import { executableOf } from "../executable.ts";
import { Hold, type Lost } from "../hold.ts";
import type { Invocation } from "../invocation.ts";
import { leaseEnvironment } from "../lease-environment.ts";
import { leaseFor, reportLost, sayer, Stopped } from "../leasing.ts";
import { onParentGone } from "../signals.ts";
import { toolFolder } from "../tool-folder.ts";

type With = Extract<Invocation, { command: "with" }>;

/** Leases a device, runs a command with it, gives it back, and exits with the command's code. */
export async function withLease(context: Context, invocation: With): Promise<number> {
  const [name = "", ...args] = invocation.argv;
  // A command that is not there is told before a device is taken.
  const file = executableOf(name, context.io);
  const stopped = new Stopped({ parent: true });
  try {
    const taken = await take(context, invocation, stopped);
    if (taken === undefined) return stopped.exitCode;
    const { hold, tools } = taken;
    // From here on signals are the command's: it is handed them, and its end is ours. There is no moment without a listener.
    const running = runWith(context, hold, { file, args, env: environmentOf(context, hold.grant, tools) });
    stopped.dispose();
    const end = await running;
    return end.kind === "exit" ? end.code : await reportLost(context, end);
  } finally {
    stopped.dispose();
  }
}

/** Undefined when we were told to stop while we waited. */
async function take(
  context: Context,
  invocation: With,
  stopped: Stopped,
): Promise<{ readonly hold: Hold; readonly tools: string | undefined } | undefined> {
  const client = await connect(context, { launch: true });
  try {
    const tools = await toolFolder(context);
    const grant = await leaseFor(context, client, { bindPid: process.pid, ...invocation.ask }, stopped);
    const hold = new Hold(client, grant, {
      reconnect: () => connect(context, { launch: false }),
      say: sayer(context),
      // Without a daemon nobody else is granted the device: the command may go on to the lease's deadline.
      reconnectLimitMs: Number.POSITIVE_INFINITY,
    });
    return { hold, tools };
  } catch (thrown) {
    await client.close();
    if (stopped.by !== undefined && toSimlockError(thrown).code === "CANCELLED") return undefined;
    throw thrown;
  }
}

type End = { readonly kind: "exit"; readonly code: number } | Lost;

/** Runs the command and gives the lease back, unless it is lost first: then the command is ended. */
async function runWith(
  context: Context,
  hold: Hold,
  command: {
    readonly file: string;
    readonly args: readonly string[];
    readonly env: Record<string, string | undefined>;
  },
): Promise<End> {
  const stop = new AbortController();
  const unwatch = onParentGone(() => stop.abort());
  const terminal = context.io.stdin.isTTY === true || context.io.stdout.isTTY === true;
  const running = runChild({ ...command, cwd: context.io.cwd, terminal, stop: stop.signal });
  try {
    const end = await Promise.race([hold.lost, running.then((code): End => ({ kind: "exit", code }))]);
    if (end.kind === "exit") await hold.release();
    else {
      // The device may be somebody else's any moment: what runs must not touch it again.
      stop.abort();
      await running;
      await hold.abandon();
    }
    return end;
  } catch (thrown) {
    // It could not be started, or the lease not be given back.
    await hold.release().catch(() => {});
    throw thrown;
  } finally {
    unwatch();
  }
}

function environmentOf(
  context: Context,
  grant: LeaseGrant,
  tools: string | undefined,
): Record<string, string | undefined> {
  const { PATH: path = "", SIMLOCK_ADMIN_TOKEN: _secret, ...rest } = context.io.env;
  return { ...rest, PATH: tools === undefined ? path : `${tools}:${path}`, ...leaseEnvironment(context, grant) };
}
