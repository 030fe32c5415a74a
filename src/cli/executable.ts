import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { SimlockError } from "../contract/index.ts";
import type { Io } from "./io.ts";

/** The file that a shell would start for this name. Throws `USAGE` where there is none. */
export function executableOf(name: string, io: Pick<Io, "env" | "cwd">): string {
  const candidates = name.includes("/")
    ? [resolve(io.cwd, name)]
    : (io.env["PATH"] ?? "")
        .split(delimiter)
        .filter((folder) => folder !== "")
        .map((folder) => join(resolve(io.cwd, folder), name));
  const found = name === "" ? undefined : candidates.find(isExecutable);
  if (found !== undefined) return found;
  throw new SimlockError("USAGE", `There is no command "${name}".`, {
    hint: name.includes("/") ? "Check its path." : "Check its name, or give its path: PATH was searched.",
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
