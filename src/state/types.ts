/**
 * The data of simulator state: what a profile asks for, what a device was seen to have, what differs, what would be done about it, and what was done.
 * Shapes that `awesome-ios-sim/v1alpha1` names are kept exactly; everything else is optional beside them. An unset optional field is left out, never
 * null, except a preference's value.
 */

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

// ---- What is asked for ----

export type ApiVersion = "awesome-ios-sim/v1alpha1" | "simlock/v1";

export type DesiredPower = "booted" | "shutdown" | "unchanged";

/** A key whose value is null is deleted. */
export type PreferenceValue = null | boolean | number | string | readonly (boolean | number | string)[];

export interface DesiredApplication {
  readonly bundleIdentifier: string;
  /** The `.app` on this host. */
  readonly sourcePath?: string;
  readonly presence: "present" | "absent";
  /** Unset: no opinion. */
  readonly running?: boolean;
  readonly launchArguments: readonly string[];
  /** simlock/v1. Reaches the app as its environment. */
  readonly launchEnvironment?: Readonly<Record<string, string>>;
  /** simlock/v1. When an app that is already there is installed anew; `ifChanged` compares the bundle's version and build. Default `ifChanged`. */
  readonly install?: "ifMissing" | "ifChanged" | "always";
  /** simlock/v1. Its launch arguments and environment are masked wherever they are shown. */
  readonly sensitive?: boolean;
}

export interface DesiredPreference {
  readonly domain: string;
  readonly key: string;
  readonly value: PreferenceValue;
  /** simlock/v1. Its value is masked wherever it is shown. */
  readonly sensitive?: boolean;
}

/** The keys of `simctl status_bar override`, with its words. */
export interface StatusBar {
  readonly time?: string;
  readonly dataNetwork?: "hide" | "wifi" | "3g" | "4g" | "lte" | "lte-a" | "lte+" | "5g" | "5g+" | "5g-uwb" | "5g-uc";
  readonly wifiMode?: "searching" | "failed" | "active";
  /** 0 to 3. */
  readonly wifiBars?: number;
  readonly cellularMode?: "notSupported" | "searching" | "failed" | "active";
  /** 0 to 4. */
  readonly cellularBars?: number;
  readonly operatorName?: string;
  readonly batteryState?: "charging" | "charged" | "discharging";
  /** 0 to 100. */
  readonly batteryLevel?: number;
}

export type ContentSize =
  | "extra-small"
  | "small"
  | "medium"
  | "large"
  | "extra-large"
  | "extra-extra-large"
  | "extra-extra-extra-large"
  | "accessibility-medium"
  | "accessibility-large"
  | "accessibility-extra-large"
  | "accessibility-extra-extra-large"
  | "accessibility-extra-extra-extra-large";

export interface Localization {
  /** In the order of preference, as `AppleLanguages` takes them: `de-DE`. */
  readonly languages?: readonly string[];
  /** `AppleLocale`: `de_DE`. */
  readonly locale?: string;
  /** An IANA name. */
  readonly timeZone?: string;
  readonly use24HourClock?: boolean;
}

export interface PrivacyAccess {
  /** A service of `simctl privacy`. */
  readonly service: string;
  readonly bundleIdentifier: string;
  /** `unset`: the app asks again. */
  readonly access: "granted" | "denied" | "unset";
}

export interface Coordinates {
  readonly latitude: number;
  readonly longitude: number;
}

/** A point, a route that is driven along, or none. */
export type DesiredLocation =
  | { readonly point: Coordinates }
  | {
      readonly route: {
        /** At least two. */
        readonly points: readonly Coordinates[];
        readonly speedMetersPerSecond?: number;
        readonly distanceMeters?: number;
        readonly intervalSeconds?: number;
      };
    }
  | { readonly clear: true };

export interface PushFixture {
  readonly bundleIdentifier: string;
  /** An object with `aps`, at most 4096 bytes as JSON. */
  readonly payload: { readonly [key: string]: JsonValue };
}

