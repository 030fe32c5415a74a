import { BOOT_ID_FILE, isBootId } from "./identity.ts";

/**
 * What an enrolment lists, as strings: packages by their names, a folder that was read by its path with a slash behind it, and what lay in it by its
 * path. Only a folder that was read is cleaned later: one that was locked at the time would look empty, and its owner's files like a holder's.
 */
const CLEANED_FOLDERS = ["/data/local/tmp/", "/sdcard/"] as const;

/** Folders that Android itself makes in shared storage, whenever it likes. */
const STANDARD = new Set(
  [
    ...["Alarms", "Android", "Audiobooks", "DCIM", "Documents", "Download", "Movies", "Music", "Notifications"],
    ...["Pictures", "Podcasts", "Recordings", "Ringtones"],
  ].map((name) => `/sdcard/${name}`),
);

/** A process of the user `shell` (2000), which is who adb commands run as. */
interface ShellProcess {
  readonly pid: number;
  readonly parent: number;
  readonly zombie: boolean;
}

/** Third-party packages of every user that the shell may look at: a holder can install for each of them. The first user must be readable. */
export const PACKAGES_COMMAND = [
  "pm list packages -3 || exit 1",
  "for user in $(pm list users 2>/dev/null | sed -n 's/.*UserInfo{\\([0-9]*\\):.*/\\1/p')",
  'do pm list packages -3 --user "$user" 2>/dev/null; done',
  "exit 0",
].join("; ");

/** A package manager that still starts lists nothing; every Android has packages of its own. */
export const ANY_PACKAGE_COMMAND = "pm list packages";

/** Reads `package:NAME` lines, whatever warnings stand between them. Pure. */
export function parsePackages(stdout: string): string[] {
  const names = new Set<string>();
  for (const line of stdout.split(/\r?\n/)) {
    const name = /^package:([A-Za-z0-9._-]+)$/.exec(line.trim())?.[1];
    if (name !== undefined) names.add(name);
  }
  return [...names].sort();
}

/** First the folders that can be read, then what lies in them, each path ended by a NUL: a name may hold anything else. */
export const FILES_COMMAND = [
  `for each in ${CLEANED_FOLDERS.join(" ")}; do if [ -d $each ] && [ -r $each ]; then printf '%s\\0' $each; fi; done`,
  `for each in ${CLEANED_FOLDERS.join(" ")}; do if [ -d $each ] && [ -r $each ]; then find $each -mindepth 1 -maxdepth 1 -print0 || exit 1; fi; done`,
].join("; ");

/** Paths are kept one character a byte (latin1): a name need not be UTF-8. One that was cut off before its end is left out. Pure. */
export function parsePaths(stdout: Buffer): string[] {
  return stdout
    .toString("latin1")
    .split("\0")
    .slice(0, -1)
    .filter((path) => path !== "")
    .sort();
}

/** What of these a holder left. Pure. */
export function leftFiles(paths: readonly string[], baseline: readonly string[]): string[] {
  const listed = new Set(baseline);
  return paths.filter((path) => {
    const folder = CLEANED_FOLDERS.find((one) => path.startsWith(one) && path !== one);
    return folder !== undefined && listed.has(folder) && !listed.has(path) && !STANDARD.has(path);
  });
}

/** Folders that were read at the enrolment and can't be now: shared storage of a device that waits for its first unlock. Pure. */
export function lockedFolders(paths: readonly string[], baseline: readonly string[]): string[] {
  return CLEANED_FOLDERS.filter((folder) => baseline.includes(folder) && !paths.includes(folder));
}

export function leftPackages(packages: readonly string[], baseline: readonly string[]): string[] {
  const listed = new Set(baseline);
  return packages.filter((name) => !listed.has(name));
}

/**
 * Processes as `pid parent uid state` lines, from /proc and with the shell's builtins only: `ps` has other options on each Android. The last line is
 * the asking shell itself.
 */
export const PROCESSES_COMMAND = [
  "for each in /proc/[0-9]*",
  "do parent= state= uid=",
  'while read -r key value rest; do case $key in PPid:) parent=$value;; State:) state=$value;; Uid:) uid=$value; break;; esac; done 2>/dev/null <"$each/status"',
  'if [ "$uid" = 2000 ]; then echo "${each#/proc/} $parent $uid $state"; fi',
  "done",
  'echo "self $$"',
].join("\n");

/**
 * Which processes a holder left: those of the user `shell` that adb started, or that lost their parent since, but for the daemon adbd and whoever asks.
 * What an app process forked (parent zygote) belongs to its package. Pure.
 */
export function leftProcesses(stdout: string): number[] {
  const processes = new Map<number, ShellProcess>();
  let self: number | undefined;
  for (const line of stdout.split(/\r?\n/)) {
    const [, asking] = /^self ([0-9]+)$/.exec(line) ?? [];
    if (asking !== undefined) self = Number(asking);
    const [, pid, parent, state] = /^([0-9]+) ([0-9]+) 2000 (\S)/.exec(line) ?? [];
    if (pid !== undefined && parent !== undefined) {
      processes.set(Number(pid), { pid: Number(pid), parent: Number(parent), zombie: state === "Z" || state === "X" });
    }
  }
  // Where adb runs as root its commands do too, and they can't be told from the system's own.
  if (self === undefined || !processes.has(self)) return [];
  const spared = new Set<number>();
  for (let at: number | undefined = self; at !== undefined && !spared.has(at); at = processes.get(at)?.parent)
    spared.add(at);

  const isShells = (process: ShellProcess): boolean => {
    const path = new Set<number>();
    for (let at: ShellProcess = process; !path.has(at.pid);) {
      path.add(at.pid);
      if (at.parent === 1 || spared.has(at.parent)) return true;
      const parent = processes.get(at.parent);
      if (parent === undefined) return false;
      at = parent;
    }
    return false;
  };
  return [...processes.values()]
    .filter((process) => !process.zombie && !spared.has(process.pid) && isShells(process))
    .map((process) => process.pid);
}

/** The exit code of a guarded command that has met another device. */
export const WRONG_DEVICE = 86;

/** Runs the command only where this boot of this device still is: the server may have connected to another in the meantime. */
export function guarded(bootId: string | undefined, command: string): string {
  if (bootId === undefined || !isBootId(bootId)) return command;
  return `read -r boot <${BOOT_ID_FILE}; [ "$boot" = ${bootId} ] || exit ${WRONG_DEVICE}\n${command}`;
}

/** One word for the device's shell, whatever is in it. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
