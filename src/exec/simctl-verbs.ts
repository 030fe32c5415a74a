import type { SimctlForm, SimctlOperand, SimctlOption, SimctlVerb } from "./simctl-forms.ts";
import type { RefusalReason } from "./types.ts";

// The verbs of `simctl help` (Xcode 15 to 27), those with a help text that the list leaves out (bootstatus, pbinfo) included. Nobody here could run
// simctl: sources are public help texts, completions and bug reports.

const ARCHITECTURES = ["arm64", "x86_64"];
const arch: SimctlOption = { names: ["--arch"], value: "attached", words: ARCHITECTURES };
const waitForDebugger: SimctlOption = { names: ["-w", "--wait-for-debugger"] };
const checkedAllocations: SimctlOption = { names: ["--checked-allocations"] };
const verbose: SimctlOption = { names: ["-v"] };
const json: SimctlOption = { names: ["-j", "--json"] };

const bundle: SimctlOperand = { name: "BUNDLE_ID", is: "bundle" };
const readPath: SimctlOperand = { name: "PATH", is: "path", access: "read" };
const text = (name: string): SimctlOperand => ({ name, is: "text" });

const device = (form: SimctlForm = {}): SimctlVerb => ({ kind: "device", form });
const actions = (table: Readonly<Record<string, SimctlForm>>): SimctlVerb => ({ kind: "actions", actions: table });
const open = (form: SimctlForm = {}): SimctlVerb => ({ kind: "open", form });
const refused = (reason: RefusalReason, why: string, hint: string): SimctlVerb => ({
  kind: "refused",
  reason,
  why,
  hint,
});

const RELEASE_AND_LEASE =
  "Release the lease and lease again: every lease starts on an erased simulator of the model you ask for.";
const lifecycle = (does: string) =>
  refused("lifecycle", `it ${does}, and simulators are made, renamed and removed by Simlock alone.`, RELEASE_AND_LEASE);

const imageOptions: readonly SimctlOption[] = [
  { names: ["--display"], value: "either" },
  { names: ["--mask"], value: "either" },
];

const statusBarPairs: readonly SimctlOption[] = [
  "--time",
  "--dataNetwork",
  "--wifiMode",
  "--wifiBars",
  "--cellularMode",
  "--cellularBars",
  "--operatorName",
  "--batteryState",
  "--batteryLevel",
].map((name) => ({ names: [name], value: "separate" }));

