/**
 * `npm run setup`: what the fuller suites use beyond `npm ci`: the official MCP Inspector and conformance suite, system packages, and the real adbd that they run
 * against. System packages are installed on Debian, which takes root; elsewhere it says what to install. It changes nothing that is there already.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ADBD_SETUP, ADBD_ROOTFS } from "./adbd/available.ts";
import { CONFORMANCE_PACKAGE, CONFORMANCE_PREFIX, conformanceMissing } from "./conformance.ts";
import { INSPECTOR_PACKAGE, INSPECTOR_PREFIX, inspectorMissing } from "./inspector.ts";

/** Command to Debian package. */
const NEEDED: readonly (readonly [command: string, debianPackage: string])[] = [
  ["adb", "adb"],
  ["ip", "iproute2"],
  ["unshare", "util-linux"],
  ["ps", "procps"],
];

if (inspectorMissing() !== undefined) intoCache(INSPECTOR_PACKAGE, INSPECTOR_PREFIX);
if (conformanceMissing() !== undefined) intoCache(CONFORMANCE_PACKAGE, CONFORMANCE_PREFIX);

const missing = NEEDED.filter(([command]) => !isInstalled(command));
const isDebian = existsSync("/etc/debian_version");
const isRoot = process.getuid?.() === 0;

if (!isDebian || !isRoot) {
  console.log(
    [
      `The suite against a real adbd needs Linux (Debian 12), root, and: ${NEEDED.map(([, name]) => name).join(", ")}.`,
      process.platform === "darwin"
        ? "On a Mac it can't run. For attached Android devices install the platform tools: brew install --cask android-platform-tools."
        : "Install these with your package manager; on Debian run `npm run setup` as root.",
      missing.length === 0
        ? "All of these commands are here."
        : `Not here: ${missing.map(([name]) => name).join(", ")}.`,
    ].join("\n"),
  );
  process.exit(isDebian ? 1 : 0);
}

if (missing.length > 0) {
  const packages = missing.map(([, name]) => name);
  console.log(`Installing ${packages.join(", ")} …`);
  step("apt-get", ["-qq", "update"]);
  step("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...packages]);
}
console.log(`Setting up a real adbd in ${ADBD_ROOTFS} …`);
step("bash", [ADBD_SETUP, ADBD_ROOTFS]);
console.log("Ready: `npm test` runs every suite.");

function isInstalled(command: string): boolean {
  return ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"].some((folder) =>
    existsSync(join(folder, command)),
  );
}

function intoCache(name: string, prefix: string): void {
  console.log(`Installing ${name} …`);
  step("npm", ["install", "--prefix", prefix, "--no-audit", "--no-fund", "--silent", "--ignore-scripts", name]);
}

function step(file: string, args: readonly string[]): void {
  const { status } = spawnSync(file, args, {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
  if (status === 0) return;
  console.error(`${file} ${args.join(" ")} failed.`);
  process.exit(1);
}
