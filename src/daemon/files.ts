import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, unlinkSync, writeSync } from "node:fs";

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
  } catch (error) {
    try {
      unlinkSync(beside);
    } catch {
      // Already renamed, or never made.
    }
    throw error;
  }
}

/** The system's name of an error: `ENOENT`, `EACCES`, … */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

export const isMissing = (error: unknown): boolean => codeOf(error) === "ENOENT";
