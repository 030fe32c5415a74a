import { refuse } from "./refusal.ts";
import type { Reading } from "./reading.ts";
import type { RefusalReason } from "./types.ts";

type ConsoleCommand = "open" | { readonly reason: RefusalReason; readonly why: string };

const ENDS_IT: ConsoleCommand = { reason: "lifecycle", why: "it ends, pauses or swaps the leased emulator." };
const WRITES: ConsoleCommand = { reason: "host-path", why: "the emulator writes or reads a file of the host for it." };
const OPENS: ConsoleCommand = { reason: "host-network", why: "it opens a socket of the host." };

/** The emulator console (AOSP, console.cpp), by its first word or its first two. A command that is not here is refused. */
const CONSOLE_COMMANDS: Readonly<Record<string, ConsoleCommand>> = {
  ...Object.fromEntries(
    ["avd heartbeat", "avd id", "avd name", "avd path", "avd status", "avd windowtype"]
      .concat("cdma", "event", "finger", "fold", "geo", "gsm", "help", "help-verbose", "multidisplay")
      .concat("network delay", "network speed", "network status", "physics get", "physics set", "physics status")
      .concat("ping", "power", "rotate", "sensor get", "sensor set", "sensor status", "sms", "unfold", "wifi")
      .map((words) => [words, "open" as const]),
  ),
  "avd pause": ENDS_IT,
  "avd resume": ENDS_IT,
  "avd snapshot": ENDS_IT,
  "avd start": ENDS_IT,
  "avd stop": ENDS_IT,
  crash: ENDS_IT,
  "crash-on-exit": ENDS_IT,
  kill: ENDS_IT,
  restart: ENDS_IT,
  grpc: OPENS,
  redir: OPENS,
  automation: WRITES,
  icebox: WRITES,
  "network capture": WRITES,
  "physics play": WRITES,
  "physics record": WRITES,
  screenrecord: WRITES,
  qemu: { reason: "host-exec", why: "the QEMU monitor can start programs on the host." },
};

/** The console forgets a line of 4,095 bytes and takes the rest for a command of its own; no command here needs a quarter of that. */
const LONGEST_LINE_BYTES = 1024;
const CONTROL = /\p{Cc}/u;

/**
 * adb joins the arguments with blanks and writes them raw to the console port, which it takes from the serial: what counts is the joined line,
 * parted by blanks as the console does it, not one argument and the next.
 */
export function readEmu(tokens: readonly string[], reading: Reading): readonly string[] {
  const { device } = reading.setting;
  if (!("serial" in device) || !/^emulator-\d+$/.test(device.serial)) {
    refuse("wrong-tool", "emu", "the leased device is no emulator with a console.", "Use `shell`.");
  }
  const control = tokens.find((token) => CONTROL.test(token));
  if (control !== undefined) {
    refuse("malformed", control, "a console line can't hold control characters.", "Send one command at a time.");
  }
  const line = tokens.join(" ");
  const bytes = Buffer.byteLength(line);
  if (bytes > LONGEST_LINE_BYTES) {
    refuse("malformed", "emu", `the line is ${bytes} bytes long; ${LONGEST_LINE_BYTES} is the most.`, "Shorten it.");
  }
  if (line.trim() === "" || line.startsWith(" ")) {
    refuse("malformed", "emu", "a console line starts with its command.", "For example `emu avd name`.");
  }
  checkCommand(line.split(" ").filter((word) => word !== ""));
  return tokens;
}

function checkCommand(words: readonly string[]): void {
  const one = words[0] ?? "";
  const two = words.slice(0, 2).join(" ");
  const name = [one, two].find((known) => Object.hasOwn(CONSOLE_COMMANDS, known));
  const command = name === undefined ? undefined : CONSOLE_COMMANDS[name];
  if (name === undefined || command === undefined) {
    const groups = Object.keys(CONSOLE_COMMANDS).some((known) => known.startsWith(`${one} `));
    return refuse(
      "unknown-verb",
      groups ? two : one,
      "the console has no such command that Simlock knows.",
      "See `emu help`.",
    );
  }
  if (command === "open") return;
  refuse(command.reason, name, command.why, "Release the lease and lease again, or see `emu help` for another way.");
}
