import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A temporary folder, and what runs in it: all of it ends with the measurement. */
export class Workshop {
  readonly folder = mkdtempSync(join(tmpdir(), "slb-"));
  readonly #children: ChildProcess[] = [];

  /** Starts a script of this folder and waits until it listens. */
  async start(script: string, ...args: string[]): Promise<ChildProcess> {
    const child = spawn(process.execPath, [join(import.meta.dirname, script), ...args], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#children.push(child);
    await once(child.stdout, "data");
    return child;
  }

  /** Starts a program of ours in this folder, as its home; what it says on standard error goes to a file. */
  run(log: string, args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
    const given = { PATH: process.env["PATH"] ?? "", HOME: this.folder, ...env };
    const child = spawn(process.execPath, [...args], { env: given, stdio: ["ignore", "ignore", openSync(log, "w")] });
    this.#children.push(child);
    return child;
  }

  async close(): Promise<void> {
    for (const child of this.#children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Resident memory of a process in bytes, its shared pages in proportion where the system tells them. */
export function memoryOf(pid: number): number {
  const rollup = read(`/proc/${pid}/smaps_rollup`);
  const share =
    /^Pss:\s+(\d+) kB/m.exec(rollup ?? "")?.[1] ?? /^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`) ?? "")?.[1];
  return Number(share ?? Number.NaN) * 1024;
}

export function residentOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`) ?? "")?.[1] ?? Number.NaN) * 1024;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
