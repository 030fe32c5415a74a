import { spawn } from "node:child_process";
import { accessSync, constants, mkdirSync, statSync, writeFileSync } from "node:fs";
import { constants as os } from "node:os";
import { join, resolve } from "node:path";
import type { Call } from "../call.ts";
import type { Device } from "../device.ts";
import { childVariables, deviceEnvironment } from "../environment.ts";
import { failure } from "../failure.ts";
import { runtimeRoot } from "../runtime-files.ts";
import { runtimeOf } from "../selection.ts";

/**
 * Runs a program of the host in the device's environment, as a simulator process is a process of the Mac: it may do what the caller may do.
 * A name without a slash is searched in the device's PATH, a leading slash is the host's root, anything else is relative to the caller.
 */
export async function runOnHost(call: Call, device: Device, program: string, args: readonly string[]): Promise<number> {
  const base = device.session?.env ?? deviceEnvironment(call, device);
  const tools = makeDeviceTools(call, device);
  const path = `${tools}:${base["PATH"] ?? ""}`;
  const file = program.includes("/") ? resolve(program) : find(program, path);
  if (file === undefined || !isExecutable(file)) throw failure("spawnNotFound");
  const env: Record<string, string> = {
    ...base,
    ...childVariables(call.env),
    PATH: path,
    SIMLOCK_VIRTUAL_MAC: call.root,
    SIMLOCK_VIRTUAL_SET: call.set.path,
  };
  // The system takes DYLD_ variables away from its own protected programs, so a script run by /bin/sh has to set it again before it calls
  // a program of the device; whoever forgets meets the abort below.
  if (!/^\/(usr\/)?s?bin\//.test(file)) env["DYLD_ROOT_PATH"] = base["SIMULATOR_ROOT"] ?? "";

  const child = spawn(file, args, { env, stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  return new Promise((done, fail) => {
    child.once("error", (error) => {
      fail("code" in error && error.code === "EACCES" ? failure("spawnNotFound") : error);
    });
    child.once("exit", (code, signal) => {
      if (signal === null) return done(code ?? 0);
      call.err(`Child process terminated with signal ${os.signals[signal]}: ${signal}\n`);
      done(128 + os.signals[signal]);
    });
  });
}

function find(name: string, path: string): string | undefined {
  return path
    .split(":")
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The device's own tools for scripts that call them by name: each asks simctl for the simulated one. Returns their folder. */
function makeDeviceTools(call: Call, device: Device): string {
  const folder = join(runtimeRoot(call.root, runtimeOf(device)), "usr", "bin");
  mkdirSync(folder, { recursive: true });
  const simctl = [process.execPath, process.argv[1] ?? ""]
    .map((word) => `'${word.replaceAll("'", "'\\''")}'`)
    .join(" ");
  for (const name of ["defaults", "launchctl", "log"]) {
    const script = `#!/bin/sh
if [ "$DYLD_ROOT_PATH" != "$SIMULATOR_ROOT" ]; then
  echo "dyld[$$]: Library not loaded: /usr/lib/libSystem.B.dylib (DYLD_ROOT_PATH is not set)" >&2
  kill -ABRT $$
fi
exec ${simctl} simctl --set "$SIMLOCK_VIRTUAL_SET" spawn "$SIMULATOR_UDID" ${name} "$@"
`;
    const path = join(folder, name);
    try {
      writeFileSync(path, script, { mode: 0o755, flag: "wx" });
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
  }
  return folder;
}
