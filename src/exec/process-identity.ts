import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * What tells a process from a later one with the same pid: when it started. On Linux the boot and the ticks since then; elsewhere what `ps` says of
 * its start, to the second. Undefined when there is no such process, or only its exit status is left: a zombie holds nothing.
 */
export async function processIdentity(pid: number): Promise<string | undefined> {
  return process.platform === "linux" ? linuxIdentity(pid) : psIdentity(pid);
}

/** Whether the process that had this identity still runs. */
export async function isAlive(pid: number, identity: string): Promise<boolean> {
  return (await processIdentity(pid)) === identity;
}

/** The same, at once, where the system has /proc. */
export function linuxIdentity(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // Field 22. The name in field 2 may hold blanks and brackets, so fields are counted from its closing bracket.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state = "X"] = fields;
    const started = fields[19];
    return started === undefined || "ZX".includes(state) ? undefined : `${bootId()}/${started}`;
  } catch {
    return undefined;
  }
}

let boot: string | undefined;

function bootId(): string {
  boot ??= readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  return boot;
}

function psIdentity(pid: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { env: { PATH: "/bin:/usr/bin", LC_ALL: "C", TZ: "UTC" }, timeout: 5000 };
    execFile("ps", ["-o", "state=", "-o", "lstart=", "-p", String(pid)], options, (error, stdout) => {
      const [, state, started] = /^(\S+)\s+(.+)$/.exec(stdout.trim()) ?? [];
      resolve(error !== null || state === undefined || state.startsWith("Z") ? undefined : started);
    });
  });
}
