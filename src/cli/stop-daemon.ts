import { stopDaemon as askToStop } from "../client/index.ts";
import { SimlockError } from "../contract/index.ts";
import type { Context } from "./context.ts";
import { adminCredential } from "./credential.ts";
import { findDaemonProcess, waitForEnd } from "./daemon-process.ts";
import { VERSION } from "./version.ts";

export interface StopLimits {
  /** How long the daemon may take to answer that it stops. */
  readonly answerMs: number;
  /** How long its process may then take to end. It waits for devices that are just being cleaned. */
  readonly endMs: number;
  /** A daemon that does not answer: how long after SIGTERM it is killed, and how long that may take. */
  readonly signalMs: number;
}

const LIMITS: StopLimits = { answerMs: 10_000, endMs: 60_000, signalMs: 5000 };

export type StopOutcome = "stopped" | "killed" | "not-running";

/**
 * Ends the home's daemon, of whatever version, and waits until its process is gone. One that does not answer is ended by its process, which is
 * known by its whole command line. Leases stand. Throws `ADMIN_AUTHENTICATION_FAILED`, `FORBIDDEN`, `DAEMON_UNREACHABLE`.
 */
export async function stopDaemon(context: Context, limits: StopLimits = LIMITS): Promise<StopOutcome> {
  const pid = await findDaemonProcess(context.home.path);
  const answer = await ask(context, limits);
  if (answer === "nothing-listens" && pid === undefined) return "not-running";
  if (answer === "gone" && (pid === undefined || (await waitForEnd(pid, limits.endMs)))) return "stopped";
  if (pid !== undefined) return kill(pid, limits.signalMs);
  throw new SimlockError(
    "DAEMON_UNREACHABLE",
    "The daemon does not end, and its process could not be told from others.",
    {
      hint: `End the process that runs \`simlock daemon run\` for ${context.home.path} yourself, then start again.`,
    },
  );
}

async function ask(context: Context, limits: StopLimits): Promise<"gone" | "stays" | "nothing-listens"> {
  try {
    const stopping = await askToStop({
      socketPath: context.layout.socket,
      principal: context.principal,
      credential: await adminCredential(context, 1),
      clientVersion: VERSION,
      timeoutMs: limits.answerMs,
    });
    return (await stopping.gone(limits.endMs)) ? "gone" : "stays";
  } catch (thrown) {
    if (!(thrown instanceof SimlockError)) throw thrown;
    if (thrown.code === "DAEMON_UNREACHABLE") return "nothing-listens";
    if (thrown.code === "DAEMON_CONNECTION_LOST") return "stays";
    throw thrown;
  }
}

async function kill(pid: number, limitMs: number): Promise<StopOutcome> {
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    try {
      process.kill(pid, signal);
    } catch {
      return "killed";
    }
    if (await waitForEnd(pid, limitMs)) return "killed";
  }
  throw new SimlockError("DAEMON_UNREACHABLE", `The daemon's process ${pid} could not be ended.`);
}
