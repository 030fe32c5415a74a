/**
 * Runs the suite `adb` (real adb against real adbd) inside a test bed, with the arguments of vitest: `node scripts/adbd/suite.ts [FILTER …]`.
 * Where it can't run it says why; that is a failure with CI=true and else a suite left out (exit 0).
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ADBD_ROOTFS, ADBD_RUN, adbdAvailable } from "./available.ts";

const able = adbdAvailable();
if (!able.ok) {
  console.error(`The suite "adb" is left out: ${able.why}`);
  process.exit(process.env["CI"] === "true" ? 1 : 0);
}
const vitest = join(import.meta.dirname, "..", "..", "node_modules", "vitest", "vitest.mjs");
// No devices are made beforehand: each test file makes its own.
const run = spawnSync(
  ADBD_RUN,
  [ADBD_ROOTFS, "0", process.execPath, vitest, "run", "--project", "adb", ...process.argv.slice(2)],
  { stdio: "inherit", cwd: join(import.meta.dirname, "..", "..") },
);
process.exit(run.status ?? 1);
