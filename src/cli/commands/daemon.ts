import { toSimlockError } from "../../contract/index.ts";
import { connect, nothingListens, withClient } from "../connect.ts";
import type { Context } from "../context.ts";
import { agoOf } from "../duration.ts";
import { writeJson, writeLine } from "../io.ts";
import { readyStatus } from "../ready-status.ts";
import { stopDaemon } from "../stop-daemon.ts";

export async function startDaemon(context: Context): Promise<number> {
  return withClient(context, { launch: true }, async (client) => {
    await tellRunning(context, (await readyStatus(client)).daemon);
    return 0;
  });
}

export async function stop(context: Context): Promise<number> {
  const outcome = await stopDaemon(context);
  const says = {
    stopped: "Daemon: stopped. Leases stand until their deadline.",
    killed: "Daemon: it did not answer and was ended. Leases stand until their deadline.",
    "not-running": "Daemon: it was not running.",
  };
  if (context.json) await writeJson(context.io.stdout, { status: "stopped", outcome });
  else await writeLine(context.io.stdout, says[outcome]);
  return 0;
}

export async function restart(context: Context): Promise<number> {
  await stopDaemon(context);
  return startDaemon(context);
}

/** Never starts the daemon. Exit code 1 when one is there and will not speak with us. */
export async function daemonStatus(context: Context): Promise<number> {
  const { stdout } = context.io;
  try {
    const client = await connect(context, { launch: false });
    try {
      await tellRunning(context, (await client.call("status.get", {})).daemon);
    } finally {
      await client.close();
    }
    return 0;
  } catch (thrown) {
    if (nothingListens(thrown)) {
      if (context.json) await writeJson(stdout, { status: "stopped" });
      else await writeLine(stdout, "Daemon: stopped. It starts by itself with the next command that needs it.");
      return 0;
    }
    const error = toSimlockError(thrown);
    if (context.json) await writeJson(stdout, { status: "handshake-refused", error: error.toWire() });
    else
      await writeLine(
        stdout,
        `Daemon: it runs and refuses to speak with this command: ${error.message}\n${error.hint ?? ""}`.trimEnd(),
      );
    return 1;
  }
}

async function tellRunning(
  context: Context,
  daemon: {
    readonly health: string;
    readonly version: string;
    readonly pid: number;
    readonly home: string;
    readonly virtual: boolean;
    readonly startedAt: number;
  },
): Promise<void> {
  const { health, version, pid, home, virtual, startedAt } = daemon;
  if (context.json) await writeJson(context.io.stdout, { status: health, ...daemon });
  else {
    const kind = virtual ? " (virtual)" : "";
    await writeLine(
      context.io.stdout,
      `Daemon: ${health}, simlock ${version}, pid ${pid}, started ${agoOf(startedAt, Date.now())}\nHome: ${home}${kind}`,
    );
  }
}
