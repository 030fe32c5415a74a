import { refuse } from "./refusal.ts";
import type { Flag, HostPath, Setting } from "./types.ts";

/** What the readers of one command gather beside its arguments. */
export class Reading {
  readonly setting: Setting;
  readonly hostPaths: HostPath[] = [];
  readonly hints: string[] = [];
  readonly #flags = new Set<Flag>();

  constructor(setting: Setting) {
    this.setting = setting;
  }

  get flags(): readonly Flag[] {
    return [...this.#flags].sort();
  }

  flag(...flags: readonly Flag[]): void {
    for (const flag of flags) this.#flags.add(flag);
  }

  /** Takes note of a host path that the command reads or writes, and asks the policy for it. `shown` is what the caller wrote. */
  path(access: HostPath["access"], path: string, shown = path): void {
    this.askPolicy(access, path, shown);
    this.hostPaths.push({ access, path });
  }

  /** Asks the policy for a path that follows from the command without being named by it. */
  askPolicy(access: HostPath["access"], path: string, shown = path): void {
    if (path === "") refuse("malformed", shown, "a path can't be empty.", "Name the file.");
    const closed = this.setting.paths({ access, path });
    if (closed !== undefined) refuse("host-path", shown, closed.why, closed.hint);
  }
}
