import type { AdbReader, AdbVerb } from "./adb-forms.ts";
import type { Flag, RefusalReason } from "./types.ts";

// The verbs of adb 28 to 37, aliases that no help text shows included (lolcat, longcat, reboot-bootloader, reboot-fastboot, `/?`). Source: AOSP,
// packages/modules/adb/client/commandline.cpp and its history; what adb 29.0.6 and 34.0.5 do was seen.

const device = (reader: AdbReader, ...flags: readonly Flag[]): AdbVerb => ({ kind: "device", reader, flags });
const refused = (reason: RefusalReason, why: string, hint: string): AdbVerb => ({
  kind: "refused",
  reason,
  why,
  hint,
});

const server = (does: string, hint = "Simlock looks after the adb server: no command is needed for it.") =>
  refused("server", `it ${does}, and every lease on this machine shares that server.`, hint);
const lifecycle = (does: string, hint = "Release the lease and lease again for a device in another state.") =>
  refused("lifecycle", `it ${does}: the lease would lose its device.`, hint);

const RESTARTS_ADBD = "restarts the device's adbd";
const REBOOTS = "reboots the device";
const NEVER_ENDS = refused(
  "never-ends",
  "a leased device does not come into that state.",
  "Use `wait-for-device`, which ends at once on a leased device.",
);

const STATES = ["recovery", "rescue", "sideload", "bootloader", "disconnect"];
const TRANSPORTS = ["", "-any", "-usb", "-local"];

function waits(): Record<string, AdbVerb> {
  const verbs: Record<string, AdbVerb> = {};
  for (const transport of TRANSPORTS) {
    verbs[`wait-for${transport}-device`] = device("wait-for", "L");
    for (const state of STATES) verbs[`wait-for${transport}-${state}`] = NEVER_ENDS;
  }
  return verbs;
}

export const ADB_VERBS: Readonly<Record<string, AdbVerb>> = {
  // No device.
  "--help": { kind: "open" },
  "--version": { kind: "open" },
  "/?": { kind: "open" },
  devices: { kind: "open", options: ["-l"] },
  help: { kind: "open" },
  "host-features": { kind: "open" },
  version: { kind: "open" },

  // The server.
  attach: server("takes a USB device for the server"),
  connect: server("gives a device another serial, under which anybody reaches it", "The leased device is connected."),
  detach: server("takes a USB device from the server"),
  disconnect: server("drops devices of others, emulators as well", "Release the lease when you are done."),
  "inc-server": server("starts a server inside adb"),
  "kill-server": server("ends the adb server", "Nothing is needed: the server may go on running."),
  mdns: server("asks and changes the server's discovery"),
  pair: server("pairs the server with another device"),
  raw: server("sends any service to the server, for any device", "Use the verb for what you need."),
  reconnect: server("resets connections, others' as well", "Release the lease and lease again."),
  "server-status": server("shows the server's own paths"),
  "start-server": server("starts an adb server", "Nothing is needed: the server runs."),
  "track-devices": server("shows every device and never ends", "Use `get-state` for the leased device."),

  // The host.
  keygen: refused("host-path", "it writes a private key to the host.", "There is no form of it for one lease."),
  ppp: refused(
    "host-exec",
    "it starts `pppd` on the host with arguments of its caller.",
    "Use `forward` or `reverse`.",
  ),
  pubkey: refused("host-path", "it prints part of a private key of the host.", "There is no form of it for one lease."),
  sync: refused(
    "host-path",
    "it copies a build tree that a variable of the host names.",
    "Use `push` with the files that you mean.",
  ),

  // The device.
  abb: device("text"),
  backup: device("backup", "L"),
  bugreport: device("bugreport"),
  emu: device("emu"),
  "exec-in": device("exec", "S"),
  "exec-out": device("exec"),
  features: device("nothing"),
  forward: device("forward"),
  "get-devpath": device("nothing"),
  "get-serialno": device("nothing"),
  "get-state": device("nothing"),
  install: device("install"),
  "install-multi-package": device("install"),
  "install-multiple": device("install"),
  jdwp: device("nothing", "L"),
  logcat: device("logcat"),
  lolcat: device("logcat"),
  longcat: device("logcat"),
  ls: device("ls"),
  pull: device("pull"),
  push: device("push"),
  restore: device("restore", "L"),
  reverse: device("reverse"),
  shell: device("shell"),
  "track-app": device("track", "L"),
  "track-jdwp": device("nothing", "L"),
  "transport-id": device("nothing"),
  uninstall: device("uninstall"),
  ...waits(),

  // The device leaves, or comes back as another.
  "disable-verity": lifecycle("changes how the device boots"),
  "enable-verity": lifecycle("changes how the device boots"),
  reboot: lifecycle(REBOOTS),
  "reboot-bootloader": lifecycle(REBOOTS),
  "reboot-fastboot": lifecycle(REBOOTS),
  remount: lifecycle("may reboot the device"),
  rescue: lifecycle("needs the device in rescue mode"),
  root: lifecycle(RESTARTS_ADBD, "Use `shell su 0 COMMAND` where the image has su."),
  sideload: lifecycle("needs the device in recovery"),
  tcpip: lifecycle(RESTARTS_ADBD),
  unroot: lifecycle(RESTARTS_ADBD),
  usb: lifecycle(RESTARTS_ADBD),
};
