import { arch, cpus, release, totalmem, type as osType } from "node:os";
import { execFile } from "node:child_process";
import type { HostFacts, HostTool } from "../contract/index.ts";
import type { Driver } from "../devices/index.ts";
import { bounded } from "./bounded.ts";
import { HOST_FACTS_FRESH_MS, HOST_FACTS_TIMEOUT_MS } from "./limits.ts";

const MAX_TOOLS = 32;
const MAX_TEXT = 128;

/**
 * What this machine is. Answered from memory, so that `status` never waits for a tool; the tools' versions are read anew in the background when they
 * are old. `override` stands in for a machine that is not this one.
 */
export class HostFactsReader {
  readonly #drivers: readonly Driver[];
  readonly #override: Partial<HostFacts>;
  #facts: HostFacts;
  #readAt = -Infinity;
  #reading: Promise<HostFacts> | undefined;

  constructor(drivers: readonly Driver[], override: Partial<HostFacts>) {
    this.#drivers = drivers;
    this.#override = override;
    this.#facts = {
      os: osName(),
      osVersion: release(),
      arch: arch(),
      cpus: cpus().length,
      memoryBytes: totalmem(),
      tools: [],
      ...override,
    };
  }

  /** What is known, at once. */
  get facts(): HostFacts {
    if (performance.now() - this.#readAt > HOST_FACTS_FRESH_MS) void this.read();
    return this.#facts;
  }

  /** Reads it anew, in bounded time. A tool that does not answer is left out. */
  async read(): Promise<HostFacts> {
    this.#reading ??= this.#readOnce().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #readOnce(): Promise<HostFacts> {
    this.#readAt = performance.now();
    const [osVersion, ...tools] = await Promise.all([productVersion(), ...this.#drivers.map(toolsOf)]);
    const distinct = new Map(tools.flat().map((tool) => [`${tool.platform} ${tool.name}`, tool]));
    this.#facts = {
      ...this.#facts,
      osVersion,
      tools: [...distinct.values()].slice(0, MAX_TOOLS).map(cutTool),
      ...this.#override,
    };
    this.#readAt = performance.now();
    return this.#facts;
  }
}

async function toolsOf(driver: Driver): Promise<readonly HostTool[]> {
  const bound = { timeoutMs: HOST_FACTS_TIMEOUT_MS, what: "Reading the tools' versions" };
  return bounded(bound, async () => driver.hostTools()).catch(() => []);
}

function cutTool(tool: HostTool): HostTool {
  const cut = (text: string): string => text.slice(0, MAX_TEXT);
  const { build } = tool;
  return {
    platform: tool.platform,
    name: cut(tool.name),
    version: cut(tool.version),
    ...(build === undefined ? {} : { build: cut(build) }),
  };
}

function osName(): string {
  return process.platform === "darwin" ? "macOS" : osType();
}

/** The version that people know a Mac by; elsewhere the kernel's. */
async function productVersion(): Promise<string> {
  if (process.platform !== "darwin") return release();
  return new Promise((done) => {
    execFile("/usr/bin/sw_vers", ["-productVersion"], { timeout: 5000 }, (error, stdout) => {
      done(error === null && stdout.trim() !== "" ? stdout.trim().slice(0, MAX_TEXT) : release());
    });
  });
}
