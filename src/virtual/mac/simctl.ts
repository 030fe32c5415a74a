import { setTimeout as sleep } from "node:timers/promises";
import { openCall } from "./call.ts";
import type { Call, Verb } from "./call.ts";
import type { Fault } from "./control.ts";
import { Failure, failure } from "./failure.ts";
import { claimFaults } from "./faults.ts";
import type { ReadControl } from "./faults.ts";
import type { Outside } from "./outside.ts";
import { paceOf } from "./pace.ts";

/** Each verb is loaded when it is called: a listing, the most frequent call, starts with a handful of small files. */
const VERBS: Readonly<Record<string, () => Promise<Verb>>> = {
  addmedia: async () => (await import("./verbs/media.ts")).addmedia,
  appinfo: async () => (await import("./verbs/app-facts.ts")).appinfo,
  boot: async () => (await import("./verbs/boot.ts")).boot,
  bootstatus: async () => (await import("./verbs/bootstatus.ts")).bootstatus,
  clone: async () => (await import("./verbs/make.ts")).clone,
  create: async () => (await import("./verbs/make.ts")).create,
  delete: async () => (await import("./verbs/remove.ts")).remove,
  diagnose: async () => (await import("./verbs/refused.ts")).diagnose,
  erase: async () => (await import("./verbs/remove.ts")).erase,
  get_app_container: async () => (await import("./verbs/app-facts.ts")).getAppContainer,
  getenv: async () => (await import("./verbs/environment.ts")).getenv,
  help: async () => (await import("./verbs/help.ts")).help,
  icloud_sync: async () => (await import("./verbs/refused.ts")).icloudSync,
  install: async () => (await import("./verbs/install.ts")).install,
  install_app_data: async () => (await import("./verbs/refused.ts")).installAppData,
  io: async () => (await import("./verbs/io.ts")).io,
  keychain: async () => (await import("./verbs/keychain.ts")).keychain,
  launch: async () => (await import("./verbs/launch.ts")).launch,
  list: async () => (await import("./verbs/list.ts")).list,
  listapps: async () => (await import("./verbs/app-facts.ts")).listapps,
  location: async () => (await import("./verbs/location.ts")).location,
  logverbose: async () => (await import("./verbs/environment.ts")).logverbose,
  openurl: async () => (await import("./verbs/openurl.ts")).openurl,
  pair: async () => (await import("./verbs/pairs.ts")).pair,
  pair_activate: async () => (await import("./verbs/pairs.ts")).pairActivate,
  pbcopy: async () => (await import("./verbs/pasteboard.ts")).pbcopy,
  pbinfo: async () => (await import("./verbs/pasteboard.ts")).pbinfo,
  pbpaste: async () => (await import("./verbs/pasteboard.ts")).pbpaste,
  pbsync: async () => (await import("./verbs/pasteboard.ts")).pbsync,
  privacy: async () => (await import("./verbs/privacy.ts")).privacy,
  push: async () => (await import("./verbs/push.ts")).push,
  rename: async () => (await import("./verbs/make.ts")).rename,
  runtime: async () => (await import("./verbs/runtime.ts")).runtime,
  shutdown: async () => (await import("./verbs/shutdown.ts")).shutdown,
  spawn: async () => (await import("./verbs/spawn.ts")).spawn,
  status_bar: async () => (await import("./verbs/status-bar.ts")).statusBar,
  terminate: async () => (await import("./verbs/launch.ts")).terminate,
  ui: async () => (await import("./verbs/ui.ts")).ui,
  uninstall: async () => (await import("./verbs/install.ts")).uninstall,
  unpair: async () => (await import("./verbs/pairs.ts")).unpair,
  upgrade: async () => (await import("./verbs/make.ts")).upgrade,
};

