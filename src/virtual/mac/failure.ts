/**
 * Every way in which the stand-in says no, with the words and the exit code of the tool, where they come from, and how sure we are.
 * Scripts match these texts, so they are kept as they are, odd spacing and curly apostrophes included.
 *
 * Confidence: `reported` = several public bug reports show it; `single` = one report or one reading; `assumed` = ours, in the tool's style.
 */
type Confidence = "reported" | "single" | "assumed";

interface FailureKind {
  /** The error domain, where the tool prints its "An error was encountered" block; absent for a plain line. */
  readonly domain?: string;
  /** The code within the domain; the process exits with its low byte (405 becomes 149). Without a domain it is the exit code itself. */
  readonly code: number;
  /** The lines after the block's head. `{name}` is replaced. */
  readonly text: string;
  readonly confidence: Confidence;
  readonly source: string;
}

const SIM_ERROR = "com.apple.CoreSimulator.SimError";
const POSIX = "NSPOSIXErrorDomain";

const FAILURES = {
  wrongState: {
    domain: SIM_ERROR,
    code: 405,
    text: "Unable to {action} in current state: {state}",
    confidence: "reported",
    source: "bazelbuild/rules_apple 2597, okwasniewski/MiniSim 62",
  },
  invalidDevice: {
    code: 164,
    text: "Invalid device: {device}",
    confidence: "reported",
    source: "expo-cli 536; newer versions exit 148 with the same text",
  },
  invalidDeviceOrPair: {
    code: 164,
    text: "Invalid device or device pair: {device}",
    confidence: "reported",
    source: "Xcode 26.6 (text); the code as for invalidDevice",
  },
  noneBooted: {
    code: 149,
    text: "No devices are booted.",
    confidence: "single",
    source: "text from public logs, code by analogy with 405",
  },
  invalidDeviceType: { code: 161, text: "Invalid device type: {type}", confidence: "single", source: "public CI logs" },
  invalidRuntime: { code: 162, text: "Invalid runtime: {runtime}", confidence: "single", source: "public CI logs" },
  incompatibleDevice: {
    domain: SIM_ERROR,
    code: 403,
    text: "Incompatible device",
    confidence: "single",
    source: "public CI logs",
  },
  runtimeMissing: {
    domain: SIM_ERROR,
    code: 401,
    text: 'Unable to {action} because its runtime is not available: runtime profile not found using "System" match policy',
    confidence: "assumed",
    source: "the quoted part is the listing's own availabilityError",
  },
  noSuchFile: {
    domain: POSIX,
    code: 2,
    text: "The operation couldn’t be completed. No such file or directory\nNo such file or directory",
    confidence: "reported",
    source: "cargo-bundle 112, Detox 4096",
  },
  noBundle: {
    domain: POSIX,
    code: 2,
    text: "Simulator device failed to install the application.\nThe operation couldn’t be completed. No such file or directory\n\tFailed to find or access bundle at {path}.",
    confidence: "single",
    source: "cargo-bundle 112 (domain and code)",
  },
  badBundle: {
    domain: POSIX,
    code: 22,
    text: "Simulator device failed to install the application.\nFailed to load Info.plist from bundle at path {path}\n\t{why}",
    confidence: "single",
    source: "appium 10464 (domain and code)",
  },
  missingBundleId: {
    domain: "IXErrorDomain",
    code: 13,
    text: "Simulator device failed to install the application.\nMissing bundle ID.\n\tUnderlying error (domain=MIInstallerErrorDomain, code=12):\n\tFailed to get bundle ID from {path}",
    confidence: "reported",
    source: "React Native and Flutter reports of a broken build",
  },
  launchNotFound: {
    domain: "FBSOpenApplicationServiceErrorDomain",
    code: 4,
    text: 'Simulator device failed to launch {bundle}.\nThe request was denied by service delegate (SBMainWorkspace) for reason: NotFound ("Application info provider (FBSApplicationLibrary) returned nil for "{bundle}"").\nUnderlying error (domain=FBSOpenApplicationErrorDomain, code=4):\n\tThe operation couldn’t be completed. Application info provider (FBSApplicationLibrary) returned nil for "{bundle}"\n\tApplication info provider (FBSApplicationLibrary) returned nil for "{bundle}"',
    confidence: "reported",
    source: "public CI logs of Xcode 11 and later",
  },
  nothingToTerminate: {
    domain: POSIX,
    code: 3,
    text: "The operation couldn’t be completed. found nothing to terminate\nfound nothing to terminate",
    confidence: "reported",
    source: "Detox 3518",
  },
  notInstalled: {
    domain: POSIX,
    code: 2,
    text: "The operation couldn’t be completed. No such file or directory\nNo such file or directory",
    confidence: "reported",
    source: "get_app_container of an app that is not there, public logs",
  },
  cannotOpenUrl: {
    domain: "NSOSStatusErrorDomain",
    code: -10814,
    text: "Simulator device failed to open {url}.\nThe operation couldn’t be completed. (OSStatus error -10814.)",
    confidence: "reported",
    source: "public Expo reports (exit 194)",
  },
  invalidUrl: { code: 22, text: "Invalid URL: {url}", confidence: "assumed", source: "ours" },
  timedOut: {
    domain: POSIX,
    code: 60,
    text: "The operation couldn’t be completed. Operation timed out\nTimeout waiting for screen surfaces",
    confidence: "single",
    source: "a screen that is off: exit 60 after 61 s on Xcode 26",
  },
  recordingBusy: {
    domain: POSIX,
    code: 16,
    text: "The operation couldn’t be completed. Resource busy\nHost recording is already in progress",
    confidence: "single",
    source: "callstack/agent-device (exit 16); the last line is ours",
  },
  fileExists: {
    domain: POSIX,
    code: 17,
    text: "The operation couldn’t be completed. File exists\nThe file already exists; use --force to overwrite it: {path}",
    confidence: "assumed",
    source: "errno 17; the last line is ours",
  },
  cannotWrite: {
    domain: POSIX,
    code: 2,
    text: "The operation couldn’t be completed. No such file or directory\nError creating the image\n{path}: {why}",
    confidence: "assumed",
    source: "ours",
  },
  unsupportedImage: {
    code: 22,
    text: "Unsupported image type: {type}. The virtual Mac writes png, bmp and tiff.",
    confidence: "assumed",
    source: "ours: a limit of the virtual Mac, which has no JPEG encoder",
  },
  invalidPush: {
    code: 22,
    text: "Invalid push payload: {why}",
    confidence: "assumed",
    source: "ours; the size limit of 4096 bytes and the aps key are Apple's",
  },
  invalidMedia: {
    domain: "PHPhotosErrorDomain",
    code: 3302,
    text: "The operation couldn’t be completed. (PHPhotosErrorDomain error 3302.)",
    confidence: "single",
    source: "public reports of addmedia with a file that is no media",
  },
  invalidCertificate: {
    domain: "NSOSStatusErrorDomain",
    code: -25257,
    text: "Unable to add the certificate: {path} holds none, in PEM or DER.",
    confidence: "assumed",
    source: "errSecUnknownFormat; the text is ours",
  },
  invalidValue: { code: 22, text: "Invalid {what}: {value}", confidence: "assumed", source: "ours" },
  iCloud: {
    domain: "com.apple.CoreSimulator.SimError",
    code: 400,
    text: "iCloud sync failed: the device is not signed in to iCloud.",
    confidence: "assumed",
    source: "ours",
  },
  spawnNotFound: {
    domain: POSIX,
    code: 2,
    text: "The operation couldn’t be completed. No such file or directory\nNo such file or directory",
    confidence: "reported",
    source: "public logs of a program that is not there",
  },
  pairUnknown: { code: 164, text: "Invalid device pair: {pair}", confidence: "assumed", source: "ours" },
  pairWrong: {
    domain: SIM_ERROR,
    code: 403,
    text: "Incompatible devices: a pair is one Apple Watch and one iPhone, both unpaired with each other.",
    confidence: "assumed",
    source: "ours",
  },
  refused: {
    code: 1,
    text: "{what} is not available on the virtual Mac: {why}",
    confidence: "assumed",
    source: "ours: a limit of the virtual Mac",
  },
  usage: { code: 2, text: "{why}", confidence: "assumed", source: "a usage error's exit code is not recorded" },
  unknownVerb: {
    code: 2,
    text: "Unrecognized subcommand: {verb}\nusage: simctl [--set <path>] [--profiles <path>] <subcommand> ...\n       simctl help [subcommand]",
    confidence: "single",
    source: "public logs (text)",
  },
  utilityMissing: {
    code: 72,
    text: 'xcrun: error: unable to find utility "{tool}", not a developer tool or in PATH',
    confidence: "reported",
    source: "okwasniewski/MiniSim 134, expo-cli 2877",
  },
  notAMac: {
    code: 1,
    text: "xcrun: error: this is a virtual Mac, and SIMLOCK_VIRTUAL_MAC does not name its folder",
    confidence: "assumed",
    source: "ours",
  },
  badControl: {
    code: 1,
    text: "simctl: the virtual Mac's faults.json can't be used: {why}",
    confidence: "assumed",
    source: "ours",
  },
} as const satisfies Record<string, FailureKind>;

export type FailureName = keyof typeof FAILURES;

/** A call that ends with this exit code and these words on stderr. */
export class Failure extends Error {
  readonly exit: number;

  constructor(message: string, exit: number) {
    super(message);
    this.exit = exit;
  }
}

export function failure(name: FailureName, parts: Readonly<Record<string, string>> = {}): Failure {
  const kind: FailureKind = FAILURES[name];
  const text = kind.text.replace(/\{(\w+)\}/g, (whole, key: string) => parts[key] ?? whole);
  if (kind.domain === undefined) return new Failure(text, kind.code);
  const head = `An error was encountered processing the command (domain=${kind.domain}, code=${kind.code}):`;
  return new Failure(`${head}\n${text}`, kind.code & 0xff);
}
