import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { SimlockError } from "../../contract/index.ts";
import type { CallTool } from "../tool-call.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export const INSTALL_HINT =
  "Install the Android SDK Platform-Tools (macOS: `brew install --cask android-platform-tools`; Debian: `apt install adb`), or set ANDROID_HOME, and restart the daemon.";

/** Where adb is looked for, in this order. A named file is the only place. Pure. */
export function adbPlaces(named: string | undefined, env: Environment): string[] {
  if (named !== undefined) return [named];
  const home = env["HOME"];
  const sdks = [
    env["ANDROID_HOME"],
    env["ANDROID_SDK_ROOT"],
    ...(home === undefined || home === "" ? [] : [join(home, "Library/Android/sdk"), join(home, "Android/Sdk")]),
  ];
  const folders = [
    ...sdks.flatMap((sdk) => (sdk === undefined || sdk === "" ? [] : [join(sdk, "platform-tools")])),
    ...(env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== ""),
    "/opt/homebrew/bin",
    "/usr/local/bin",
    "/usr/bin",
    "/usr/lib/android-sdk/platform-tools",
    "/opt/android-sdk/platform-tools",
  ];
  return [...new Set(folders.map((folder) => join(folder, "adb")))];
}

/** The adb of this host. Throws `TOOL_MISSING` with the places tried. */
export function findAdb(named: string | undefined, env: Environment): string {
  const tried = adbPlaces(named, env);
  const found = tried.find(isProgram);
  if (found !== undefined) return found;
  throw new SimlockError("TOOL_MISSING", `adb was not found. Places tried: ${tried.join(", ")}.`, {
    details: { tool: "adb", tried },
    hint: INSTALL_HINT,
  });
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

export interface AdbVersion {
  /** What client and server must agree on: the last number of "version 1.0.41". */
  readonly protocol: number | undefined;
  /** The platform-tools' own version: 29.0.6-debian, 35.0.2-12147458. */
  readonly tools: string;
}

/** Reads what `adb version` prints. Pure. */
export function parseAdbVersion(stdout: string): AdbVersion | undefined {
  const protocol = /^Android Debug Bridge version 1\.0\.([0-9]+)/m.exec(stdout)?.[1];
  const tools = /^Version (\S+)/m.exec(stdout)?.[1];
  if (protocol === undefined && tools === undefined) return undefined;
  return { protocol: protocol === undefined ? undefined : Number(protocol), tools: tools ?? `1.0.${protocol}` };
}

/** Asks the program itself; it does not touch a server for that. */
export async function adbVersion(file: string, env: Environment, call: CallTool): Promise<AdbVersion> {
  const answer = await call({
    file,
    args: ["version"],
    env: hostEnvironment(env),
    timeoutMs: 10_000,
    maxBytes: 65_536,
  });
  const version = parseAdbVersion(answer.stdout);
  if (answer.exitCode === 0 && version !== undefined) return version;
  throw new SimlockError("TOOL_FAILED", `\`${file} version\` answered ${answer.exitCode} and no version.`);
}

/**
 * Starts the user's adb server as any adb command of theirs would: with their environment (HOME has its keys, `ADB_VENDOR_KEYS`, `ADB_MDNS`, …) but
 * for what would point it at another place or flood its log. It detaches itself and stays when we end.
 */
export async function startAdbServer(file: string, port: number, env: Environment, call: CallTool): Promise<void> {
  const answer = await call({
    file,
    args: ["-P", String(port), "start-server"],
    env: hostEnvironment(env),
    timeoutMs: 30_000,
    maxBytes: 1_048_576,
  });
  if (answer.exitCode === 0) return;
  const said = (answer.stderr || answer.stdout).trim().split("\n").at(-1) ?? "";
  throw new SimlockError(
    "TOOL_FAILED",
    `No adb server listens on 127.0.0.1:${port}, and starting one failed: ${said}`,
    {
      hint: `Run \`adb -P ${port} start-server\` and see what it says.`,
    },
  );
}

const DROPPED =
  /^(ANDROID_SERIAL|ADB_SERVER_SOCKET|ANDROID_ADB_SERVER_.*|ANDROID_LOG_TAGS|ADB_TRACE|ADB_REJECT_KILL_SERVER|SIMLOCK_.*|NODE_.*)$/;

function hostEnvironment(env: Environment): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !DROPPED.test(name)) kept[name] = value;
  }
  return kept;
}
