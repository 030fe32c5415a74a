import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ToolCommand } from "../devices/index.ts";
import { virtualXcrun } from "../virtual/index.ts";
import type { Context } from "./context.ts";

/**
 * For a virtual home: a folder with an `xcrun` that reaches its simulated Mac, to be put in front of PATH, so that scripts which call `xcrun simctl` run
 * unchanged. It lies in the home and stays there: a command that is killed leaves nothing behind. A real home needs none.
 */
export async function toolFolder(context: Context): Promise<string | undefined> {
  if (!context.home.virtual) return undefined;
  const folder = join(context.layout.virtualMac, "bin");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // Written anew each time, as the Node or the checkout may be another; renamed, as another command may be running it.
  const beside = join(folder, `.xcrun.${process.pid}`);
  await writeFile(beside, wrapperScript(virtualXcrun(context.layout.virtualMac)), { mode: 0o700 });
  await rename(beside, join(folder, "xcrun"));
  return folder;
}

/** Names its program by its whole path: a `#!/usr/bin/env node` would start whichever Node comes first. */
export function wrapperScript(command: ToolCommand): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const variables = Object.entries(command.env).map(([name, value]) => `export ${name}=${quoted(value)}`);
  return ["#!/bin/sh", ...variables, `exec ${[command.file, ...command.prefix].map(quoted).join(" ")} "$@"`, ""].join(
    "\n",
  );
}
