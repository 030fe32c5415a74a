import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** How the stand-in is started: `file` with `prefix` in front of simctl's own arguments, and `env` beside the caller's. */
export interface VirtualTool {
  readonly file: string;
  readonly prefix: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * The stand-in for `xcrun` on the virtual Mac at `root`. Its prefix ends before `simctl`: append `["simctl", "list"]`. It is started
 * with the Node that runs now, never through PATH or a shebang.
 */
export function virtualXcrun(root: string): VirtualTool {
  const entry = xcrunEntry(import.meta.url);
  const env = { SIMLOCK_VIRTUAL_MAC: resolve(root) };
  return {
    file: process.execPath,
    prefix: [entry],
    // From sources each start would strip the types of some twenty files; Node keeps the outcome.
    env: entry.endsWith(".ts")
      ? { ...env, NODE_COMPILE_CACHE: join(import.meta.dirname, "../../node_modules/.cache/node") }
      : env,
  };
}

/**
 * Where the executable is, seen from the module at `moduleUrl`: beside it when bundled (`dist/xcrun.js`), or above it when that module became a
 * chunk in a folder; in the `mac` folder when run from sources.
 */
export function xcrunEntry(moduleUrl: string): string {
  const candidates = ["./mac/xcrun.ts", "./xcrun.js", "../xcrun.js"].map((path) =>
    fileURLToPath(new URL(path, moduleUrl)),
  );
  const found = candidates.find((path) => existsSync(path));
  if (found === undefined) throw new Error(`the virtual Mac's xcrun is at none of ${candidates.join(", ")}`);
  return found;
}
