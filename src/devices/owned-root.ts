import { randomBytes } from "node:crypto";
import { lstat, mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize } from "node:path";
import { SimlockError } from "../contract/index.ts";

/** Why a folder may not be a root of ours. */
export type RootRefusal =
  | "not-absolute"
  | "missing-marker"
  | "invalid-marker"
  | "wrong-instance"
  | "symlink"
  | "not-a-folder"
  | "wrong-owner"
  | "wrong-permissions"
  | "non-empty-unowned-root"
  | "unreadable";

export const ROOT_MARKER = ".simlock-owned.json";
const MARKER_SCHEMA = 1;

const WHY: Readonly<Record<RootRefusal, string>> = {
  "not-absolute": "it is not an absolute path",
  "missing-marker": `its ${ROOT_MARKER} is gone`,
  "invalid-marker": `its ${ROOT_MARKER} is not one that Simlock wrote`,
  "wrong-instance": "it belongs to another Simlock home",
  symlink: "it is a symbolic link",
  "not-a-folder": "it is not a folder",
  "wrong-owner": "it belongs to another user",
  "wrong-permissions": "other users may write to it",
  "non-empty-unowned-root": "it holds files and Simlock did not make it",
  unreadable: "it can't be read",
};

/** Throws `CONFIG_INVALID` with the refusal as `details.reason`. */
export function refuseRoot(path: string, reason: RootRefusal, cause?: unknown): never {
  throw new SimlockError("CONFIG_INVALID", `${path} can't hold Simlock's devices: ${WHY[reason]}.`, {
    hint: "Name a folder that does not exist yet, or an empty one: Simlock makes it and marks it as its own.",
    details: { path, reason },
    cause,
  });
}

/**
 * Makes the folder if it is not there or empty, and proves that it is ours: a real folder of this user that nobody else may write to, with the
 * marker of this instance. It is made beside and renamed into place, so that it never exists without its marker. Throws `CONFIG_INVALID`.
 */
export async function claimRoot(path: string, instanceId: string): Promise<void> {
  if (!isAbsolute(path)) refuseRoot(path, "not-absolute");
  const state = await stateOf(path);
  if (state === "absent" || state === "empty") await makeRoot(path, instanceId);
  await proveRoot(path, instanceId);
}

/** The same without making anything: for the moment before something in it is destroyed. */
export async function proveRoot(path: string, instanceId: string): Promise<void> {
  if (!isAbsolute(path)) refuseRoot(path, "not-absolute");
  const state = await stateOf(path);
  if (state === "absent" || state === "empty") refuseRoot(path, "missing-marker");
  const marker = await readMarker(path);
  if (marker === undefined) refuseRoot(path, "non-empty-unowned-root");
  if (marker.instanceId !== instanceId) refuseRoot(path, "wrong-instance");
}

async function stateOf(path: string): Promise<"absent" | "empty" | "filled"> {
  try {
    const entry = await lstat(path);
    if (entry.isSymbolicLink()) refuseRoot(path, "symlink");
    if (!entry.isDirectory()) refuseRoot(path, "not-a-folder");
    if (process.getuid !== undefined && entry.uid !== process.getuid()) refuseRoot(path, "wrong-owner");
    if ((entry.mode & 0o022) !== 0) refuseRoot(path, "wrong-permissions");
    return (await readdir(path)).length === 0 ? "empty" : "filled";
  } catch (error) {
    if (error instanceof SimlockError) throw error;
    if (hasCode(error, "ENOENT")) return "absent";
    return refuseRoot(path, "unreadable", error);
  }
}

async function makeRoot(path: string, instanceId: string): Promise<void> {
  const parent = dirname(normalize(path));
  const staged = join(parent, `.simlock-root-${randomBytes(6).toString("hex")}`);
  try {
    await mkdir(parent, { recursive: true });
    await mkdir(staged, { mode: 0o700 });
    const file = await open(join(staged, ROOT_MARKER), "wx", 0o600);
    try {
      await file.writeFile(`${JSON.stringify({ schema: MARKER_SCHEMA, owner: "simlock", instanceId })}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    // Replaces an empty folder and fails on any other: what appeared there in the meantime is not taken over.
    await rename(staged, normalize(path));
  } catch (error) {
    await rm(staged, { recursive: true, force: true });
    if (hasCode(error, "ENOTEMPTY") || hasCode(error, "EEXIST")) return;
    refuseRoot(path, "unreadable", error);
  }
}

async function readMarker(path: string): Promise<{ readonly instanceId: string } | undefined> {
  let text: string;
  try {
    text = await readFile(join(path, ROOT_MARKER), "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    return refuseRoot(path, "unreadable", error);
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && "schema" in value && "owner" in value && "instanceId" in value) {
      const { schema, owner, instanceId } = value;
      if (schema === MARKER_SCHEMA && owner === "simlock" && typeof instanceId === "string") return { instanceId };
    }
  } catch {
    // Falls through to the refusal: text that is no JSON is as little ours as other JSON.
  }
  return refuseRoot(path, "invalid-marker");
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
