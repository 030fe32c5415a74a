import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { isDictionary, readPlist, writeXmlPlist } from "../../../plist/index.ts";
import type { PlistDictionary } from "../../../plist/index.ts";
import type { Call } from "../call.ts";
import type { Device } from "../device.ts";
import { dataOf } from "../device-folder.ts";
import { writeWhole } from "../faults.ts";

/**
 * Preferences where a simulator has them: `data/Library/Preferences/<domain>.plist`, one property list a domain. A device's own are binary, these
 * are XML, which every reader of property lists takes as well.
 */
export class Preferences {
  readonly #call: Call;
  readonly #folder: string;

  constructor(call: Call, device: Device, currentHost: boolean) {
    this.#call = call;
    const all = join(dataOf(call.set, device.udid), "Library", "Preferences");
    this.#folder = currentHost ? join(all, "ByHost") : all;
  }

  /** A domain is a bundle id, a word for the global one, or the path of a property list. */
  #fileOf(domain: string): string {
    if (["-g", "-globalDomain", "NSGlobalDomain", "Apple Global Domain"].includes(domain)) {
      return join(this.#folder, ".GlobalPreferences.plist");
    }
    const file = domain.endsWith(".plist") ? domain : `${domain}.plist`;
    return isAbsolute(domain) ? file : join(this.#folder, basename(file));
  }

  /** The domain's values, or undefined where it has none. */
  async read(domain: string): Promise<PlistDictionary | undefined> {
    let bytes: Uint8Array;
    try {
      bytes = readFileSync(this.#fileOf(domain));
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
      throw error;
    }
    const value = await readPlist(bytes);
    return isDictionary(value) ? value : undefined;
  }

  /** Puts the outcome of `change` in the place of what is there; undefined removes the domain. Two writers at once never lose a value. */
  async change(
    domain: string,
    change: (values: PlistDictionary | undefined) => PlistDictionary | undefined,
  ): Promise<void> {
    const file = this.#fileOf(domain);
    for (;;) {
      const before = textOf(file);
      const values = before === undefined ? undefined : await readPlist(Buffer.from(before, "latin1"));
      const after = change(isDictionary(values) ? values : undefined);
      const done = this.#call.set.write(() => {
        // Reading a property list waits, and a transaction must not: so the file is looked at again, and read again if it has changed.
        if (textOf(file) !== before) return false;
        if (after === undefined) rmSync(file, { force: true });
        else {
          mkdirSync(dirname(file), { recursive: true });
          writeWhole(file, writeXmlPlist(after));
        }
        return true;
      });
      if (done) return;
    }
  }

  domains(): readonly string[] {
    mkdirSync(this.#folder, { recursive: true });
    return readdirSync(this.#folder)
      .filter((name) => name.endsWith(".plist") && !name.startsWith("."))
      .map((name) => name.slice(0, -".plist".length))
      .toSorted();
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "latin1");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
