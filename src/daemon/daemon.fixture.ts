import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { layoutOf, type Home } from "../contract/index.ts";
import type { Driver } from "../devices/index.ts";
import { createFakeDriver, type FakeDriver, type FakeOptions } from "./fake-driver.ts";
import type { DaemonOptions } from "./options.ts";
import { RawClient } from "./raw-client.fixture.ts";
import { runDaemon, type RunningDaemon } from "./run-daemon.ts";

export interface TestDaemon {
  readonly home: Home;
  readonly daemon: RunningDaemon;
  readonly driver: FakeDriver;
  /** Every log line so far. */
  readonly log: Record<string, unknown>[];
  /** With which codes the process would have been ended. */
  readonly exits: number[];
  agent(principal?: string, hello?: Record<string, unknown>): Promise<RawClient>;
  admin(principal?: string): Promise<RawClient>;
}

export interface TestOptions extends Partial<Omit<DaemonOptions, "drivers">> {
  readonly fake?: FakeOptions;
  readonly config?: unknown;
  readonly more?: readonly Driver[];
}

/** Homes, daemons and clients of one test file, all gone after `close`. */
export class TestBench {
  readonly root = mkdtempSync("/tmp/sld-");
  #number = 0;
  readonly #daemons: TestDaemon[] = [];
  readonly #clients: RawClient[] = [];

  home(): Home {
    this.#number += 1;
    return { path: join(this.root, `h${this.#number}`), virtual: false };
  }

  configure(home: Home, config: unknown): void {
    mkdirSync(home.path, { recursive: true, mode: 0o700 });
    writeFileSync(layoutOf(home).config, JSON.stringify(config));
  }

  async start({ fake = {}, config, more = [], ...options }: TestOptions = {}): Promise<TestDaemon> {
    const home = options.home ?? this.home();
    if (config !== undefined) this.configure(home, config);
    // Beside the home: the devices outlive its daemons, as they do on a machine.
    const driver = createFakeDriver({ worldFile: `${home.path}.world`, ...fake });
    const log: Record<string, unknown>[] = [];
    const exits: number[] = [];
    const daemon = await runDaemon({
      version: "1.2.3",
      hostFacts: { cpus: 8, memoryBytes: 32 * 1024 ** 3 },
      log: { write: (line) => void log.push(JSON.parse(line)) },
      exit: (code) => void exits.push(code),
      ...options,
      home,
      drivers: () => [driver, ...more],
    });
    const started: TestDaemon = {
      home,
      daemon,
      driver,
      log,
      exits,
      agent: async (principal = "agent", hello = {}) => this.client(daemon.socketPath, { principal, ...hello }),
      admin: async (principal = "operator") =>
        this.client(daemon.socketPath, { principal, credential: readFileSync(layoutOf(home).adminToken, "utf8") }),
    };
    this.#daemons.push(started);
    return started;
  }

  async client(path: string, hello: Record<string, unknown>): Promise<RawClient> {
    return this.keep(await RawClient.hello(path, hello));
  }

  async raw(path: string): Promise<RawClient> {
    return this.keep(await RawClient.open(path));
  }

  keep(client: RawClient): RawClient {
    this.#clients.push(client);
    return client;
  }

  async close(): Promise<void> {
    for (const client of this.#clients.splice(0)) client.close();
    await Promise.all(this.#daemons.splice(0).map(async ({ daemon }) => daemon.stop("test over")));
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** A value where it must be there. */
export function must<T>(value: T | undefined | null, what = "a value"): T {
  if (value === undefined || value === null) throw new Error(`${what} is missing`);
  return value;
}

/** A field of something that came over the wire. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let here: unknown = value;
  for (const key of path) {
    if (typeof here !== "object" || here === null) return undefined;
    here = Object.getOwnPropertyDescriptor(here, key)?.value;
  }
  return here;
}

export function text(value: unknown, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path);
  if (typeof found !== "string") throw new Error(`no text at ${path.join(".")}: ${JSON.stringify(value)}`);
  return found;
}
