import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The command line that starts this same Simlock again: the running Node and the command's file. The bundle lies in `dist` beside `bin`; run
 * from its sources, the command is `main.ts`. Never through PATH or a `#!` line: those may find another Node.
 */
export function selfCommand(from: string = import.meta.url): {
  readonly file: string;
  readonly args: readonly string[];
} {
  const here = dirname(fileURLToPath(from));
  const source = join(here, "main.ts");
  return { file: process.execPath, args: [existsSync(source) ? source : join(here, "..", "bin", "simlock.js")] };
}
