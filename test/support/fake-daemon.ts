import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "tsdown";

const root = join(import.meta.dirname, "..", "..");

/** A real daemon as a process of its own, over devices that cost nothing and live in a file: for many leases, and for being killed. */
export class FakeDaemon {
  readonly home: string;
  readonly socketPath: string;
  readonly #folder: string;
  #child: ChildProcess | undefined;

  private constructor(folder: string) {
    this.#folder = folder;
    this.home = join(folder, "h");
    this.socketPath = join(this.home, "daemon.sock");
  }

  static async prepare(folder: string, config?: object): Promise<FakeDaemon> {
    // In one file, as it is shipped: reading hundreds of sources at each start would be most of what a test does.
    await build({
      config: false,
      cwd: root,
      entry: { daemon: "src/daemon/fake-daemon.fixture.ts" },
      outDir: join(folder, "dist"),
      platform: "node",
      target: "node24",
      fixedExtension: false,
      dts: false,
      report: false,
      logLevel: "error",
      noExternal: () => true,
      inlineOnly: false,
    });
    const daemon = new FakeDaemon(folder);
    mkdirSync(daemon.home, { mode: 0o700 });
    if (config !== undefined) {
      writeFileSync(join(daemon.home, "config.json"), JSON.stringify(config), { mode: 0o600 });
    }
    return daemon;
  }

  async start(): Promise<void> {
    const child = spawn(
      process.execPath,
      [join(this.#folder, "dist", "daemon.js"), this.home, join(this.#folder, "world.json")],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    this.#child = child;
    const [said] = (await once(child.stdout, "data")) as [Buffer];
    if (said.toString().trim() !== "listening") throw new Error(`the daemon said ${said.toString()}`);
  }

  /** SIGKILL, now. */
  shoot(): void {
    this.#child?.kill("SIGKILL");
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const gone = child.exitCode !== null || child.signalCode !== null ? undefined : once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }
}
