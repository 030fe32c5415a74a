import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { layoutOf, MAX_SOCKET_PATH_BYTES, SimlockError, type Home } from "../contract/index.ts";
import { codeOf, isMissing, sweepBeside, writeWhole } from "./files.ts";

const HomeRecord = z.object({
  schema: z.literal(1),
  kind: z.enum(["real", "virtual"]),
  /** Names this home for life, so that devices and answers of two homes are never mixed up. */
  instanceId: z.string().min(1).max(100),
  createdAt: z.number(),
});
export type HomeRecord = z.infer<typeof HomeRecord>;

const kindOf = (home: Home): HomeRecord["kind"] => (home.virtual ? "virtual" : "real");

/**
 * Makes the home's folder where it is missing and checks that it is ours alone, before anything in it is touched. Throws `HOME_UNUSABLE`
 * (not a folder, a symlink, another user's, writable by others, full of something else, a path too long for a socket) and `HOME_MISMATCH`.
 */
export function openHomeFolder(home: Home): void {
  const layout = layoutOf(home);
  const bytes = Buffer.byteLength(layout.socket) + 1;
  if (bytes > MAX_SOCKET_PATH_BYTES) {
    throw new SimlockError(
      "HOME_UNUSABLE",
      `The path of the daemon's socket, ${layout.socket}, takes ${bytes} bytes; the system allows ${MAX_SOCKET_PATH_BYTES}.`,
      { hint: "Set SIMLOCK_HOME to a shorter path." },
    );
  }
  makeFolder(home.path);
  const stat = lstatSync(home.path);
  const unusable = (why: string, hint: string): SimlockError =>
    new SimlockError("HOME_UNUSABLE", `${home.path} can't be Simlock's home: ${why}.`, { hint });
  if (stat.isSymbolicLink()) throw unusable("it is a symlink", "Set SIMLOCK_HOME to the folder that it points to.");
  if (!stat.isDirectory()) throw unusable("it is not a folder", "Set SIMLOCK_HOME to a folder.");
  const uid = process.getuid?.();
  if (uid !== undefined && stat.uid !== uid) {
    throw unusable(`it belongs to user ${stat.uid}, and this is user ${uid}`, "Set SIMLOCK_HOME to a folder of yours.");
  }
  if ((stat.mode & 0o022) !== 0) {
    throw unusable("others may write to it", `Run \`chmod 700 ${home.path}\` if its content is yours.`);
  }
  const record = readHomeRecord(home);
  if (record === undefined) {
    const foreign = foreignEntry(home);
    if (foreign !== undefined) {
      throw unusable(
        `it holds "${foreign}" and was not made by Simlock`,
        "Set SIMLOCK_HOME to a new or an empty folder.",
      );
    }
  } else if (record.kind !== kindOf(home)) throw mismatch(home, record.kind);
  if ((stat.mode & 0o077) !== 0) chmodSync(home.path, 0o700);
}

/** The home's record; made when there is none. Call it only with the claim in hand. Throws `HOME_MISMATCH`, `HOME_UNUSABLE`. */
export function claimedHomeRecord(home: Home, now: number): HomeRecord {
  const layout = layoutOf(home);
  sweepBeside(layout.record);
  sweepBeside(layout.adminToken);
  const found = readHomeRecord(home);
  if (found !== undefined) {
    if (found.kind !== kindOf(home)) throw mismatch(home, found.kind);
    return found;
  }
  if (existsSync(layout.database)) {
    // A new instance would take every device that the database knows for somebody else's.
    throw new SimlockError("HOME_UNUSABLE", `${layout.record} is missing, though the home has a database.`, {
      hint: "Restore the file, or move simlock.db away to begin anew: devices of the old one then stay as they are.",
    });
  }
  const made: HomeRecord = { schema: 1, kind: kindOf(home), instanceId: randomUUID(), createdAt: now };
  writeWhole(layout.record, `${JSON.stringify(made, undefined, 2)}\n`, 0o600);
  return made;
}

/** What the home says of itself, or undefined when it was never used. Throws `HOME_UNUSABLE` for a record that can't be read. */
export function readHomeRecord(home: Home): HomeRecord | undefined {
  const path = layoutOf(home).record;
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw new SimlockError("HOME_UNUSABLE", `${path} can't be read.`, { cause: error });
  }
  const parsed = HomeRecord.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new SimlockError("HOME_UNUSABLE", `${path} is damaged, or of a newer Simlock: it says not what this home is.`, {
    hint: "Restore the file, or set SIMLOCK_HOME to a new folder.",
  });
}

function mismatch(home: Home, kind: HomeRecord["kind"]): SimlockError {
  const asked = kindOf(home);
  return new SimlockError(
    "HOME_MISMATCH",
    `${home.path} is a ${kind} home for life, and a ${asked} one was asked for.`,
    {
      hint:
        kind === "virtual"
          ? "Add --virtual (or SIMLOCK_VIRTUAL=1), or set SIMLOCK_HOME to another folder."
          : "Leave out --virtual and SIMLOCK_VIRTUAL, or set SIMLOCK_HOME to another folder.",
    },
  );
}

function makeFolder(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) === "EEXIST") return;
    throw new SimlockError("HOME_UNUSABLE", `${path} can't be made: ${codeOf(error) ?? "the system refused"}.`, {
      hint: "Set SIMLOCK_HOME to a folder that can be made.",
      cause: error,
    });
  }
}

/** The first entry of a folder without a record that no daemon and no `config set` would have left there. */
function foreignEntry(home: Home): string | undefined {
  const ours = Object.values(layoutOf(home)).map((path) => path.slice(home.path.length + 1));
  return readdirSync(home.path).find(
    (name) =>
      !name.startsWith(".") &&
      !ours.some((known) => name === known || name.startsWith(`${known}.`) || name.startsWith(`${known}-`)),
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
