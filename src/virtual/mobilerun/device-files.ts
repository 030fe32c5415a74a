import { Problem } from "./problem.ts";

interface File {
  readonly bytes: Uint8Array;
  readonly modifiedAt: string;
}

const ROOT = "/sdcard";
/** What one device may hold. */
const MAX_BYTES = 256 * 1024 * 1024;

/** The files of a device: a tree in memory below /sdcard. */
export class DeviceFiles {
  readonly #files = new Map<string, File>();
  readonly #folders = new Set<string>();

  constructor() {
    this.erase();
  }

  erase(): void {
    this.#files.clear();
    this.#folders.clear();
    for (const folder of [ROOT, `${ROOT}/Download`, `${ROOT}/DCIM`]) this.#folders.add(folder);
  }

  list(path: string): readonly object[] {
    const folder = absolute(path);
    if (!this.#folders.has(folder)) throw new Problem(404, `No folder ${folder}`);
    const inside = (entry: string) => entry.startsWith(`${folder}/`) && !entry.slice(folder.length + 1).includes("/");
    const folders = [...this.#folders]
      .filter(inside)
      .map((entry) => info(entry, "directory", 4096, "2026-01-01T00:00:00Z"));
    const files = [...this.#files].flatMap(([entry, { bytes, modifiedAt }]) =>
      inside(entry) ? [info(entry, "file", bytes.length, modifiedAt)] : [],
    );
    return [...folders, ...files];
  }

  /** `path` is a folder, made when it is missing. */
  put(path: string, name: string, bytes: Uint8Array, modifiedAt: string): void {
    const folder = absolute(path);
    if (this.#files.has(folder)) throw new Problem(409, `${folder} is a file`);
    const held = [...this.#files.values()].reduce((sum, file) => sum + file.bytes.length, 0);
    if (held + bytes.length > MAX_BYTES) throw new Problem(413, "The device has no room left");
    for (let end = folder.length; end > 0; end = folder.lastIndexOf("/", end - 1))
      this.#folders.add(folder.slice(0, end));
    this.#files.set(`${folder}/${name}`, { bytes, modifiedAt });
  }

  get(path: string): Uint8Array {
    const file = this.#files.get(absolute(path));
    if (file === undefined) throw new Problem(404, `No file ${absolute(path)}`);
    return file.bytes;
  }

  remove(path: string): void {
    const entry = absolute(path);
    if (entry === ROOT) throw new Problem(403, `${ROOT} can't be removed`);
    const below = [...this.#files.keys(), ...this.#folders].filter(
      (other) => other === entry || other.startsWith(`${entry}/`),
    );
    if (below.length === 0) throw new Problem(404, `No file ${entry}`);
    for (const other of below) {
      this.#files.delete(other);
      this.#folders.delete(other);
    }
  }
}

function absolute(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  const entry = `/${parts.join("/")}`;
  if (entry !== ROOT && !entry.startsWith(`${ROOT}/`)) throw new Problem(403, `${entry} is outside of ${ROOT}`);
  return entry;
}

function info(path: string, type: "file" | "directory", size: number, modifiedAt: string) {
  const access = (execute: boolean) => ({ read: true, write: true, execute });
  const folder = type === "directory";
  return {
    name: path.slice(path.lastIndexOf("/") + 1),
    type,
    size,
    modifiedAt,
    owner: "media_rw",
    group: "media_rw",
    hardLinks: 1,
    extendedAttributes: false,
    symlinkTarget: "",
    permissions: {
      owner: access(folder),
      group: access(folder),
      others: { read: false, write: false, execute: false },
      special: { setUid: false, setGid: false, sticky: false },
    },
  };
}
