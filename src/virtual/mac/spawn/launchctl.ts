import { openstep } from "../../../plist/index.ts";
import { SPRINGBOARD } from "../apps/system-apps.ts";
import type { Call } from "../call.ts";
import type { Device } from "../device.ts";
import { changeSession, changeSettings, sessionOf } from "../session.ts";
import { endApp } from "../verbs/launch.ts";

/** Jobs that every booted device has. A number stands in for the process id of those that run. */
const JOBS: readonly (readonly [label: string, running: boolean])[] = [
  ["com.apple.SpringBoard", true],
  ["com.apple.backboardd", true],
  ["com.apple.CoreSimulator.CoreSimulatorBridge", true],
  ["com.apple.cfprefsd.xpc.daemon", true],
  ["com.apple.locationd", true],
  ["com.apple.lsd", true],
  ["com.apple.mobileassetd", false],
  ["com.apple.nsurlsessiond", true],
  ["com.apple.runningboardd", true],
  ["com.apple.searchd", true],
  ["com.apple.siriactionsd", false],
  ["com.apple.tccd", true],
  ["com.apple.UserEventAgent-System", true],
  ["com.apple.news.newsd", true],
  ["com.apple.healthd", true],
];

/** Below the pids of apps, and above any of the host. */
const FIRST_JOB_PID = 4_900_001;

interface Job {
  readonly label: string;
  readonly pid: number | undefined;
}

function jobsOf(call: Call, device: Device): readonly Job[] {
  const { withoutLabels } = sessionOf(device);
  const system = JOBS.map(([label, running], index) => ({ label, pid: running ? FIRST_JOB_PID + index : undefined }));
  const apps = call.set.processes(device.udid).map((process) => ({
    label: `UIKitApplication:${process.bundleId}[${(process.pid & 0xffff).toString(16).padStart(4, "0")}][rb-legacy]`,
    pid: process.pid,
  }));
  return [...system.filter((job) => !withoutLabels.includes(job.label)), ...apps];
}

/** `launchctl list [LABEL] | print-disabled | disable | enable | stop | kickstart | kill | bootout | getenv | setenv | print`. */
export function launchctl(call: Call, device: Device, args: readonly string[]): number {
  const [action, ...words] = args;
  const last = words.at(-1);
  switch (action) {
    case "list":
      return last === undefined ? listAll(call, device) : listOne(call, device, last);
    case "print-disabled":
      call.out(
        `disabled services = {\n${device.settings.disabledLabels.map((label) => `\t"${label}" => disabled\n`).join("")}}\n`,
      );
      return 0;
    case "disable":
    case "enable":
      return last === undefined ? usage(call) : able(call, device, action, labelOf(last));
    case "stop":
    case "kickstart":
    case "kill":
    case "bootout":
      return last === undefined ? usage(call) : stop(call, device, labelOf(last));
    case "start":
      return last === undefined ? usage(call) : 0;
    case "getenv":
      call.out(`${sessionOf(device).env[last ?? ""] ?? ""}\n`);
      return 0;
    case "setenv":
      return setenv(call, device, words);
    case "print":
      return print(call, device, last);
    default:
      return usage(call);
  }
}

function usage(call: Call): number {
  call.err("Usage: launchctl <subcommand> ... | help [subcommand]\n");
  return 64;
}

/** `system/label`, `user/501/label` or the label alone. */
function labelOf(target: string): string {
  return target.split("/").at(-1) ?? target;
}

function listAll(call: Call, device: Device): number {
  const lines = jobsOf(call, device).map((job) => `${job.pid ?? "-"}\t0\t${job.label}\n`);
  call.out(`PID\tStatus\tLabel\n${lines.join("")}`);
  return 0;
}

function listOne(call: Call, device: Device, label: string): number {
  const job = jobsOf(call, device).find((each) => each.label === label);
  if (job === undefined) {
    call.err(`Could not find service "${label}" in domain for system\n`);
    return 113;
  }
  const facts = {
    Label: job.label,
    LastExitStatus: 0n,
    OnDemand: true,
    ...(job.pid === undefined ? {} : { PID: BigInt(job.pid) }),
  };
  call.out(`${openstep(facts)};\n`);
  return 0;
}

/** Any label is taken, also one that no job has: exit 0 proves nothing, as on a Mac. It counts from the next boot on, until an erase. */
function able(call: Call, device: Device, action: "disable" | "enable", label: string): number {
  changeSettings(call, device.udid, (settings) => {
    const others = settings.disabledLabels.filter((each) => each !== label);
    return { ...settings, disabledLabels: action === "disable" ? [...others, label] : others };
  });
  return 0;
}

function stop(call: Call, device: Device, label: string): number {
  if (label === "com.apple.SpringBoard" || label === SPRINGBOARD) {
    // The home screen comes back without anything in front of it.
    changeSession(call, device.udid, (session) => ({
      ...session,
      foreground: undefined,
      content: [],
      banner: undefined,
    }));
    return 0;
  }
  const bundleId = /^UIKitApplication:([^[]+)/.exec(label)?.[1];
  if (bundleId !== undefined) {
    call.set.write(() => endApp(call, device.udid, bundleId));
    return 0;
  }
  if (JOBS.some(([known]) => known === label)) return 0;
  call.err(`Could not find service "${label}" in domain for system\n`);
  return 113;
}

function setenv(call: Call, device: Device, words: readonly string[]): number {
  const [name, value] = words;
  if (name === undefined || value === undefined) return usage(call);
  changeSession(call, device.udid, (session) => ({ ...session, env: { ...session.env, [name]: value } }));
  return 0;
}

function print(call: Call, device: Device, target: string | undefined): number {
  if (target === undefined) return usage(call);
  if (target !== "system") return listOne(call, device, labelOf(target));
  const jobs = jobsOf(call, device).map((job) => `\t\t${String(job.pid ?? 0).padStart(8)}      - \t${job.label}\n`);
  call.out(`com.apple.xpc.launchd.domain.system = {\n\ttype = system\n\tservices = {\n${jobs.join("")}\t}\n}\n`);
  return 0;
}
