import { closeSync, writeSync } from "node:fs";
import { SimlockError, toSimlockError } from "../../contract/index.ts";
import { runDaemon } from "../../daemon/index.ts";
import { virtualHostFacts } from "../../virtual/index.ts";
import type { Context } from "../context.ts";
import { driversOf } from "../drivers.ts";
import { writeLine } from "../io.ts";
import { READY_FD, READY_VARIABLE, type ReadyLine } from "../launch.ts";
import { VERSION } from "../version.ts";

/** This process is the daemon, until it is told to stop. Whoever started it waits on a pipe for the word that it is ready, or why it is not. */
export async function daemonRun(context: Context): Promise<number> {
  const tell = readyTeller(context);
  try {
    const daemon = await runDaemon({
      home: context.home,
      version: VERSION,
      drivers: driversOf,
      ...(context.home.virtual ? { hostFacts: virtualHostFacts() } : {}),
      signals: true,
    });
    await tell({ ready: true, pid: process.pid });
    // What keeps it from its work after this is told to each caller, and in the log.
    daemon.running.catch(() => {});
    return await daemon.stopped;
  } catch (thrown) {
    const error = toSimlockError(thrown);
    await tell({ error: error.code === "INTERNAL" ? startupFault(thrown).toWire() : error.toWire() });
    throw thrown;
  }
}

/** There is no log yet that could tell, and nobody but the owner of the machine to be told. */
function startupFault(thrown: unknown): SimlockError {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return new SimlockError("DAEMON_STARTUP_FAILED", `The daemon could not be started: ${text.slice(0, 500)}`);
}

/** Speaks once. The variable is taken out of the environment, so that no child of the daemon believes that it is meant. */
function readyTeller(context: Context): (line: ReadyLine) => Promise<void> {
  const asked = process.env[READY_VARIABLE] === String(READY_FD);
  delete process.env[READY_VARIABLE];
  if (!asked) {
    return async (line) => {
      if ("ready" in line)
        await writeLine(context.io.stdout, `Daemon: running, pid ${line.pid}, home ${context.home.path}`);
    };
  }
  return async (line) => {
    try {
      writeSync(READY_FD, `${JSON.stringify(line)}\n`);
      closeSync(READY_FD);
    } catch {
      // Whoever waited has gone. The daemon goes on.
    }
  };
}
