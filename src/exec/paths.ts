import { lstatSync, readlinkSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { HostPath, PathPolicy } from "./types.ts";

/** A path without links and dots, as far as it exists, with what was met on the way. */
interface Resolved {
  readonly path: string;
  /** The last part is a symbolic link. */
  readonly endsInLink: boolean;
  /** Its links lead in a circle. */
  readonly loops: boolean;
  /** Device and inode of each folder or file that exists on the way. */
  readonly identities: ReadonlySet<string>;
}

interface ConfinedPathsOptions {
  /** The working directory of the command: relative paths start here. Writing below it is open. */
  readonly scratch: string;
  /** Folders beside it that may be written to. */
  readonly writableRoots?: readonly string[];
  readonly protectedRoots: readonly string[];
}

interface LocalPathsOptions {
  /** The working directory of the command. */
  readonly cwd: string;
  readonly protectedRoots: readonly string[];
  /** The lease's own scratch folder, which is open even where it lies in a protected one. */
  readonly scratch?: string | undefined;
}

/** Folders that no command may read or write: the home of Simlock with its secrets, the devices' own files, keys. */
export function protectedRoots(of: {
  readonly userHome: string;
  readonly simlockHome: string;
  readonly deviceRoots: readonly string[];
}): readonly string[] {
  const keys = [".android", ".ssh", ".emulator_console_auth_token"].map((name) => join(of.userHome, name));
  return [of.simlockHome, ...of.deviceRoots, ...keys];
}

/** For a caller on this machine: any path but the protected ones. */
export function localPaths({ cwd, protectedRoots: roots, scratch }: LocalPathsOptions): PathPolicy {
  return whenAsked(() => {
    const closed = protection(roots, scratch === undefined ? [] : [scratch]);
    return (use) => closed(use, resolve(cwd, use.path));
  });
}

/** Most commands name no path: the roots are looked up on disk only for one that does. */
function whenAsked(make: () => PathPolicy): PathPolicy {
  let policy: PathPolicy | undefined;
  return (use) => {
    policy ??= make();
    return policy(use);
  };
}

/**
 * For a caller elsewhere: reading is open but for the protected paths, writing only below the scratch folder and the configured roots. /proc shows
 * the daemon's environment, so it is protected here.
 */
export function confinedPaths({
  scratch,
  writableRoots = [],
  protectedRoots: roots,
}: ConfinedPathsOptions): PathPolicy {
  return whenAsked(() => {
    const writable = [scratch, ...writableRoots].map((root) => resolve("/", root).path);
    const closed = protection([...roots, "/proc"], [scratch]);
    return (use) => {
      const resolved = resolve(scratch, use.path);
      const why = closed(use, resolved);
      if (why !== undefined || use.access === "read") return why;
      if (!writable.some((root) => isBelow(resolved.path, root))) {
        return {
          why: "writing is open only below the lease's own folder.",
          hint: `Write to a relative path${also(writableRoots)}.`,
        };
      }
      if (!resolved.endsInLink) return undefined;
      return { why: "it is a symbolic link, which may not be written through.", hint: "Write to a new name." };
    };
  });
}

const also = (roots: readonly string[]): string => (roots.length === 0 ? "" : `, or below ${roots.join(", ")}`);

type Protection = (use: HostPath, resolved: Resolved) => ReturnType<PathPolicy>;

/** Refuses what lies in a protected folder, and reading of a folder that holds one. `open` folders are excepted. */
function protection(roots: readonly string[], open: readonly string[]): Protection {
  const closed = roots.map((root) => {
    const { path } = resolve("/", root);
    return { root, path: folded(path), identity: identityOf(path) };
  });
  const excepted = open.map((root) => resolve("/", root).path);
  return (use, resolved) => {
    if (resolved.loops) return { why: "its symbolic links lead in a circle.", hint: "Use a path elsewhere." };
    if (excepted.some((root) => isBelow(resolved.path, root))) return undefined;
    const path = folded(resolved.path);
    const hit = closed.find(
      (root) =>
        isBelow(path, root.path) ||
        (root.identity !== undefined && resolved.identities.has(root.identity)) ||
        (use.access === "read" && root.identity !== undefined && isBelow(root.path, path)),
    );
    if (hit === undefined) return undefined;
    return {
      why:
        isBelow(hit.path, path) && hit.path !== path
          ? `it holds the protected ${hit.root}.`
          : `${hit.root} is protected.`,
      hint: "Use a path elsewhere.",
    };
  };
}

const folded = (path: string): string => (process.platform === "darwin" ? withoutCase(path) : path);

/** macOS' file systems do not tell cases and Unicode forms apart. Folding more than they do only closes more. */
export function withoutCase(path: string): string {
  return path.normalize("NFD").toUpperCase().toLowerCase().normalize("NFC");
}

function isBelow(path: string, root: string): boolean {
  return root === "/" || path === root || path.startsWith(`${root}/`);
}

function identityOf(path: string): string | undefined {
  const stat = statOf(path);
  return stat === undefined ? undefined : `${stat.dev}:${stat.ino}`;
}

function statOf(path: string) {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    // A path through a file, or one that may not be looked at.
    return undefined;
  }
}

const MOST_LINKS = 40;

const ROOT: Resolved = { path: "/", endsInLink: false, loops: false, identities: new Set() };

function resolve(base: string, path: string): Resolved {
  return follow(isAbsolute(path) ? ROOT : follow(ROOT, base), path);
}

/**
 * Follows a path part by part, as the kernel does: `..` behind a link goes up from where the link leads, and a link to nothing leads to where a
 * write would make the file. What does not exist is taken as it is written.
 */
function follow(from: Resolved, path: string): Resolved {
  const identities = new Set(from.identities);
  const todo = path.split("/").reverse();
  let at = from.path === "/" ? "" : from.path;
  let links = 0;
  let endsInLink = false;
  for (let part = todo.pop(); part !== undefined; part = todo.pop()) {
    if (part === "" || part === ".") continue;
    if (part === "..") {
      at = at.slice(0, Math.max(0, at.lastIndexOf("/")));
      continue;
    }
    const next = `${at}/${part}`;
    const target = linkAt(next);
    if (target === undefined) {
      at = next;
      const identity = identityOf(at);
      if (identity !== undefined) identities.add(identity);
      continue;
    }
    if (++links > MOST_LINKS) return { ...from, loops: true };
    if (todo.every((rest) => rest === "" || rest === ".")) endsInLink = true;
    if (target.startsWith("/")) at = "";
    todo.push(...target.split("/").reverse());
  }
  return { path: at === "" ? "/" : at, endsInLink, loops: from.loops, identities };
}

function linkAt(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}
