import { firstLines } from "../../exec/index.ts";
import { LIMITS } from "./simctl.ts";
import type { Simulators } from "./simulators.ts";

const DISPLAY_CHECKS = 5;
const DISPLAY_PAUSE_MS = 1_000;

type Display = { readonly kind: "shown" } | { readonly kind: "missing"; readonly why: string };

/** Whether the booted device has a screen, looked at a few times: it may come a little after the state. */
export async function displayOf(simulators: Simulators, udid: string, signal: AbortSignal): Promise<Display> {
  for (let check = 1; ; check += 1) {
    const display = await enumerate(simulators, udid, signal);
    if (display.kind === "shown" || check === DISPLAY_CHECKS) return display;
    await simulators.clock.sleep(DISPLAY_PAUSE_MS, signal);
  }
}

async function enumerate(simulators: Simulators, udid: string, signal: AbortSignal): Promise<Display> {
  const outcome = await simulators.simctl.attempt(["io", udid, "enumerate"], { timeoutMs: LIMITS.enumerate, signal });
  if (outcome.kind === "no-answer") return { kind: "missing", why: "`simctl io enumerate` gets no answer from it" };
  const { answer } = outcome;
  if (answer.exitCode === 0) {
    return showsDisplay(answer.stdout)
      ? { kind: "shown" }
      : { kind: "missing", why: "`simctl io enumerate` shows no display" };
  }
  // A simctl that does not know the question can't answer it: then the listing's word must do.
  if (/unrecognized|unknown|usage:/i.test(`${answer.stderr}${answer.stdout}`)) {
    simulators.log("info", "This simctl can't list a device's displays", { udid });
    return { kind: "shown" };
  }
  return { kind: "missing", why: `\`simctl io enumerate\` fails: ${firstLines(answer)}` };
}

/** A port of the class of displays, such as `com.apple.framebuffer.display`. */
function showsDisplay(ports: string): boolean {
  return /\bframebuffer\b|\bdisplay\b/i.test(ports);
}
