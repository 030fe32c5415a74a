/**
 * Whether the suites against a real adbd can run on this machine, and why not. They run inside `scripts/adbd/run.sh`, which needs root on
 * Linux, adb, and the root file system that `scripts/adbd/setup.sh` makes (`npm run setup`).
 */
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Where the root file system lies: `SIMLOCK_ADBD_ROOTFS`, else the checkout's cache folder. */
export const ADBD_ROOTFS =
  process.env["SIMLOCK_ADBD_ROOTFS"] || join(import.meta.dirname, "..", "..", ".cache", "adbd");
export const ADBD_SETUP = join(import.meta.dirname, "setup.sh");
export const ADBD_RUN = join(import.meta.dirname, "run.sh");
export const ADBD_DEVICE = join(import.meta.dirname, "device.sh");

const REMEDY = "Run `npm run setup` as root on Debian.";

export type Availability = { readonly ok: true } | { readonly ok: false; readonly why: string };

/** Whether a bed can be made here: what `run.sh` needs. */
export function adbdAvailable(): Availability {
  if (process.platform !== "linux") return no("an adbd runs on Linux only");
  if (process.getuid?.() !== 0) return no("making a namespace with devices in it takes root");
  for (const tool of ["adb", "unshare", "ip", "mount", "chroot"]) {
    if (!onPath(tool)) return no(`${tool} is not installed`);
  }
  if (!existsSync(join(ADBD_ROOTFS, ".simlock-adbd"))) return no(`${ADBD_ROOTFS} is not set up`);
  return { ok: true };
}

/** Whether this process runs inside a bed, so that the devices of it are in reach. */
export function insideBed(): Availability {
  const able = adbdAvailable();
  if (!able.ok) return able;
  if (process.env["SIMLOCK_ADBD_BED"]) return { ok: true };
  return { ok: false, why: "these tests run inside the test bed only: `node scripts/adbd/suite.ts`." };
}

function no(what: string): Availability {
  return { ok: false, why: `${what}. ${REMEDY}` };
}

function onPath(tool: string): boolean {
  for (const folder of [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/sbin"]) {
    if (folder === "") continue;
    try {
      accessSync(join(folder, tool), constants.X_OK);
      return true;
    } catch {
      // The next folder.
    }
  }
  return false;
}
