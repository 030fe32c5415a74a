import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";

const POLL_MS = 50;

/**
 * The process that runs as this home's daemon, known by its whole command line: `… --home <path> [--virtual] daemon run`, as commands start it.
 * Undefined where there is none, or where it was started in another way and can't be told from others.
 */
export async function findDaemonProcess(home: string): Promise<number | undefined> {
  const lines = await commandLines();
  const tails = [`--home\0${home}\0daemon\0run`, `--home\0${home}\0--virtual\0daemon\0run`];
  const own = lines.filter(
    ({ pid, words }) => pid !== process.pid && tails.some((tail) => words.endsWith(`\0${tail}`)),
  );
  // A daemon that is just being started and finds the home taken is there for a moment: the oldest has the home.
  return own.map(({ pid }) => pid).sort((a, b) => a - b)[0];
}

/** The processes in whose command line a text stands, this one left out. */
export async function processesNaming(text: string): Promise<number[]> {
  const lines = await commandLines();
  return lines.filter(({ pid, words }) => pid !== process.pid && words.includes(text)).map(({ pid }) => pid);
}

interface CommandLine {
  readonly pid: number;
  /** Its words with NUL between them. */
  readonly words: string;
}

function commandLines(): Promise<CommandLine[]> {
  return process.platform === "linux" ? commandLinesOfProc() : commandLinesOfPs();
}

async function commandLinesOfProc(): Promise<CommandLine[]> {
  const entries = await readdir("/proc");
  const lines = await Promise.all(
    entries
      .filter((entry) => /^\d+$/.test(entry))
      .map(async (entry) => ({
        pid: Number(entry),
        words: await readFile(`/proc/${entry}/cmdline`, "utf8").then(
          (text) => text.replace(/\0$/, ""),
          () => "",
        ),
      })),
  );
  return lines.filter(({ words }) => words !== "");
}

/** `ps` parts words by blanks: a home with a blank in its path still ends the same way. */
async function commandLinesOfPs(): Promise<CommandLine[]> {
  const { stdout } = await promisify(execFile)("/bin/ps", ["-axww", "-o", "pid=,command="], {
    timeout: 10_000,
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout.split("\n").flatMap((line) => {
    const [, pid, words] = /^\s*(\d+)\s+(.+)$/.exec(line) ?? [];
    return pid === undefined || words === undefined ? [] : [{ pid: Number(pid), words: words.replaceAll(" ", "\0") }];
  });
}

/** True once the process has ended; false when it still runs after the limit. */
export async function waitForEnd(pid: number, limitMs: number): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (await isRunning(pid)) {
    if (performance.now() > deadline) return false;
    await wait(POLL_MS);
  }
  return true;
}

/** A process that has ended and that nobody has collected yet (a container without an init keeps those for ever) does not run. */
async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The state follows the name, which stands in brackets and may hold brackets itself.
  return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
}
