import { refuse } from "./refusal.ts";

/** Tokens that adb takes in its loop over global options and goes on reading: `nodaemon -s OTHER shell` runs on OTHER (seen with 29 and 34). */
const SERVER_TOKENS = new Set(["-a", "-L", "--one-device", "--reply-fd", "server", "nodaemon", "fork-server"]);

/**
 * Reads what stands in front of the verb by adb's own loop, and gives what is left. Only the leased serial, byte for byte, is let through: adb takes a
 * serial without its port, `model:…` and others for it too.
 */
export function readGlobals(args: readonly string[], serial: string): readonly string[] {
  let rest = args;
  for (;;) {
    const [token, value, ...others] = rest;
    if (token === undefined) return rest;
    if (token === "-s") {
      if (value === undefined) refuse("malformed", token, "its serial is missing.", LEAVE_OUT);
      if (value !== serial) notLeased(value);
      rest = others;
    } else if (/^-s\d/.test(token)) {
      // adb takes an attached serial only where it starts with a digit.
      if (token.slice(2) !== serial) notLeased(token);
      rest = rest.slice(1);
    } else {
      checkToken(token);
      return rest;
    }
  }
}

const LEAVE_OUT = "Leave it out: Simlock fills the leased device in.";

function notLeased(token: string): never {
  refuse("other-device", token, "it is not the leased device's serial.", LEAVE_OUT);
}

/** Whatever is left in front must be the verb. */
function checkToken(token: string): void {
  if (token === "-d" || token === "-e" || token.startsWith("-t")) {
    // -t beats -s; -d and -e pick by kind. None of them is the name of a device.
    refuse("device-selector", token, "it picks a device by something other than its serial.", LEAVE_OUT);
  }
  if (SERVER_TOKENS.has(token) || /^-[HP]/.test(token)) {
    refuse("server", token, "it names or changes the adb server.", "Leave it out: Simlock knows the server.");
  }
  if (token.startsWith("-") && token !== "--help" && token !== "--version") {
    refuse(
      "unknown-option",
      token,
      "it is no option that may stand in front of a verb.",
      "Start with the verb: see `adb help`.",
    );
  }
}
