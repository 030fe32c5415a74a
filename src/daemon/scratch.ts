import { mkdirSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { LeaseId } from "../contract/index.ts";
import { isMissing } from "./files.ts";

/** A folder for each lease: where its commands work that bring no folder of their own. It goes when the lease has ended. */
export class ScratchFolders {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  pathOf(leaseId: LeaseId): string {
    // A lease id is ours and plain; encoded, it could not leave the folder even if it were not.
    return join(this.#root, `lease-${encodeURIComponent(leaseId)}`);
  }

  /** The lease's folder, made where it is not there. */
  open(leaseId: LeaseId): string {
    const path = this.pathOf(leaseId);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return path;
  }

  async remove(leaseId: LeaseId): Promise<void> {
    await rm(this.pathOf(leaseId), { recursive: true, force: true });
  }

  /** Removes what leases of an earlier daemon left that are over. */
  async keepOnly(leases: readonly LeaseId[]): Promise<void> {
    const kept = new Set(leases.map((leaseId) => this.pathOf(leaseId)));
    for (const name of this.#entries()) {
      const path = join(this.#root, name);
      if (!kept.has(path)) await rm(path, { recursive: true, force: true });
    }
  }

  #entries(): string[] {
    try {
      return readdirSync(this.#root);
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }
}
