import { SimlockError } from "../../contract/index.ts";
import { AdbError } from "./adb-socket.ts";
import type { AdbServer, ShellAnswer } from "./adb-server.ts";
import type { Log } from "./log.ts";
import {
  ANY_PACKAGE_COMMAND,
  FILES_COMMAND,
  guarded,
  leftFiles,
  leftPackages,
  leftProcesses,
  lockedFolders,
  PACKAGES_COMMAND,
  parsePackages,
  parsePaths,
  PROCESSES_COMMAND,
  quoted,
  WRONG_DEVICE,
} from "./residue.ts";
import type { Route } from "./sight.ts";

/** Time limits in milliseconds. `pm` starts a virtual machine of its own on older devices; removing an app takes as long as it takes. */
const READ_MS = 30_000;
const UNINSTALL_MS = 60_000;
const REMOVE_MS = 60_000;
/** Rounds that may bring nothing; and rounds in all, for a holder who has left more than one look can list. */
const IDLE_ROUNDS = 3;
const ROUNDS = 100;
/** What one look at the files may list. */
const MAX_LISTING_BYTES = 4 * 1_048_576;
/** Of a device command: adb's own limit is 65,535 with the service's name. */
const MAX_COMMAND_BYTES = 60_000;
/** What an enrolment may list. */
const MAX_BASELINE = 5_000;
/** Errors name no more than these. */
const MAX_NAMED = 5;

