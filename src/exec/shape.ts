import { refuse } from "./refusal.ts";

/** Linux gives E2BIG for one argument of 131,072 bytes, its end counted. */
const LONGEST_ARGUMENT_BYTES = 131_071;
/** macOS has 1 MiB for arguments and environment together. */
const LONGEST_COMMAND_BYTES = 512 * 1024;

/** What no tool could be handed as it was written, whatever its grammar. */
export function checkShape(args: readonly string[]): void {
  let total = 0;
  for (const arg of args) {
    // spawn throws on NUL, and silently writes U+FFFD for half a surrogate pair: another string than the one decided on.
    if (arg.includes("\0")) refuse("malformed", arg, "an argument can't hold NUL.", "Leave the NUL character out.");
    if (!arg.isWellFormed()) {
      refuse("malformed", arg, "it holds half of a surrogate pair.", "Send well-formed Unicode text.");
    }
    const bytes = Buffer.byteLength(arg);
    if (bytes > LONGEST_ARGUMENT_BYTES) {
      refuse(
        "malformed",
        arg,
        `one argument is ${bytes} bytes long; ${LONGEST_ARGUMENT_BYTES} is the most.`,
        AS_A_FILE,
      );
    }
    total += bytes + 1;
    if (total > LONGEST_COMMAND_BYTES) {
      refuse("malformed", arg, `the arguments are over ${LONGEST_COMMAND_BYTES} bytes in all.`, AS_A_FILE);
    }
  }
}

const AS_A_FILE = "Hand long input over as a file, or as `stdin`.";
