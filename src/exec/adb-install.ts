import { needs, operandsOf, readScattered, type OptionTable, type TokenRead } from "./adb-options.ts";
import { checkJoined } from "./adb-shell.ts";
import { refuse } from "./refusal.ts";
import type { Reading } from "./reading.ts";

/** Options of the device's package manager that take a value. */
const VALUES = new Set([
  "-i",
  "--user",
  "--abi",
  "--install-location",
  "--install-reason",
  "--originating-uri",
  "--referrer",
  "--pkg",
  "--dexopt-compiler-filter",
  "--staged-ready-timeout",
  "--package-source",
  "-S",
]);

const FLAGS = new Set([
  // adb's own.
  "--streaming",
  "--no-streaming",
  "--wait",
  "--no-fastdeploy",
  "--force-agent",
  "--date-check-agent",
  "--version-check-agent",
  // The package manager's.
  ..."dfgklpqrst".split("").map((letter) => `-${letter}`),
  "-R",
  "--apex",
  "--bypass-low-target-sdk-block",
  "--disable-verification",
  "--dont-kill",
  "--enable-rollback",
  "--ephemeral",
  "--force-non-staged",
  "--force-queryable",
  "--force-sdk",
  "--force-verification",
  "--full",
  "--ignore-dexopt-profile",
  "--instant",
  "--non-staged",
  "--preload",
  "--request-update-ownership",
  "--restrict-permissions",
  "--skip-enable",
  "--skip-verification",
  "--staged",
  "--update-ownership",
]);

const FAST_DEPLOY = new Set(["--fastdeploy", "--local-agent"]);
const PACKAGE_FILE = /\.(apk|apex|dm|sdm|fsv_sig|idsig)$/i;

/**
 * `install`, `install-multiple`, `install-multi-package`. Which argument is the file depends on how adb sends it: the last one, the last that ends in
 * .apk, or every one that does. So every operand counts as a host path, and so does a value that could be taken for one.
 */
export function readInstall(verb: string, tokens: readonly string[], reading: Reading): readonly string[] {
  for (const token of tokens) {
    if (!FAST_DEPLOY.has(token)) continue;
    // adb 28 to 29.0.4 ran `java -jar … "FILE"` through a shell of the host.
    refuse(
      "host-exec",
      token,
      "older adb runs a program on the host for it.",
      "Leave it out: the install is a full one.",
    );
  }
  const incremental = tokens.filter(isIncremental);
  const table: OptionTable = { flags: new Set([...FLAGS, ...incremental]), values: VALUES };
  const read = readScattered(verb, tokens, table, false);
  const operands = operandsOf(read);
  needs(verb, operands, 1, verb === "install" ? "APK" : "APK…");
  read.forEach((part, index) => {
    if (isFile(part, index === read.length - 1)) readFiles(verb, part.token, reading);
  });
  checkJoined(verb, tokens);
  if (incremental.some((token) => token.startsWith("--incr")) && tokens.includes("--wait")) reading.flag("L");
  return tokens;
}

/** adb takes any word that begins so for it. */
const isIncremental = (token: string): boolean =>
  /^--(no-)?incr/.test(token) && ("--incremental".startsWith(token) || "--no-incremental".startsWith(token));

function isFile({ token, is }: TokenRead, isLast: boolean): boolean {
  if (is === "operand") return true;
  return is === "value" && (isLast || PACKAGE_FILE.test(token));
}

/** `install-multi-package` takes the splits of one package joined with colons. */
function readFiles(verb: string, token: string, reading: Reading): void {
  const paths = verb === "install-multi-package" ? token.split(":") : [token];
  for (const path of paths) reading.path("read", path, path === "" ? token : path);
}

const UNINSTALL: OptionTable = { flags: new Set(), values: new Set(["--user", "--versionCode"]) };

export function readUninstall(tokens: readonly string[]): readonly string[] {
  if (tokens.includes("-k")) {
    refuse("unknown-option", "-k", "adb itself refuses it.", "Use `shell cmd package uninstall -k PACKAGE`.");
  }
  needs("uninstall", operandsOf(readScattered("uninstall", tokens, UNINSTALL, false)), 1, "PACKAGE");
  checkJoined("uninstall", tokens);
  return tokens;
}