/** What a device should be like, with every default filled in. The first five are v1alpha1's; the rest is `simlock/v1`. */
export interface DesiredState {
  readonly power: DesiredPower;
  readonly eraseBeforeApply: boolean;
  readonly applications: readonly DesiredApplication[];
  readonly preferences: readonly DesiredPreference[];
  readonly statusBar?: StatusBar;
  readonly appearance?: "light" | "dark";
  readonly increaseContrast?: boolean;
  readonly contentSize?: ContentSize;
  readonly localization?: Localization;
  readonly privacy?: readonly PrivacyAccess[];
  readonly location?: DesiredLocation;
  readonly pasteboard?: string;
  /** Files on this host that are added to the photo library. */
  readonly media?: readonly string[];
  /** Certificate files on this host that the device trusts as roots. */
  readonly rootCertificates?: readonly string[];
  readonly push?: readonly PushFixture[];
  /** Opened last, once everything else is in place. */
  readonly openURL?: string;
  /** Which of these hold a secret: they are masked wherever they are shown. */
  readonly sensitive?: readonly SensitiveField[];
}

export type SensitiveField = "pasteboard" | "push" | "openURL";

/** Every given field must hold. In v1alpha1 each is compared exactly. */
export interface Target {
  readonly udid?: string;
  readonly name?: string;
  /** A runtime's identifier; simlock/v1 also takes a name or version (`iOS 26.1`, `26.1`) and `latest`. */
  readonly runtime?: string;
  /** simlock/v1. A device type's name or identifier. */
  readonly deviceType?: string;
  /** simlock/v1. Make the device when none fits; takes `name` and `deviceType`. */
  readonly create?: boolean;
  /** simlock/v1. Make it as a copy of this one when none fits. */
  readonly cloneFrom?: { readonly udid?: string; readonly name?: string };
}

/** A profile for one device: decoded, composed, and with its defaults filled in. */
export interface Profile {
  readonly apiVersion: ApiVersion;
  readonly kind: "SimulatorState";
  readonly metadata: { readonly name: string; readonly description?: string };
  readonly target: Target;
  readonly spec: DesiredState;
}

// ---- What a layer says ----

/** `fields` lays only the fields that are given over the entry that is there; otherwise the entry is replaced whole. */
export type LayerApplication =
  | (DesiredApplication & { readonly merge?: "replace" })
  | (Pick<DesiredApplication, "bundleIdentifier"> & Partial<DesiredApplication> & { readonly merge: "fields" });

/** What a layer takes back of the documents before it. Happens before the layer's own values are laid over. */
export interface Removal {
  readonly applications?: readonly string[];
  readonly preferences?: readonly Pick<DesiredPreference, "domain" | "key">[];
  readonly privacy?: readonly Pick<PrivacyAccess, "service" | "bundleIdentifier">[];
  readonly statusBar?: readonly (keyof StatusBar)[];
  readonly localization?: readonly (keyof Localization)[];
  /** Whole fields: what was said of them is forgotten. */
  readonly fields?: readonly StateField[];
}

export type StateField = Exclude<keyof DesiredState, "sensitive">;

/** A field that is left out has no opinion. */
export interface LayerSpec extends Partial<Omit<DesiredState, "applications">> {
  readonly applications?: readonly LayerApplication[];
  /** simlock/v1. */
  readonly remove?: Removal;
}

export interface Layer {
  readonly apiVersion: ApiVersion;
  readonly kind: "SimulatorStateLayer";
  readonly metadata: { readonly name: string; readonly description?: string };
  readonly spec: LayerSpec;
}

// ---- What is there ----

export type DeviceState = "Booted" | "Shutdown" | "Creating" | "Unknown";

export interface InventoryDevice {
  readonly udid: string;
  readonly name: string;
  readonly state: DeviceState;
  readonly runtimeIdentifier: string;
  readonly isAvailable: boolean;
  readonly dataPath?: string;
  /** Beyond v1alpha1. */
  readonly deviceTypeIdentifier?: string;
  /** Beyond v1alpha1: why it is not available. */
  readonly availabilityError?: string;
}

export interface InventoryRuntime {
  readonly identifier: string;
  readonly name: string;
  readonly version?: string;
  readonly isAvailable: boolean;
}

/** Runtimes by identifier; devices by runtime, name and UDID. */
export interface Inventory {
  readonly generatedAt: string;
  readonly developerDirectory?: string;
  readonly runtimes: readonly InventoryRuntime[];
  readonly devices: readonly InventoryDevice[];
  /** Beyond v1alpha1: what can be created. */
  readonly deviceTypes?: readonly { readonly identifier: string; readonly name: string }[];
}

