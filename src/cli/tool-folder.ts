import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ToolCommand } from "../devices/index.ts";
import { virtualXcrun } from "../virtual/index.ts";
import type { Context } from "./context.ts";

export interface ToolFolder {
  /** To be put in front of PATH. */
  readonly path: string;
  remove(): Promise<void>;
}

/**
 * For a virtual home: a folder with an `xcrun` that reaches its simulated Mac, so that scripts which call `xcrun simctl` run unchanged. A real
 * home needs none.
 */
export async function toolFolder(context: Context): Promise<ToolFolder | undefined> {
  if (!context.home.virtual) return undefined;
  const path = await mkdtemp(join(tmpdir(), "simlock-tools-"));
  const script = join(path, "xcrun");
  await writeFile(script, wrapperScript(virtualXcrun(context.layout.virtualMac)));
  await chmod(script, 0o700);
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** Names its program by its whole path: a `#!/usr/bin/env node` would start whichever Node comes first. */
export function wrapperScript(command: ToolCommand): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const variables = Object.entries(command.env).map(([name, value]) => `export ${name}=${quoted(value)}`);
  return ["#!/bin/sh", ...variables, `exec ${[command.file, ...command.prefix].map(quoted).join(" ")} "$@"`, ""].join(
    "\n",
  );
}