/** Runs one `simctl …` and ends with its exit code. Throws `Failure`. */
export async function simctl(
  root: string,
  read: ReadControl,
  argv: readonly string[],
  outside: Outside,
): Promise<number> {
  const { setWord, words } = globalsOf(argv);
  const faults = claimFaults(root, read, words);
  const some = <K extends keyof Fault>(key: K) => faults.find((fault) => fault[key] !== undefined)?.[key];
  const kill = some("kill");
  const failAfter = some("failAfter");
  const fail = some("fail");

  for (const { noise } of faults) {
    if (noise?.stdout !== undefined) outside.out(noise.stdout);
    if (noise?.stderr !== undefined) outside.err(noise.stderr);
  }
  if (kill === "before") killMyself();
  const wait = faults.reduce((sum, fault) => sum + (fault.delayMs ?? 0), paceOf(read.control, "*"));
  if (wait > 0) await sleep(wait);
  if (some("hang") === true) return hang();
  if (fail !== undefined) {
    if (fail.stdout !== undefined) outside.out(fail.stdout);
    if (fail.stderr !== undefined) outside.err(fail.stderr);
    return fail.exit;
  }

  const call = openCall({
    outside,
    root,
    setWord,
    control: read.control,
    boot: some("boot"),
    committed: () => {
      if (kill === "during") killMyself();
    },
  });
  // What would be said is held back where the call is killed, or fails, after it did its work.
  const quiet = kill === "after" || failAfter !== undefined;
  const exit = await run(quiet ? silenced(call) : call, words).finally(() => call.close());
  if (kill === "after") killMyself();
  if (failAfter === undefined) return exit;
  if (failAfter.stderr !== undefined) outside.err(failAfter.stderr);
  return failAfter.exit;
}

async function run(call: Call, words: readonly string[]): Promise<number> {
  const [name, ...args] = words;
  if (name === undefined) {
    const { usage } = await import("./verbs/help.ts");
    throw failure("usage", { why: usage() });
  }
  const load = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  if (load === undefined) throw failure("unknownVerb", { verb: name });
  const verb = await load();
  try {
    return (await verb(call, args)) ?? 0;
  } catch (error) {
    // A file that the caller named and that can't be used is the caller's mistake, told with its errno, as simctl does.
    if (error instanceof Error && !(error instanceof Failure) && "errno" in error && typeof error.errno === "number") {
      throw new Failure(
        `An error was encountered processing the command (domain=NSPOSIXErrorDomain, code=${-error.errno}):\n${error.message}`,
        -error.errno & 0xff,
      );
    }
    throw error;
  }
}

/** `simctl [--set PATH] [--profiles PATH] VERB …`, the values attached or separate. */
function globalsOf(argv: readonly string[]): {
  readonly setWord: string | undefined;
  readonly words: readonly string[];
} {
  let setWord: string | undefined;
  let at = 0;
  for (; at < argv.length; at++) {
    const word = argv[at] ?? "";
    const match = /^--?(set|profiles)(?:=([\s\S]*))?$/.exec(word);
    if (match === null) break;
    const value = match[2] ?? argv[++at];
    if (value === undefined || value === "") throw failure("usage", { why: `${word} needs a path` });
    if (match[1] === "set") setWord = value;
  }
  const words = argv.slice(at);
  if (words[0] === "--help" || words[0] === "-h") return { setWord, words: ["help", ...words.slice(1)] };
  if (words[0] === "--version") return { setWord, words: ["help", "--version"] };
  if (words[0]?.startsWith("-") === true) throw failure("usage", { why: `Unrecognized option: ${words[0]}` });
  return { setWord, words };
}

function silenced(call: Call): Call {
  return Object.defineProperties(Object.create(call), { out: { value: () => {} }, err: { value: () => {} } });
}

function killMyself(): never {
  process.kill(process.pid, "SIGKILL");
  // The signal may be a moment on its way; nothing may happen meanwhile.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
}

async function hang(): Promise<never> {
  for (;;) await sleep(3_600_000);
}