export interface ObservedApplication {
  readonly bundleIdentifier: string;
  readonly bundlePath?: string;
  /** Left out where running apps could not be read. */
  readonly running?: boolean;
  /** Beyond v1alpha1: what tells one build from another. */
  readonly version?: string;
  readonly build?: string;
  /** Beyond v1alpha1: `User`, `System`, … as the device says. */
  readonly type?: string;
}

export interface ObservedPreference {
  readonly domain: string;
  readonly key: string;
  /**
   * What JSON has no form for is `{"$data": base64}`, `{"$date": ISO 8601}`, `{"$integer": digits}` beyond 2^53, and `{"$real": "nan" | "inf" | "-inf"}`.
   * A whole real is the same number as the integer.
   */
  readonly value: JsonValue;
}

export interface ObservedPrivacy {
  readonly service: string;
  readonly bundleIdentifier: string;
  /** `limited`: some of it, as for selected photos. */
  readonly access: "granted" | "denied" | "limited";
}

/**
 * What a read of a device found. A field that is not here was not read, or the device has none: `capabilities` tells which. In a readable section
 * what is not listed is not there; in one that could not be read nothing is known.
 */
export interface ObservedState {
  readonly power: "booted" | "shutdown";
  readonly applications: readonly ObservedApplication[];
  readonly preferences: readonly ObservedPreference[];
  /** Beyond v1alpha1: the domains that were read whole. A key of one of them that is not listed is not set; any other domain is unknown. */
  readonly preferenceDomains?: readonly string[];
  /** With the overrides that are set; no key when none is. Left out when it was not read. */
  readonly statusBar?: StatusBar;
  /** Beyond v1alpha1: keys of `statusBar` that may not be set. Beside a key that is set simctl prints one that is not as 0, its word for the first value. */
  readonly statusBarUncertain?: readonly (keyof StatusBar)[];
  readonly appearance?: "light" | "dark" | "unsupported" | "unknown";
  readonly increaseContrast?: boolean;
  readonly contentSize?: string;
  readonly localization?: Localization;
  readonly privacy?: readonly ObservedPrivacy[];
  /** The services that were read. An app that `privacy` does not list for one of them has neither access nor a denial; any other service is unknown. */
  readonly privacyServices?: readonly string[];
  readonly pasteboard?: string;
}

/** The names of what a device can be asked for: `power`, `applications`, `preferences`, `statusBar` and simlock/v1's own fields. */
export type CapabilityName = Exclude<keyof DesiredState, "eraseBeforeApply" | "sensitive"> | "running";

export interface Capability {
  readonly support: "exact" | "bestEffort" | "unsupported";
  readonly readable: boolean;
  readonly writable: boolean;
  readonly note?: string;
}

export interface Snapshot {
  readonly apiVersion: "awesome-ios-sim/snapshot-v1alpha1";
  readonly generatedAt: string;
  readonly device: InventoryDevice;
  readonly state: ObservedState;
  readonly capabilities: Readonly<Partial<Record<CapabilityName, Capability>>>;
}

// ---- What differs, and what would be done ----

export interface DiffEntry {
  /** `spec.power`, `spec.applications[com.acme.demo].running`, `spec.preferences[com.acme.demo.seen]`, … */
  readonly path: string;
  /** `unknown`: what is there could not be read, so it counts neither as equal nor as different. */
  readonly kind: "add" | "change" | "remove" | "unsupported" | "unknown";
  readonly current?: JsonValue;
  readonly desired?: JsonValue;
  readonly note?: string;
  /** Beyond v1alpha1: the values are secrets, and are masked wherever the entry is shown. */
  readonly sensitive?: true;
}

export interface StateDiff {
  readonly profileName: string;
  readonly targetUDID: string;
  /** Whether any entry is one that an apply can settle: what no device ever tells (a location, certificates) is in the diff each time. */
  readonly hasChanges: boolean;
  readonly diff: readonly DiffEntry[];
  readonly warnings: readonly string[];
}

export type Risk = "readOnly" | "reversible" | "destructive";

