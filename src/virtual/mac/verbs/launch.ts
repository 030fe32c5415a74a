import { appendFileSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isInstalled } from "../apps/containers.ts";
import { operand, parseArguments } from "../arguments.ts";
import type { Call } from "../call.ts";
import { dataOf } from "../device-folder.ts";
import { childVariables } from "../environment.ts";
import { failure } from "../failure.ts";
import { deviceFor, runningDevice } from "../selection.ts";

const FORM =
  "[-w | --wait-for-debugger] [--console | --console-pty] [--stdout=<path>] [--stderr=<path>] [--terminate-running-process] <device> <app bundle identifier> [<argv 1> <argv 2> ... <argv n>]";

/**
 * `launch [options] DEVICE BUNDLE [ARG…]` prints `bundle: pid`. The process is simulated: nothing of the bundle is run. What it writes
 * is its arguments and the variables that it was given, so that the ways of its output can be tried.
 */
export async function launch(call: Call, args: readonly string[]): Promise<number | undefined> {
  const parsed = parseArguments("launch", args, {
    flags: [
      "-w --wait-for-debugger",
      "--console",
      "--console-pty",
      "--terminate-running-process",
      "--checked-allocations",
    ],
    values: ["--stdout", "--stderr", "--arch"],
    operandsThenRest: 2,
  });
  const { udid } = runningDevice(call.set, operand(parsed, 0, "launch", FORM));
  const bundleId = operand(parsed, 1, "launch", FORM);
  await call.takeTime("launch");

  const pid = call.set.write(() => {
    const device = runningDevice(call.set, udid);
    if (!isInstalled(call, device, bundleId)) throw failure("launchNotFound", { bundle: bundleId });
    const running = call.set.processes(udid).find((process) => process.bundleId === bundleId);
    // An app that runs already comes to the front as it is: its new arguments are not seen.
    if (running !== undefined && !parsed.has("--terminate-running-process")) {
      bringToFront(call, udid, bundleId, undefined);
      return running.pid;
    }
    if (running !== undefined) endApp(call, udid, bundleId);
    bringToFront(call, udid, bundleId, parsed.rest);
    return call.set.startProcess(udid, bundleId, parsed.rest, Date.now());
  });

  const said = [
    `arguments: ${JSON.stringify(parsed.rest)}\n`,
    ...Object.entries(childVariables(call.env)).map(([name, value]) => `environment: ${name}=${value}\n`),
  ].join("");
  const stdout = parsed.value("--stdout");
  const stderr = parsed.value("--stderr");
  if (stdout !== undefined) appendFileSync(inDevice(call, udid, stdout), said);
  if (stderr !== undefined) writeFileSync(inDevice(call, udid, stderr), "", { flag: "a" });
  call.out(`${bundleId}: ${pid}\n`);
  if (!parsed.has("--console") && !parsed.has("--console-pty")) return 0;
  if (stdout === undefined) call.out(said);
  return attend(call, udid, pid);
}

/** The app's standard streams are opened in the device: a relative path and one that is not there on the host land in its data. */
function inDevice(call: Call, udid: string, path: string): string {
  return isAbsolute(path) ? path : join(dataOf(call.set, udid), path);
}

/** Stays as long as the app runs; an interrupt ends the app. */
async function attend(call: Call, udid: string, pid: number): Promise<number> {
  let interrupted = false;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => (interrupted = true));
  for (;;) {
    const alive = call.set.processes(udid).some((process) => process.pid === pid);
    if (!alive) return 0;
    if (interrupted) {
      call.set.write(() => call.set.endProcess(pid));
      return 0;
    }
    await sleep(50);
  }
}

/** Shows the app, and as its content `lines`; undefined leaves what an app that is there already shows. */
export function bringToFront(call: Call, udid: string, bundleId: string, lines: readonly string[] | undefined): void {
  const device = deviceFor(call.set, udid);
  if (device.session === null) return;
  const same = device.session.foreground === bundleId;
  const content = lines ?? (same ? device.session.content : []);
  call.set.put({ ...device, session: { ...device.session, foreground: bundleId, content, banner: undefined } });
}

/** Ends the app's processes and leaves its place to the home screen. True when it ran. */
export function endApp(call: Call, udid: string, bundleId: string): boolean {
  const running = call.set.processes(udid).filter((process) => process.bundleId === bundleId);
  for (const { pid } of running) call.set.endProcess(pid);
  const device = deviceFor(call.set, udid);
  if (device.session?.foreground === bundleId) {
    call.set.put({ ...device, session: { ...device.session, foreground: undefined, content: [] } });
  }
  return running.length > 0;
}

/** `terminate DEVICE BUNDLE`; an app that does not run exits 3. */
export function terminate(call: Call, args: readonly string[]): void {
  const parsed = parseArguments("terminate", args, {});
  const { udid } = runningDevice(call.set, operand(parsed, 0, "terminate", "<device> <app bundle identifier>"));
  const bundleId = operand(parsed, 1, "terminate", "<device> <app bundle identifier>");
  const ran = call.set.write(() => endApp(call, udid, bundleId));
  if (!ran) throw failure("nothingToTerminate");
}
