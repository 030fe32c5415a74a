import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createVirtualMac } from "../virtual/index.ts";
import { findDaemonProcess, waitForEnd } from "./daemon-process.ts";

/** The command is started from its sources many times: what Node made of them the first time is kept. */
const COMPILE_CACHE = fileURLToPath(new URL("../../node_modules/.cache/simlock-tests", import.meta.url));
/** A command and its daemon are started several times in a test, on machines that have other things to do. */
export const PROCESS_TEST_MS = 120_000;

export const MAIN = fileURLToPath(new URL("./main.ts", import.meta.url));

export interface Done {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly cwd?: string;
}

/** A command that runs: what it has said so far, and its end. */
export class Running {
  readonly child: ChildProcess;
  readonly done: Promise<Done>;
  stdout = "";
  stderr = "";
  #heard: (() => void)[] = [];

  constructor(child: ChildProcess) {
    this.child = child;
    const hear = (which: "stdout" | "stderr") => (chunk: Buffer) => {
      this[which] += chunk.toString("utf8");
      for (const wake of this.#heard.splice(0)) wake();
    };
    child.stdout?.on("data", hear("stdout"));
    child.stderr?.on("data", hear("stderr"));
    this.done = new Promise((resolve) => {
      child.once("close", (code) => {
        for (const wake of this.#heard.splice(0)) wake();
        resolve({ code, stdout: this.stdout, stderr: this.stderr });
      });
    });
  }

  /** Ends it outright, with all that it started. */
  kill(): void {
    try {
      if (this.child.pid !== undefined) process.kill(-this.child.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  }

  /** Waits until it has said this. Fails when it ends without. */
  async said(which: "stdout" | "stderr", part: string): Promise<string> {
    while (!this[which].includes(part)) {
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        await this.done;
        if (this[which].includes(part)) break;
        throw new Error(`it ended and never said ${part}: ${this.stdout}${this.stderr}`);
      }
      await new Promise<void>((resolve) => {
        this.#heard.push(resolve);
        this.child.once("exit", () => resolve());
      });
    }
    return this[which];
  }
}

/** A virtual home of its own, with the real command on it. Nothing in it takes time that need not. */
export class TestHome {
  readonly folder: string;
  readonly path: string;
  readonly #running = new Set<Running>();

  constructor(config: Readonly<Record<string, unknown>> = {}) {
    this.folder = mkdtempSync(join(tmpdir(), "sl-"));
    this.path = join(this.folder, "h");
    mkdirSync(this.path, { mode: 0o700 });
    createVirtualMac(join(this.path, "virtual-mac"), { pace: "none" });
    this.configure(config);
  }

  configure(config: Readonly<Record<string, unknown>>): void {
    writeFileSync(join(this.path, "config.json"), JSON.stringify(config), { mode: 0o600 });
  }

  /** The environment of a command: nothing of the test's own that would say who asks. */
  env(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    return {
      PATH: process.env["PATH"] ?? "",
      HOME: this.folder,
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      SIMLOCK_HOME: this.path,
      SIMLOCK_VIRTUAL: "1",
      ...more,
    };
  }

  start(args: readonly string[], options: RunOptions = {}): Running {
    return this.spawn(process.execPath, [MAIN, ...args], options);
  }

  spawn(file: string, args: readonly string[], options: RunOptions = {}): Running {
    const child = spawn(file, [...args], {
      cwd: options.cwd ?? this.folder,
      env: this.env(options.env),
      // A group of its own, so that what it starts can be ended with it.
      detached: true,
      stdio: [options.stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    });
    child.stdin?.on("error", () => {});
    if (options.stdin !== undefined) child.stdin?.end(options.stdin);
    const running = new Running(child);
    this.#running.add(running);
    void running.done.then(() => this.#running.delete(running));
    return running;
  }

  run(args: readonly string[], options: RunOptions = {}): Promise<Done> {
    return this.start(args, options).done;
  }

  daemonPid(): Promise<number | undefined> {
    return findDaemonProcess(this.path);
  }

  /** Ends what runs, by its id, and removes the folder. */
  async dispose(): Promise<void> {
    for (const running of this.#running) running.kill();
    await Promise.all([...this.#running].map(({ done }) => done));
    for (let pid = await this.daemonPid(); pid !== undefined; pid = await this.daemonPid()) {
      process.kill(pid, "SIGKILL");
      await waitForEnd(pid, 5000);
    }
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The lines of JSON in a text. */
export function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

export function errorOf(done: Done): {
  code: string;
  message: string;
  hint?: string;
  details?: Record<string, unknown>;
} {
  const found = jsonLines(done.stderr).find((line) => "error" in line);
  if (found === undefined) throw new Error(`no error line in: ${done.stderr}`);
  return found["error"] as { code: string; message: string; hint?: string };
}
