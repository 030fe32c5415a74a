import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { SimlockError } from "../../contract/index.ts";
import type { SimDevice } from "../../exec/index.ts";

/**
 * A device's two marks hold the same token. The durable one lies beside its data and survives an erase; the erasable one lies within and dies with it:
 * together they tell a device of ours, a device that somebody erased, and one that is not ours.
 */
export interface Mark {
  readonly token: string;
  readonly udid: string;
  readonly instanceId: string;
  /** Epoch milliseconds. */
  readonly writtenAt: number;
}

export type MarkReading =
  | { readonly kind: "mark"; readonly mark: Mark }
  | { readonly kind: "missing" }
  /** There is a file, and it is no mark that we wrote. */
  | { readonly kind: "damaged" }
  /** It can't be read now, which says nothing about what it holds. */
  | { readonly kind: "unreadable"; readonly error: string };

export interface Marks {
  readonly durable: MarkReading;
  readonly erasable: MarkReading;
}

/** Where a device lies on disk: its folder, and its data within. */
export interface Place {
  readonly folder: string;
  readonly data: string;
}

const FILE = "simlock-mark.json";
const MAX_MARK_BYTES = 4_096;

/** From the listing's `dataPath`; older Xcodes don't give it, and then the device lies in `set` under its UDID. */
export function placeOf(device: SimDevice, set: string): Place {
  const { dataPath, udid } = device;
  if (dataPath !== undefined && basename(dataPath) === "data" && basename(dirname(dataPath)) === udid) {
    return { folder: dirname(dataPath), data: dataPath };
  }
  const folder = join(set, udid);
  return { folder, data: join(folder, "data") };
}

export async function readMarks(place: Place): Promise<Marks> {
  const [durable, erasable] = await Promise.all([readMark(place.folder), readMark(place.data)]);
  return { durable, erasable };
}

export async function readMark(folder: string): Promise<MarkReading> {
  let text: string;
  try {
    text = await readFile(join(folder, FILE), "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return { kind: "missing" };
    return { kind: "unreadable", error: String(code ?? error) };
  }
  const mark = text.length <= MAX_MARK_BYTES ? parseMark(text) : undefined;
  return mark === undefined ? { kind: "damaged" } : { kind: "mark", mark };
}

function parseMark(text: string): Mark | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  if (!("token" in value && "udid" in value && "instanceId" in value && "writtenAt" in value)) return undefined;
  const { token, udid, instanceId, writtenAt } = value;
  if (typeof token !== "string" || token === "" || typeof udid !== "string") return undefined;
  if (typeof instanceId !== "string" || typeof writtenAt !== "number") return undefined;
  return { token, udid, instanceId, writtenAt };
}

/**
 * Writes both, the erasable one first: a crash between the two then leaves a device that looks unfinished, and not one that somebody else
 * has erased. Throws `TOOL_FAILED` where the device's folder is not there.
 */
export async function writeMarks(place: Place, mark: Mark): Promise<void> {
  await writeErasableMark(place, mark);
  await writeMark(place.folder, mark);
}

export async function writeErasableMark(place: Place, mark: Mark): Promise<void> {
  await mkdir(place.data, { recursive: false }).catch((error: unknown) => {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw cannotMark(place.data, error);
  });
  await writeMark(place.data, mark);
}

/** In one step: a mark is whole or it is not there. */
async function writeMark(folder: string, mark: Mark): Promise<void> {
  const staged = join(folder, `.${FILE}.new`);
  try {
    // What a crash left there, and "wx" so that a link in its place is not written through.
    await rm(staged, { force: true });
    const file = await open(staged, "wx", 0o600);
    try {
      await file.writeFile(`${JSON.stringify(mark)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(staged, join(folder, FILE));
  } catch (error) {
    throw cannotMark(folder, error);
  }
}

function cannotMark(folder: string, cause: unknown): SimlockError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new SimlockError("TOOL_FAILED", `The simulator in ${folder} can't be marked as ours: ${why}.`, {
    hint: "Check the folder's owner, its permissions and the free disk space.",
    cause,
  });
}