export const SIMCTL_VERBS: Readonly<Record<string, SimctlVerb>> = {
  addmedia: device({ operands: [{ ...readPath, many: true }] }),
  appinfo: device({ operands: [bundle] }),
  boot: device({
    options: [
      arch,
      { names: ["--disabledJob", "-disabledJob"], value: "attached" },
      { names: ["--enabledJob", "-enabledJob"], value: "attached" },
      checkedAllocations,
    ],
    flags: ["Y"],
  }),
  bootstatus: device({
    options: [{ names: ["-b"], flags: ["Y"] }, { names: ["-c"], flags: ["L"] }, { names: ["-d"] }],
    grouped: true,
  }),
  clone: lifecycle("makes another simulator"),
  create: lifecycle("makes another simulator"),
  darwinup: refused(
    "host-wide",
    "it changes the roots of the Mac's runtimes.",
    "There is no form of it for one lease.",
  ),
  delete: lifecycle("removes simulators"),
  diagnose: refused(
    "host-wide",
    "it gathers logs of the whole Mac and of every booted simulator.",
    "Read this simulator's own log: `spawn log show --last 5m`.",
  ),
  erase: lifecycle("erases a simulator that Simlock keeps a record of"),
  get_app_container: device({ operands: [bundle, { ...text("app, data, groups or a group"), optional: true }] }),
  getenv: device({ operands: [text("NAME")] }),
  help: open({ operands: [{ ...text("VERB"), optional: true }] }),
  icloud_sync: device(),
  install: device({ operands: [readPath], flags: ["X"] }),
  install_app_data: device({ operands: [readPath] }),
  io: actions({
    enumerate: { options: [{ names: ["--poll"], flags: ["L"] }] },
    poll: { flags: ["L"] },
    recordVideo: {
      options: [{ names: ["--codec"], value: "either" }, ...imageOptions, { names: ["--force"] }],
      operands: [{ name: "FILE", is: "path", access: "write", url: true }],
      flags: ["I", "L"],
    },
    screenConfig: {
      operands: [
        { name: "power or geometry", is: "word", words: ["power", "geometry"] },
        text("on, off, or WIDTHxHEIGHT"),
      ],
    },
    screenshot: {
      options: [{ names: ["--type"], value: "either" }, ...imageOptions],
      operands: [{ name: "FILE", is: "path", access: "write", url: true, dash: "stdout" }],
    },
  }),
  keychain: actions({ "add-cert": { operands: [readPath] }, "add-root-cert": { operands: [readPath] }, reset: {} }),
  launch: device({
    options: [
      waitForDebugger,
      { names: ["--console"], flags: ["L"] },
      { names: ["--console-pty"], flags: ["L"] },
      { names: ["--stdout"], value: "attached", writes: true },
      { names: ["--stderr"], value: "attached", writes: true },
      { names: ["--terminate-running-process"] },
      arch,
      checkedAllocations,
    ],
    side: "before",
    operands: [bundle],
    rest: true,
    flags: ["X"],
  }),
  list: open({
    options: [
      json,
      verbose,
      { names: ["-e", "--no-escape-slashes"] },
      { names: ["--json-output"], value: "attached", writes: true },
      {
        names: ["--json-fd"],
        value: "attached",
        refused: {
          reason: "host-path",
          why: "it writes to an open file of the process, which can't be checked.",
          hint: "Use `list -j`: the JSON comes on standard output.",
        },
      },
    ],
    operands: [
      {
        name: "devices, devicetypes, runtimes or pairs",
        is: "word",
        words: ["devices", "devicetypes", "runtimes", "pairs"],
        optional: true,
      },
      { ...text("SEARCH"), optional: true },
    ],
  }),
  listapps: device({ options: [json], side: "before" }),
  location: actions({
    clear: {},
    list: {},
    run: { operands: [text("SCENARIO")] },
    set: { operands: [{ name: "LATITUDE,LONGITUDE", is: "coordinates" }] },
    start: {
      options: ["--speed", "--distance", "--interval"].map((name) => ({ names: [name], value: "attached" })),
      operands: [{ name: "LATITUDE,LONGITUDE", is: "coordinates", many: true, dash: "stdin" }],
    },
  }),
  logverbose: actions({ disable: {}, enable: {} }),
  openurl: device({ operands: [text("URL")] }),
  pair: lifecycle("pairs simulators"),
  pair_activate: lifecycle("changes which pair is active"),
  pbcopy: device({ options: [verbose], side: "before", takesStdin: true }),
  pbinfo: device({ options: [verbose], side: "before" }),
  pbpaste: device({ options: [verbose], side: "before" }),
  pbsync: refused(
    "other-device",
    "it needs a second clipboard, another device's or the Mac's own.",
    "Set this simulator's clipboard with `pbcopy` and `stdin`, read it with `pbpaste`.",
  ),
  personalization: refused(
    "host-wide",
    "it acts on the runtimes of the Mac, which all simulators share.",
    "There is no form of it for one lease.",
  ),
  privacy: actions(
    Object.fromEntries(
      ["grant", "reset", "revoke"].map((action) => [
        action,
        { operands: [text("SERVICE"), { ...bundle, optional: true }] },
      ]),
    ),
  ),
  push: device({
    operands: [
      { ...bundle, optional: true },
      { ...readPath, dash: "stdin" },
    ],
  }),
  reboot: device({ flags: ["Y"] }),
  rename: lifecycle("renames a simulator, and a name can be another one's id"),
  runtime: { kind: "runtime" },
  shutdown: device({ flags: ["Y"] }),
  spawn: device({
    options: [
      waitForDebugger,
      { names: ["-s", "--standalone"] },
      { names: ["-a"], value: "separate", words: ARCHITECTURES, writtenAs: "--arch" },
      arch,
      checkedAllocations,
    ],
    side: "before",
    operands: [text("PROGRAM")],
    rest: true,
    flags: ["X"],
  }),
  status_bar: actions({ clear: {}, list: {}, override: { options: statusBarPairs, needsOption: true } }),
  terminate: device({ operands: [bundle] }),
  ui: actions({
    appearance: { operands: [{ ...text("light or dark"), optional: true }] },
    content_size: { operands: [{ ...text("SIZE"), optional: true }] },
    increase_contrast: { operands: [{ ...text("enabled or disabled"), optional: true }] },
  }),
  uninstall: device({ operands: [bundle] }),
  unpair: lifecycle("takes a pair of simulators apart"),
  upgrade: lifecycle("moves a simulator to another runtime"),
};

/** `runtime` acts on disk images that all simulators of the Mac share: only its listings are let through. */
export const RUNTIME_LISTINGS: Readonly<Record<string, SimctlForm>> = {
  list: { options: [verbose, json] },
  "match list": { options: [verbose, json] },
};

export const RUNTIME_CHANGES: readonly string[] = [
  "add",
  "delete",
  "dyld_shared_cache",
  "match",
  "scan-and-mount",
  "unmount",
  "verify",
];
