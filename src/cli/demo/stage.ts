import { mkdir, mkdtemp, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { layoutOf, MAX_SOCKET_PATH_BYTES, type Home } from "../../contract/index.ts";
import type { Context } from "../context.ts";
import { processesNaming, waitForEnd } from "../daemon-process.ts";
import { selfCommand } from "../entry.ts";
import { stopDaemon } from "../stop-daemon.ts";
import { Agent } from "./agent.ts";

/** Everything that the demo makes: one temporary folder, the daemon of the home in it, and the agents. */
export class Stage {
  readonly folder: string;
  /** Where the agents' files lie. The home itself is closed to commands. */
  readonly work: string;
  readonly context: Context;
  readonly #agents: Agent[] = [];
  #closing = false;

  private constructor(folder: string, home: Home, context: Context) {
    this.folder = folder;
    this.work = join(folder, "work");
    this.context = { ...context, home, layout: layoutOf(home), principal: "demo", token: undefined };
  }

  static async set(context: Context): Promise<Stage> {
    const folder = await realpath(await mkdtemp(join(shortTmp(), "simlock-demo-")));
    const home: Home = { path: join(folder, "home"), virtual: true };
    const stage = new Stage(folder, home, context);
    await mkdir(home.path, { mode: 0o700 });
    await mkdir(stage.work);
    const config = { capacity: { strategy: "fixed", maxRunning: 2 } };
    await writeFile(stage.context.layout.config, JSON.stringify(config), { mode: 0o600 });
    return stage;
  }

  async enter(name: string, protocol: "2025-11-25" | "2026-07-28"): Promise<Agent> {
    const self = selfCommand();
    const args = [...self.args, "--virtual", "--home", this.context.home.path, "mcp"];
    const agent = await Agent.start(name, { file: self.file, args, cwd: this.work }, protocol);
    this.#agents.push(agent);
    if (this.#closing) await agent.close();
    return agent;
  }

  /** Sends the agents home, one that is just coming in too: whatever they wait for fails then. */
  async close(): Promise<void> {
    this.#closing = true;
    await Promise.allSettled(this.#agents.map((agent) => agent.close()));
  }

  /** Ends and removes all of it, and says what is left. Call it when nobody plays any more. */
  async clear(): Promise<string[]> {
    await this.close();
    await stopDaemon(this.context).catch(() => undefined);
    const left: string[] = [];
    // By what they were started with, not by what we remember: a process that we lost sight of is found too.
    for (const pid of await processesNaming(this.folder)) {
      if (!(await waitForEnd(pid, 5000))) left.push(`process ${pid}`);
    }
    await rm(this.folder, { recursive: true, force: true, maxRetries: 3 });
    if (
      await stat(this.folder).then(
        () => true,
        () => false,
      )
    )
      left.push(this.folder);
    return left;
  }
}

/** The system's folder for temporary files, unless a socket in it would have too long a path. */
function shortTmp(): string {
  const longest = join(tmpdir(), "simlock-demo-xxxxxx", "home", "daemon.sock");
  return Buffer.byteLength(longest) + 10 < MAX_SOCKET_PATH_BYTES ? tmpdir() : "/tmp";
}
