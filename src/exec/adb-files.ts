import { atMost, needs, operandsOf, readScattered, type OptionTable } from "./adb-options.ts";
import { checkJoined } from "./adb-shell.ts";
import { refuse } from "./refusal.ts";
import type { Reading } from "./reading.ts";

const COPY_VALUES = new Set(["-z"]);
const PUSH: OptionTable = { flags: new Set(["-p", "-Z", "-q", "-n", "-a", "--sync"]), values: COPY_VALUES };
const PULL: OptionTable = { flags: new Set(["-a", "-p", "-Z", "-q"]), values: COPY_VALUES };

/** `push HOST… DEVICE` */
export function readPush(tokens: readonly string[], reading: Reading): readonly string[] {
  const operands = operandsOf(readScattered("push", tokens, PUSH, true));
  needs("push", operands, 2, "HOST_FILE… DEVICE_PATH");
  for (const path of operands.slice(0, -1)) reading.path("read", path);
  return tokens;
}

/** `pull DEVICE… [HOST]`: with one operand the file goes to the working directory. */
export function readPull(tokens: readonly string[], reading: Reading): readonly string[] {
  const operands = operandsOf(readScattered("pull", tokens, PULL, true));
  needs("pull", operands, 1, "DEVICE_PATH… [HOST_FILE]");
  const sources = operands.length === 1 ? operands : operands.slice(0, -1);
  const target = operands.length === 1 ? "." : (operands[operands.length - 1] ?? ".");
  reading.path("write", target);
  for (const source of sources) checkLanding(source, target, reading);
  return tokens;
}

/** Into a folder, adb writes to what the last part of the device path is called there: `pull /sdcard/..` would write above the folder. */
function checkLanding(source: string, target: string, reading: Reading): void {
  const name = source.replace(/\/+$/, "").split("/").pop() ?? "";
  if (name === "..") {
    refuse("host-path", source, "adb would write above the folder that it pulls to.", "Name the folder itself.");
  }
  if (name !== "" && name !== ".") reading.askPolicy("write", `${target}/${name}`, target);
}

export function readLs(tokens: readonly string[]): readonly string[] {
  needs("ls", tokens, 1, "DEVICE_PATH");
  atMost("ls", tokens, 1);
  return tokens;
}

/** `bugreport [HOST]`: a file, or the folder it goes to. */
export function readBugreport(tokens: readonly string[], reading: Reading): readonly string[] {
  const [path] = tokens;
  if (path?.startsWith("-") === true) {
    refuse("unknown-option", path, "`bugreport` takes a path alone.", "Use `bugreport report.zip`.");
  }
  needs("bugreport", tokens, 0, "[HOST_FILE]");
  atMost("bugreport", tokens, 1);
  reading.path("write", path ?? ".");
  return tokens;
}

const BACKUP: OptionTable = {
  flags: new Set(
    ["all", "apk", "compress", "keyvalue", "noapk", "nocompress", "nokeyvalue", "noobb", "noshared", "nosystem", "obb"]
      .concat("shared", "system")
      .map((name) => `-${name}`),
  ),
  values: new Set(["-f"]),
};

/** The file behind `-f` is deleted before anything else happens, and made even when the device refuses. */
export function readBackup(tokens: readonly string[], reading: Reading): readonly string[] {
  const read = readScattered("backup", tokens, BACKUP, false);
  const files = read.filter(({ is }) => is === "value").map(({ token }) => token);
  const second = files[1];
  if (second !== undefined) refuse("malformed", second, "`backup` takes one -f.", "Make one backup at a time.");
  reading.path("write", files[0] ?? "backup.ab");
  const named = read.filter(({ is, token }) => is !== "value" && token !== "-f");
  if (named.length === 0) refuse("malformed", "backup", "it needs packages, -all or -shared.", "Name the packages.");
  checkJoined("backup", tokens);
  return tokens;
}

export function readRestore(tokens: readonly string[], reading: Reading): readonly string[] {
  needs("restore", tokens, 1, "HOST_FILE");
  const [path] = tokens;
  if (path?.startsWith("-") === true) {
    refuse("unknown-option", path, "`restore` takes a file alone.", "Use `restore backup.ab`.");
  }
  atMost("restore", tokens, 1);
  if (path !== undefined) reading.path("read", path);
  return tokens;
}
