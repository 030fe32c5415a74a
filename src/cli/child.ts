import { spawn } from "node:child_process";
import { exitCodeOfSignal, onSignals } from "./signals.ts";

export interface ChildCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /**
   * With a terminal the command stays in our process group: only that group may read the terminal, and Ctrl-C reaches both of us. Without one it
   * gets a group of its own, which is ended whole.
   */
  readonly terminal: boolean;
  readonly onStarted?: (pid: number) => void;
  /** Ends the command: SIGTERM, and SIGKILL after `graceMs`. */
  readonly stop?: AbortSignal;
  readonly graceMs?: number;
}

const GRACE_MS = 5000;

/** Runs a command on our own standard streams and waits for it. Resolves with its exit code, 128+n where signal n ended it. Rejects when it can't be started. */
export function runChild(command: ChildCommand): Promise<number> {
  return new Promise((resolve, reject) => {
    let killer: NodeJS.Timeout | undefined;
    const send = (signal: NodeJS.Signals) => {
      const { pid } = child;
      if (pid === undefined) return;
      try {
        // A negative pid is the whole group.
        process.kill(command.terminal ? pid : -pid, signal);
      } catch {
        // It ended in the meantime.
      }
    };
    const stop = () => {
      send("SIGTERM");
      killer ??= setTimeout(() => send("SIGKILL"), command.graceMs ?? GRACE_MS);
    };
    // Before the command is there to be heard: a signal that came in between would end us and leave the command behind.
    const unlisten = onSignals((signal) => {
      // The terminal has sent Ctrl-C to the command already.
      if (!(command.terminal && signal === "SIGINT")) send(signal);
    });
    const child = spawn(command.file, [...command.args], {
      cwd: command.cwd,
      env: { ...command.env },
      stdio: "inherit",
      detached: !command.terminal,
    });
    const finish = () => {
      unlisten();
      clearTimeout(killer);
      command.stop?.removeEventListener("abort", stop);
    };
    child.once("error", (error) => {
      finish();
      reject(error);
    });
    child.once("spawn", () => {
      if (child.pid !== undefined) command.onStarted?.(child.pid);
      if (command.stop?.aborted === true) stop();
      else command.stop?.addEventListener("abort", stop, { once: true });
    });
    child.once("exit", (code, signal) => {
      finish();
      // What the command left running in its group would go on using a device that is about to be given back.
      if (!command.terminal) send("SIGKILL");
      resolve(signal === null ? (code ?? 1) : exitCodeOfSignal(signal));
    });
  });
}
