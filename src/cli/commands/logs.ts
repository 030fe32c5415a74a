import { open, stat, type FileHandle } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { SimlockError } from "../../contract/index.ts";
import type { Context } from "../context.ts";
import { write, writeLine } from "../io.ts";
import type { Invocation } from "../invocation.ts";
import { lastLines } from "../launch.ts";
import { Stopped } from "../leasing.ts";

const POLL_MS = 250;
const CHUNK = 64 * 1024;

/** The end of the daemon's log; with `--follow` what is added, also over a rotation: then the name stands for another file. */
export async function logs(
  context: Context,
  invocation: Extract<Invocation, { command: "daemon logs" }>,
): Promise<number> {
  const { stdout } = context.io;
  const path = context.layout.log;
  const file = await openLog(path);
  if (file === undefined && !invocation.follow) {
    throw new SimlockError("DAEMON_UNREACHABLE", `There is no log at ${path}: no daemon has run in this home.`);
  }
  const size = (await file?.stat())?.size ?? 0;
  for (const line of lastLines(path, invocation.lines)) await writeLine(stdout, line);
  if (!invocation.follow) {
    await file?.close();
    return 0;
  }
  await follow(context, path, file, size);
  return 0;
}

async function follow(context: Context, path: string, first: FileHandle | undefined, from: number): Promise<void> {
  const stopped = new Stopped({ parent: false });
  let file = first;
  let position = from;
  try {
    while (stopped.by === undefined) {
      // Looked at before reading: what the old file got until its rotation is read to the end first.
      const rotated = file !== undefined && !(await isStill(path, file));
      if (file !== undefined) position = await copyFrom(file, position, context);
      if (file === undefined || rotated) {
        await file?.close();
        file = await openLog(path);
        position = 0;
      }
      await wait(POLL_MS, undefined, { signal: stopped.signal }).catch(() => {});
    }
  } finally {
    stopped.dispose();
    await file?.close();
  }
}

async function copyFrom(file: FileHandle, start: number, context: Context): Promise<number> {
  const buffer = Buffer.alloc(CHUNK);
  for (let position = start; ;) {
    const { bytesRead } = await file.read(buffer, 0, CHUNK, position);
    if (bytesRead === 0) return position;
    await write(context.io.stdout, Buffer.from(buffer.subarray(0, bytesRead)));
    position += bytesRead;
  }
}

async function openLog(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch {
    return undefined;
  }
}

async function isStill(path: string, file: FileHandle): Promise<boolean> {
  const [named, held] = await Promise.all([stat(path).catch(() => undefined), file.stat()]);
  return named === undefined || (named.ino === held.ino && named.dev === held.dev);
}