export interface CleanPorts {
  readonly server: AdbServer;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** One device, proven, with every serial that leads to it. */
export interface Proven {
  readonly route: Route;
  readonly serials: readonly string[];
}

interface Left {
  readonly processes: readonly number[];
  readonly packages: readonly string[];
  readonly files: readonly string[];
  readonly forwards: readonly string[];
}

/** What an enrolment lists: packages, and the folders that are cleaned with what lies in them. Throws `DEVICE_NOT_LEASABLE`. */
export async function listBaseline({ server, signal }: Omit<CleanPorts, "log">, route: Route): Promise<string[]> {
  const any = await run(server, route, ANY_PACKAGE_COMMAND, READ_MS, signal);
  const packages = await run(server, route, PACKAGES_COMMAND, READ_MS * 2, signal);
  if (any.exitCode !== 0 || packages.exitCode !== 0 || parsePackages(text(any.stdout)).length === 0) {
    throw new SimlockError(
      "DEVICE_NOT_LEASABLE",
      `${route.listed.serial} has no package manager that answers, so it can't be cleaned between holders.`,
      { hint: "Wait until the device has started, unlock it, and add it again." },
    );
  }
  const files = await run(server, route, FILES_COMMAND, READ_MS, signal);
  if (files.exitCode !== 0) throw toolFailed(route, "the files on it can't be listed", files);
  const baseline = [...parsePackages(text(packages.stdout)), ...parsePaths(files.stdout)];
  if (baseline.length > MAX_BASELINE) {
    throw new SimlockError(
      "DEVICE_NOT_LEASABLE",
      `${route.listed.serial} holds more packages and files in /data/local/tmp and /sdcard than can be listed (${baseline.length}).`,
      { hint: "Remove what is not needed from /data/local/tmp and the top of /sdcard, and add it again." },
    );
  }
  return baseline;
}

/**
 * Removes what the enrolment did not list and the last holder could leave: processes of adb's commands, packages, entries of /data/local/tmp and at the
 * top of shared storage, forwards and reverses. Then it looks again: what is left throws `TOOL_FAILED`. Repeating it is harmless.
 */
export async function cleanDevice(ports: CleanPorts, device: Proven, baseline: readonly string[]): Promise<void> {
  const { route } = device;
  let left = await leftOn(ports, device, baseline);
  let idle = 0;
  for (let round = 0; round < ROUNDS && idle < IDLE_ROUNDS && count(left) > 0; round += 1) {
    ports.log("info", "cleaning a device", {
      serial: route.listed.serial,
      packages: left.packages.length,
      files: left.files.length,
      processes: left.processes.length,
      forwards: left.forwards.length,
    });
    await removeForwards(ports, device);
    await endProcesses(ports, route, left.processes);
    await uninstall(ports, route, left.packages);
    await removeFiles(ports, route, left.files);
    const before = new Set(namesOf(left));
    left = await leftOn(ports, device, baseline);
    idle = namesOf(left).every((name) => before.has(name)) ? idle + 1 : 0;
  }
  if (count(left) === 0) return;
  const named = namesOf(left);
  throw new SimlockError(
    "TOOL_FAILED",
    `${route.listed.serial} can't be cleaned: ${named.slice(0, MAX_NAMED).join(", ")}${named.length > MAX_NAMED ? ", …" : ""} could not be removed.`,
    {
      details: { serial: route.listed.serial, left: named.slice(0, 100) },
      hint: "Remove it by hand (an app that administers the device must be deactivated first), or restart the device.",
    },
  );
}

function namesOf(left: Left): string[] {
  return [...left.packages, ...left.files, ...left.forwards, ...left.processes.map((pid) => `process ${pid}`)];
}

function count(left: Left): number {
  return namesOf(left).length;
}

async function leftOn(ports: CleanPorts, { route, serials }: Proven, baseline: readonly string[]): Promise<Left> {
  const { server, signal } = ports;
  const packages = await run(server, route, PACKAGES_COMMAND, READ_MS * 2, signal);
  if (packages.exitCode !== 0) throw toolFailed(route, "its packages can't be listed", packages);
  const files = await run(server, route, FILES_COMMAND, READ_MS, signal, { maxBytes: MAX_LISTING_BYTES, cut: true });
  if (files.exitCode !== 0) throw toolFailed(route, "the files on it can't be listed", files);
  const paths = parsePaths(files.stdout);
  const locked = lockedFolders(paths, baseline);
  if (locked.length > 0) {
    throw new SimlockError(
      "DEVICE_UNAVAILABLE",
      `${route.listed.serial} can't be cleaned: ${locked.join(", ")} can't be read now.`,
      {
        hint: "Unlock the device once: its storage is locked after a restart.",
      },
    );
  }
  const processes = await run(server, route, PROCESSES_COMMAND, READ_MS, signal);
  const forwards = (await server.forwards(signal)).filter(({ serial }) => serials.includes(serial));
  const reverses = await server.reverses(route.listed, signal);
  return {
    packages: leftPackages(parsePackages(text(packages.stdout)), baseline),
    files: leftFiles(paths, baseline),
    processes: leftProcesses(text(processes.stdout)),
    forwards: [...forwards.map(({ local }) => `forward ${local}`), ...reverses.map(({ local }) => `reverse ${local}`)],
  };
}

/** The server keeps forwards by serial, whatever connection they came over; the device keeps its reverses itself. */
async function removeForwards({ server, signal }: CleanPorts, { route, serials }: Proven): Promise<void> {
  for (const { serial, local } of await server.forwards(signal)) {
    if (!serials.includes(serial)) continue;
    // Gone in the meantime is as good.
    await server.removeForward({ serial, transportId: undefined }, local, signal).catch(ignoreRefusal);
  }
  if ((await server.reverses(route.listed, signal)).length > 0) await server.removeReverses(route.listed, signal);
}

async function endProcesses({ server, signal }: CleanPorts, route: Route, pids: readonly number[]): Promise<void> {
  for (const words of batches(pids.map(String))) {
    await run(server, route, `kill -9 ${words.join(" ")} 2>/dev/null; true`, READ_MS, signal);
  }
}

async function uninstall(
  { server, signal, log }: CleanPorts,
  route: Route,
  packages: readonly string[],
): Promise<void> {
  for (const name of packages) {
    const answer = await run(server, route, `pm uninstall ${quoted(name)}`, UNINSTALL_MS, signal);
    const said = text(answer.stdout).trim();
    // Older ones say "Failure [DELETE_FAILED_…]" and exit 0. Whether it is gone is seen by looking.
    if (answer.exitCode !== 0 || !said.startsWith("Success")) {
      log("warn", "a package could not be uninstalled", {
        serial: route.listed.serial,
        package: name,
        said: said.slice(0, 500),
      });
    }
  }
}

async function removeFiles({ server, signal }: CleanPorts, route: Route, paths: readonly string[]): Promise<void> {
  for (const words of batches(paths.map(quoted))) {
    // A folder that its holder closed to itself is opened first; what a link points to is left alone.
    const stubborn = `if [ -d "$each" ] && [ ! -L "$each" ]; then chmod -R u+rwx "$each"; fi; rm -rf "$each"`;
    const command = `set -- ${words.join(" ")}; rm -rf "$@" 2>/dev/null || for each; do ${stubborn}; done; true`;
    await run(server, route, command, REMOVE_MS, signal);
  }
}

/** Every command goes over the proven connection, and does nothing where another device answers on it. */
async function run(
  server: AdbServer,
  route: Route,
  command: string,
  timeoutMs: number,
  signal: AbortSignal,
  limits: { readonly maxBytes: number; readonly cut?: boolean } = { maxBytes: 16 * 1_048_576 },
): Promise<ShellAnswer> {
  const bytes = Buffer.from(guarded(route.identity.bootId, command), "latin1");
  const answer = await server.shell(route.listed, bytes, { signal, timeoutMs, ...limits });
  if (answer.exitCode !== WRONG_DEVICE) return answer;
  throw new SimlockError("DEVICE_UNAVAILABLE", `${route.listed.serial} was restarted, or is another device now.`, {
    hint: "Wait a moment: it is looked for again.",
  });
}

function* batches(words: readonly string[]): Generator<readonly string[]> {
  let batch: string[] = [];
  let size = 0;
  for (const word of words) {
    if (batch.length > 0 && size + word.length > MAX_COMMAND_BYTES) {
      yield batch;
      batch = [];
      size = 0;
    }
    batch.push(word);
    size += word.length + 1;
  }
  if (batch.length > 0) yield batch;
}

function toolFailed(route: Route, what: string, answer: ShellAnswer): SimlockError {
  const said = (text(answer.stderr).trim() || text(answer.stdout).trim()).slice(0, 500);
  return new SimlockError(
    "TOOL_FAILED",
    `${route.listed.serial} can't be cleaned: ${what}${said === "" ? "" : ` (${said})`}.`,
  );
}

function ignoreRefusal(error: unknown): void {
  if (error instanceof AdbError && error.kind === "refused") return;
  throw error;
}

const text = (bytes: Buffer): string => bytes.toString("utf8");
