import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, readdirSync, renameSync, unlinkSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/**
 * Writes a file so that a reader sees the old one or all of the new one, whenever the machine stops. The file beside it is created anew and
 * refused when it exists, so that nobody can put a symlink in its way.
 */
export function writeWhole(path: string, text: string, mode: number): void {
  const beside = `${path}.${process.pid}.${randomBytes(4).toString("hex")}`;
  const file = openSync(beside, "wx", mode);
  try {
    writeSync(file, text);
    fsyncSync(file);
    closeSync(file);
    renameSync(beside, path);
    syncFolder(dirname(path));
  } catch (error) {
    try {
      unlinkSync(beside);
    } catch {
      // Already renamed, or never made.
    }
    throw error;
  }
}

/** Makes a rename last: the name is the folder's, and is lost with a crash unless the folder was written too. */
function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Removes what a process that was killed amid `writeWhole` left beside a file. */
export function sweepBeside(path: string): void {
  const name = basename(path);
  for (const entry of readdirSync(dirname(path))) {
    if (entry.startsWith(`${name}.`) && /^\d+\.[0-9a-f]{8}$/.test(entry.slice(name.length + 1))) {
      unlinkSync(join(dirname(path), entry));
    }
  }
}

/** The system's name of an error: `ENOENT`, `EACCES`, … */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

export const isMissing = (error: unknown): boolean => codeOf(error) === "ENOENT";
