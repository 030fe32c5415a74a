import { operand, parseArguments } from "../arguments.ts";
import type { Call } from "../call.ts";
import { failure } from "../failure.ts";
import { runningDevice } from "../selection.ts";

/** Collects logs of the host: the virtual Mac has none, and a tool that gathers the real host's would be worse than none. */
export function diagnose(): never {
  throw failure("refused", { what: "diagnose", why: "there are no host logs to collect" });
}

/** A simulator that nobody signed in to iCloud on answers with an error; here nobody can sign in. */
export function icloudSync(call: Call, args: readonly string[]): never {
  runningDevice(call.set, operand(parseArguments("icloud_sync", args, {}), 0, "icloud_sync", "<device>"));
  throw failure("iCloud");
}

export function installAppData(call: Call, args: readonly string[]): never {
  runningDevice(
    call.set,
    operand(parseArguments("install_app_data", args, {}), 0, "install_app_data", "<device> <path>"),
  );
  throw failure("refused", {
    what: "install_app_data",
    why: "the format of an xcappdata package is not known well enough",
  });
}