export type OperationAction =
  | "createDevice"
  | "erase"
  | "boot"
  | "shutdown"
  | "installApplication"
  | "uninstallApplication"
  | "launchApplication"
  | "terminateApplication"
  | "setPreference"
  | "setStatusBar"
  | "setAppearance"
  | "setIncreaseContrast"
  | "setContentSize"
  | "setLocalization"
  | "setPrivacy"
  | "setLocation"
  | "setPasteboard"
  | "addMedia"
  | "addRootCertificate"
  | "sendPush"
  | "openURL";

export interface Operation {
  /** `004-setPreference`: its place in the plan, from 1, and what it does. */
  readonly id: string;
  readonly action: OperationAction;
  readonly targetUDID: string;
  readonly arguments: { readonly [name: string]: JsonValue };
  readonly risk: Risk;
  readonly requiresConfirmation: boolean;
  readonly reason: string;
}

export interface Plan {
  readonly profileName: string;
  readonly targetUDID: string;
  readonly generatedAt: string;
  readonly diff: readonly DiffEntry[];
  readonly operations: readonly Operation[];
  readonly warnings: readonly string[];
  /** Beyond v1alpha1: `sha256:…` of the facts that the plan rests on, as read when it was made. */
  readonly factsDigest?: string;
  /** Beyond v1alpha1: `sha256:…` of the plan itself, by which it can be named. */
  readonly digest?: string;
}

// ---- What was done ----

export interface Receipt {
  readonly operationID: string;
  readonly action: OperationAction;
  readonly targetUDID: string;
  /** Whole command lines, each beginning `xcrun simctl`. Secrets are masked. */
  readonly commands: readonly (readonly string[])[];
  readonly exitCode: number;
  readonly standardOutput: string;
  readonly standardError: string;
  readonly startedAt: string;
  readonly finishedAt: string;
  /** Beyond v1alpha1. `satisfied`: it was already so. `planned`: a dry run's. `undone`: taken back after a failure. */
  readonly outcome?: "done" | "satisfied" | "failed" | "skipped" | "planned" | "undone";
  readonly note?: string;
}

export interface FieldVerdict {
  readonly path: string;
  readonly verdict: "satisfied" | "different" | "unknown" | "unsupported";
  readonly note?: string;
}

export interface ExecutionReport {
  readonly plan: Plan;
  readonly status: "dryRun" | "succeeded" | "failed";
  readonly receipts: readonly Receipt[];
  readonly failure?: string;
  /** Beyond v1alpha1: what a fresh read after the last operation found, for each field that the plan was about. */
  readonly verification?: readonly FieldVerdict[];
  /** Beyond v1alpha1: names the journal, for `--resume` and `--rollback`. */
  readonly journal?: string;
  /** Beyond v1alpha1: the device that the plan made. */
  readonly deviceUDID?: string;
}

// ---- The two ways out of the pure part ----

export interface SimctlRun {
  /** What follows `xcrun simctl`. */
  readonly args: readonly string[];
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly stdin?: string;
  /** Added to the command's environment, as for `SIMCTL_CHILD_…`. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Told the process group as soon as it runs; never, where the command is no process. */
  readonly onStarted?: (group: number) => void;
}

export interface SimctlResult {
  /** 128+n for an end by signal n. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs one command to its end; any exit code is an answer. Throws TOOL_MISSING where there is no xcrun, TOOL_FAILED at the time limit or for output
 * beyond all bounds, and CANCELLED.
 */
export type RunSimctl = (run: SimctlRun) => Promise<SimctlResult>;

export interface ReadRequest {
  readonly udid: string;
  /** The preference domains to read, beside the global one. */
  readonly domains?: readonly string[];
  /** The bundle identifiers whose privacy is of interest; all when left out. */
  readonly privacyOf?: readonly string[];
  /** Read the pasteboard too. Only on demand: Simulator copies the host's pasteboard there, with whatever its user copied last. */
  readonly pasteboard?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Reads devices; what it answers was read after it was asked. Errors: UNKNOWN_DEVICE, also for a device that disappears meanwhile; TOOL_MISSING,
 * LICENSE_NOT_ACCEPTED and TOOL_FAILED where simctl gives no listing; BAD_REQUEST for a domain that is no name; CANCELLED.
 */
export interface DeviceReader {
  inventory(signal?: AbortSignal): Promise<Inventory>;
  /** A part that can't be read is left out, and its capability says why; it fails only where nothing can be said of the device. */
  snapshot(request: ReadRequest): Promise<Snapshot>;
}
